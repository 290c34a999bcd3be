// From a received text to what a handler takes: parse, check the version, validate, derive the keys. What cannot become
// that is poison, with the reason; it never reaches the handler.
import { createHash } from "node:crypto";
import { describeIssues, type SchemaResult } from "../../core/schema.ts";
import { isStorable } from "../../core/text.ts";
import type { HeldMessage } from "../contract.ts";
import type { QueueDefinition, WorkerDefinition } from "../declaration.ts";
import { Outcome, outcomeOfThrown } from "../../core/outcome.ts";
import type { CommandKey } from "../store/settle.ts";

export interface Taken {
  readonly held: HeldMessage;
  readonly slot: number;
  readonly correlationId: string | undefined;
  readonly schemaVersion: string | null;
  /** What the handler gets, or why there is nothing for it. */
  readonly input: { readonly value: unknown } | { readonly outcome: Outcome };
  readonly command: CommandKey | undefined;
  readonly lockKey: string | undefined;
}

// Longer than any message lives (14 days, and 14 more as a dead letter), so that a replay still finds its key.
const commandRetentionSeconds = 30 * 86_400;

const bad = (code: string, message: string): { outcome: Outcome } => ({
  outcome: new Outcome("poison", code, message),
});

/** The body as JSON. `__proto__` stays an ordinary key, as JSON.parse makes it. */
function parse(body: string): { value: unknown } | { outcome: Outcome } {
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

const judged = (result: SchemaResult<unknown>): { value: unknown } | { outcome: Outcome } =>
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

function keysOf(
  { queue, options }: WorkerDefinition,
  value: unknown,
  body: string,
): Pick<Taken, "command" | "lockKey"> | { outcome: Outcome } {
  const lockKey = options.lock?.(value);
  if (options.lock && !isKey(lockKey)) return badKey("lock", lockKey);
  if (options.idempotencyKey === "none") return { command: undefined, lockKey };
  const key = options.idempotencyKey(value);
  if (!isKey(key)) return badKey("idempotencyKey", key);
  const requestHash = createHash("sha256").update(body).digest("base64url");
  return {
    command: { scope: `queue:${queue.name}`, key, requestHash, retentionSeconds: commandRetentionSeconds },
    lockKey,
  };
}

const badKey = (name: string, key: unknown) =>
  bad(
    "TUNTAS_KEY_MISSING",
    `${name} gave no key for the message: expected 1 to ${keyBytesMax} bytes of text, got ${describeKey(key)}`,
  );

function finish(
  worker: WorkerDefinition,
  held: HeldMessage,
  slot: number,
  parsed: { value: unknown } | { outcome: Outcome },
  schemaVersion: string | null,
): Taken {
  const base = { held, slot, correlationId: correlationOf(held.attributes), schemaVersion };
  if ("outcome" in parsed) return { ...base, input: parsed, command: undefined, lockKey: undefined };
  const keys = keysOf(worker, parsed.value, held.body);
  if ("outcome" in keys) return { ...base, input: keys, command: undefined, lockKey: undefined };
  return { ...base, input: parsed, ...keys };
}

const threw = (cause: unknown): { outcome: Outcome } =>
  bad("TUNTAS_MESSAGE_INVALID", `the schema or a key function threw: ${outcomeOfThrown(cause).message}`);

type Finish = (parsed: { value: unknown } | { outcome: Outcome }, version: string | null) => Taken;

/** Makes of a held message what the worker goes on with; answers at once unless the schema is asynchronous. */
export function takeIn(worker: WorkerDefinition, held: HeldMessage, slot: number): Taken | Promise<Taken> {
  const finishWith: Finish = (parsed, version) => {
    try {
      return finish(worker, held, slot, parsed, version);
    } catch (cause) {
      return finish(worker, held, slot, threw(cause), version);
    }
  };
  const parsed = parse(held.body);
  if ("outcome" in parsed) return finishWith(parsed, null);
  return validate(worker.queue, parsed.value, finishWith);
}

function validate(queue: QueueDefinition, value: unknown, finishWith: Finish): Taken | Promise<Taken> {
  const version = versionOf(value);
  const refused = checkVersion(queue, version);
  if (refused) return finishWith(refused, version);
  try {
    const result = queue.options.message["~standard"].validate(value);
    if (!(result instanceof Promise)) return finishWith(judged(result), version);
    return result.then(judged, threw).then((judgement) => finishWith(judgement, version));
  } catch (cause) {
    return finishWith(threw(cause), version);
  }
}
