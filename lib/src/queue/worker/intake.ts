// From a received text to what a handler takes: parse, check the version, validate, derive the keys. What cannot become
// that is poison, with the reason; it never reaches the handler.
import { createHash } from "node:crypto";
import { describeIssues, type SchemaResult } from "../../core/schema.ts";
import type { HeldMessage } from "../contract.ts";
import type { QueueDefinition, WorkerDefinition } from "../declaration.ts";
import { Outcome } from "../outcome.ts";
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

const bad = (code: string, message: string): { outcome: Outcome } => ({ outcome: new Outcome("poison", code, message) });

/** The body as JSON. `__proto__` stays an ordinary key, as JSON.parse makes it. */
function parse(body: string): { value: unknown } | { outcome: Outcome } {
  try {
    return { value: JSON.parse(body) };
  } catch (cause) {
    return bad("TUNTAS_MESSAGE_JSON", `the body is not JSON: ${(cause as Error).message}`);
  }
}

function versionOf(value: unknown): string | null {
  const version = typeof value === "object" && value !== null && Object.hasOwn(value, "version") ? (value as { version: unknown }).version : undefined;
  return typeof version === "string" || typeof version === "number" ? String(version) : null;
}

function checkVersion({ options }: QueueDefinition, version: string | null): { outcome: Outcome } | undefined {
  if (!options.versions || options.versions.map(String).includes(String(version))) return undefined;
  return bad("TUNTAS_VERSION_UNSUPPORTED", `unsupported version ${version ?? "(none)"}; this worker takes ${options.versions.join(", ")}`);
}

const judged = (result: SchemaResult<unknown>): { value: unknown } | { outcome: Outcome } =>
  result.issues ? bad("TUNTAS_MESSAGE_INVALID", describeIssues(result.issues)) : { value: result.value };

/** SQS's correlationId attribute, as the sender gave it. */
function correlationOf(attributes: string | null): string | undefined {
  if (attributes === null || !attributes.includes("correlationId")) return undefined;
  return (JSON.parse(attributes) as Record<string, { StringValue?: string }>).correlationId?.StringValue;
}

function keysOf({ queue, options }: WorkerDefinition, value: unknown, body: string): Pick<Taken, "command" | "lockKey"> | { outcome: Outcome } {
  const lockKey = options.lock?.(value);
  if (options.idempotencyKey === "none") return { command: undefined, lockKey };
  const key = options.idempotencyKey(value);
  if (typeof key !== "string" || key === "") return bad("TUNTAS_KEY_MISSING", "idempotencyKey gave no key for the message");
  const requestHash = createHash("sha256").update(body).digest("base64url");
  return { command: { scope: `queue:${queue.name}`, key, requestHash, retentionSeconds: commandRetentionSeconds }, lockKey };
}

function finish(worker: WorkerDefinition, held: HeldMessage, slot: number, parsed: { value: unknown } | { outcome: Outcome }, schemaVersion: string | null): Taken {
  const base = { held, slot, correlationId: correlationOf(held.attributes), schemaVersion };
  if ("outcome" in parsed) return { ...base, input: parsed, command: undefined, lockKey: undefined };
  const keys = keysOf(worker, parsed.value, held.body);
  if ("outcome" in keys) return { ...base, input: keys, command: undefined, lockKey: undefined };
  return { ...base, input: parsed, ...keys };
}

/** Makes of a held message what the worker goes on with; answers at once unless the schema is asynchronous. */
export function takeIn(worker: WorkerDefinition, held: HeldMessage, slot: number): Taken | Promise<Taken> {
  try {
    const parsed = parse(held.body);
    if ("outcome" in parsed) return finish(worker, held, slot, parsed, null);
    const version = versionOf(parsed.value);
    const refused = checkVersion(worker.queue, version);
    if (refused) return finish(worker, held, slot, refused, version);
    const result = worker.queue.options.message["~standard"].validate(parsed.value);
    if (result instanceof Promise) return result.then((settled) => finish(worker, held, slot, judged(settled), version));
    return finish(worker, held, slot, judged(result), version);
  } catch (cause) {
    return finish(worker, held, slot, bad("TUNTAS_MESSAGE_INVALID", `the schema or a key function threw: ${String((cause as Error)?.message)}`), null);
  }
}
