// From a received text to what a handler takes: parse, check the version, validate, derive the keys. What cannot become
// that is poison, with the reason; it never reaches the handler.
import { hash } from "node:crypto";
import { describeIssues, type SchemaResult } from "../../core/schema.ts";
import { isStorable } from "../../core/text.ts";
import type { HeldMessage } from "../contract.ts";
import type { QueueDefinition, WorkerDefinition } from "../declaration.ts";
import { Outcome, outcomeOfThrown } from "../../core/outcome.ts";
import type { CommandKey } from "../store/command.ts";
import { isTenant } from "../tenants.ts";

export interface Taken {
  readonly held: HeldMessage;
  readonly slot: number;
  readonly correlationId: string | undefined;
  readonly schemaVersion: string | null;
  /** What the handler gets, or why there is nothing for it. */
  readonly input: { readonly value: unknown } | { readonly outcome: Outcome };
  readonly command: CommandKey | undefined;
  readonly lockKey: string | undefined;
  /** Whose it is, as its body says, where its queue asks that. A group is what a sender over the wire or in SQL says. */
  readonly tenant: string | undefined;
  /** Whether tenants are limited and it is not in the group of its own. */
  readonly misplaced: boolean;
}

// Longer than any message lives (14 days, and 14 more as a dead letter), so that a replay still finds its key.
const commandRetentionSeconds = 30 * 86_400;

type Keys = Pick<Taken, "command" | "lockKey" | "tenant" | "misplaced">;
type Parsed = { readonly value: unknown } | { readonly outcome: Outcome };

const bad = (code: string, message: string): { outcome: Outcome } => ({
  outcome: new Outcome("poison", code, message),
});

/** The body as JSON. `__proto__` stays an ordinary key, as JSON.parse makes it. */
function parse(body: string): Parsed {
  try {
    return { value: JSON.parse(body) };
  } catch (cause) {
    return bad("TUNTAS_MESSAGE_JSON", `the body is not JSON: ${(cause as Error).message}`);
  }
}

function versionOf(value: unknown): string | null {
  const version =
    typeof value === "object" && value !== null && Object.hasOwn(value, "version")
      ? (value as { version: unknown }).version
      : undefined;
  return typeof version === "string" || typeof version === "number" ? String(version) : null;
}

function checkVersion(
  { options }: QueueDefinition,
  version: string | null,
): { outcome: Outcome } | undefined {
  if (!options.versions || options.versions.map(String).includes(String(version))) return undefined;
  return bad(
    "TUNTAS_VERSION_UNSUPPORTED",
    `unsupported version ${version ?? "(none)"}; this worker takes ${options.versions.join(", ")}`,
  );
}

const judged = (result: SchemaResult<unknown>): Parsed =>
  result.issues ? bad("TUNTAS_MESSAGE_INVALID", describeIssues(result.issues)) : { value: result.value };

/** SQS's correlationId attribute, as the sender gave it; whoever writes in SQL may have given anything. */
function correlationOf(attributes: string | null): string | undefined {
  if (attributes === null || !attributes.includes("correlationId")) return undefined;
  try {
    const value: unknown = JSON.parse(attributes)?.correlationId?.StringValue;
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

// A btree entry holds 2,700 bytes; a key that is refused there would fail all that share its statement.
const keyBytesMax = 1024;

const isKey = (key: unknown): key is string =>
  typeof key === "string" && key !== "" && isStorable(key) && Buffer.byteLength(key) <= keyBytesMax;

const describeKey = (key: unknown): string =>
  typeof key === "string" ? JSON.stringify(key).slice(0, 60) : typeof key;

const commandOf = ({ name }: QueueDefinition, key: string, body: string): CommandKey => ({
  scope: `queue:${name}`,
  key,
  requestHash: hash("sha256", body, "base64url"),
  retentionSeconds: commandRetentionSeconds,
});

function keysOf(
  { queue, options }: WorkerDefinition,
  value: unknown,
  { body, groupId }: HeldMessage,
): Keys | { outcome: Outcome } {
  const { idempotencyKey } = options;
  const tenant = queue.options.tenant?.(value);
  if (queue.options.tenant && !isTenant(tenant)) return badKey("tenant", tenant);
  const key = idempotencyKey === "none" ? undefined : idempotencyKey(value);
  if (idempotencyKey !== "none" && !isKey(key)) return badKey("idempotencyKey", key);
  const lockKey = options.lock?.(value);
  if (options.lock && !isKey(lockKey)) return badKey("lock", lockKey);
  const misplaced = options.tenants !== undefined && tenant !== groupId;
  return { command: key === undefined ? undefined : commandOf(queue, key, body), lockKey, tenant, misplaced };
}

const badKey = (name: string, key: unknown) =>
  bad(
    "TUNTAS_KEY_MISSING",
    `${name} gave no key for the message: expected 1 to ${keyBytesMax} bytes of text, got ${describeKey(key)}`,
  );

const threw = (cause: unknown): { outcome: Outcome } =>
  bad("TUNTAS_MESSAGE_INVALID", `the schema or a key function threw: ${outcomeOfThrown(cause).message}`);

/** Of what no handler will see: in whose group it lay is all that there is to tell. */
const noKeysOf = ({ queue }: WorkerDefinition, { groupId }: HeldMessage): Keys => ({
  command: undefined,
  lockKey: undefined,
  tenant: queue.options.tenant ? (groupId ?? undefined) : undefined,
  misplaced: false,
});

function keysOrThrew(
  worker: WorkerDefinition,
  value: unknown,
  held: HeldMessage,
): Keys | { outcome: Outcome } {
  try {
    return keysOf(worker, value, held);
  } catch (cause) {
    return threw(cause);
  }
}

/** A message on its way through the worker's checks. */
interface Passing {
  readonly worker: WorkerDefinition;
  readonly held: HeldMessage;
  readonly slot: number;
}

function finish({ worker, held, slot }: Passing, parsed: Parsed, schemaVersion: string | null): Taken {
  const keys = "outcome" in parsed ? parsed : keysOrThrew(worker, parsed.value, held);
  const [input, { command, lockKey, tenant, misplaced }] =
    "outcome" in keys ? [keys, noKeysOf(worker, held)] : [parsed, keys];
  const correlationId = correlationOf(held.attributes);
  return { held, slot, correlationId, schemaVersion, input, command, lockKey, tenant, misplaced };
}

/** Makes of a held message what the worker goes on with; answers at once unless the schema is asynchronous. */
export function takeIn(worker: WorkerDefinition, held: HeldMessage, slot: number): Taken | Promise<Taken> {
  const passing = { worker, held, slot };
  const parsed = parse(held.body);
  if ("outcome" in parsed) return finish(passing, parsed, null);
  const version = versionOf(parsed.value);
  const judgement = checkVersion(worker.queue, version) ?? validate(worker.queue, parsed.value);
  if (!(judgement instanceof Promise)) return finish(passing, judgement, version);
  return judgement.then((judged) => finish(passing, judged, version));
}

function validate(queue: QueueDefinition, value: unknown): Parsed | Promise<Parsed> {
  try {
    const result = queue.options.message["~standard"].validate(value);
    return result instanceof Promise ? result.then(judged).catch(threw) : judged(result);
  } catch (cause) {
    return threw(cause);
  }
}
