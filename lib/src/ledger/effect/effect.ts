// A call to the outside that is on record: the intent is committed first, the call is made outside any transaction, the
// answer is written down. What falls between is unknown, and never called again blindly.
import { refuseUnknown, type NamesOf } from "../../core/options.ts";
import { describeFailure } from "../../engine/failure.ts";
import { isReplay } from "../../engine/handler/replay.ts";
import { downstreamSignals } from "../../engine/outside/signals.ts";
import { isUnreached } from "../../engine/unavailable.ts";
import { within } from "../../engine/outside/within.ts";
import { checkKey, canonicalText, requestHash, resultText } from "../canonical.ts";
import { ledgerErrors } from "../contract.ts";
import { ledgerSignals } from "../signals.ts";
import type { CallOptions, EffectAnswer, EffectContext, EffectRow } from "./contract.ts";
import { Refusal } from "./contract.ts";
import type { Provider } from "./provider.ts";
import type { Leave } from "./shared-breaker.ts";
import { askProvider } from "./reconcile.ts";
import type { CallEnd } from "./state.ts";
import { courseOf, holdMs, stateAfter } from "./state.ts";
import type { Intent, Settlement } from "./store.ts";
import { findEffect, insertIntent, repeatIntent, settleEffect } from "./store.ts";

export interface EffectOptions<T> {
  readonly provider: Provider;
  readonly operation: string;
  /** Stable over every retry; given to the provider as well. */
  readonly key: string;
  readonly request: unknown;
  /** Whose work it is, as the application names it: an order, a case. `assertRedrivable` asks by it. */
  readonly subject?: string;
  /** What the provider calls it, out of its answer. */
  readonly reference?: (response: T) => string;
  /** How long the caller itself has left, where it knows. */
  readonly remainingMs?: number;
}

const optionNames: NamesOf<EffectOptions<any>> = {
  provider: true,
  operation: true,
  key: true,
  request: true,
  subject: true,
  reference: true,
  remainingMs: true,
};

type Call<T> = (options: CallOptions) => Promise<T>;

interface Made<T> {
  readonly context: EffectContext;
  readonly options: EffectOptions<T>;
  readonly call: Call<T>;
  readonly intent: Intent;
}

function intentOf<T>(
  { caller }: EffectContext,
  { provider, operation, key, request, subject, remainingMs }: EffectOptions<T>,
): Intent {
  checkKey("operation", operation);
  checkKey("key", key);
  const known = {
    provider: provider.options.name,
    operation,
    key,
    requestHash: requestHash(request),
    request: canonicalText(request),
  };
  return { ...known, subject, caller, holdMs: holdMs(provider.timeoutMs, remainingMs) };
}

const nameOf = ({ provider, operation, key }: Pick<Intent, "provider" | "operation" | "key">): string =>
  `side effect ${provider} ${operation} ${key}`;

const storedAnswer = <T>(row: EffectRow, status: "created" | "duplicate"): EffectAnswer<T> => ({
  status,
  response: JSON.parse(row.response!) as T,
  reference: row.reference ?? undefined,
});

function failureOf(row: EffectRow, cause?: unknown): Error {
  const code =
    row.state === "unknown"
      ? "TUNTAS_EFFECT_UNKNOWN"
      : row.final
        ? "TUNTAS_EFFECT_REFUSED"
        : "TUNTAS_EFFECT_FAILED";
  const details = { id: row.id, failureCode: row.failureCode };
  return ledgerErrors.error(code, `${nameOf(row)}: ${row.failureCode} ${row.failureMessage}`, {
    details,
    ...(cause !== undefined && { cause }),
  });
}

/**
 * Makes the call at most once for a key and answers what the provider said, also to every repeat. Errors (those named
 * retryable may be tried again as they are): TUNTAS_EFFECT_IN_TRANSACTION, TUNTAS_EFFECT_CONFLICT,
 * TUNTAS_EFFECT_IN_PROGRESS, TUNTAS_EFFECT_UNKNOWN, TUNTAS_EFFECT_FAILED, TUNTAS_EFFECT_REFUSED, TUNTAS_EFFECT_THROTTLED,
 * TUNTAS_EFFECT_REPLAY.
 */
export async function effect<T>(
  context: EffectContext,
  options: EffectOptions<T>,
  call: Call<T>,
): Promise<EffectAnswer<T>> {
  refuseUnknown("effect", options, optionNames);
  const intent = intentOf(context, options);
  if (isReplay())
    throw ledgerErrors.error("TUNTAS_EFFECT_REPLAY", `${nameOf(intent)}: refused in a backfill`);
  if (context.transactionOpen) {
    throw ledgerErrors.error(
      "TUNTAS_EFFECT_IN_TRANSACTION",
      `${nameOf(intent)}: expected no open transaction, got one`,
    );
  }
  const made = { context, options, call, intent };
  const known = await findEffect(context.database, intent);
  return known
    ? repeat(made, known)
    : begin(made, (holdMs) => insertIntent(context.database, { ...intent, holdMs }));
}

/** Commits the intent where the provider's guards give leave, then calls. */
async function begin<T>(
  made: Made<T>,
  intend: (holdMs: number) => Promise<EffectRow | undefined>,
): Promise<EffectAnswer<T>> {
  const { context, options, intent } = made;
  const { provider } = options;
  const leave = await provider.breaker.enter(context.database);
  if (!leave) {
    throw ledgerErrors.error(
      "TUNTAS_EFFECT_FAILED",
      `${nameOf(intent)}: the circuit breaker of ${intent.provider} is open; the call was not made`,
    );
  }
  await provider.limit?.throttle(context.database, intent.holdMs);
  const row = await intend(intent.holdMs);
  if (row) return perform(made, row, leave);
  const other = await findEffect(context.database, intent);
  return repeat(made, other!);
}

async function repeat<T>(made: Made<T>, row: EffectRow): Promise<EffectAnswer<T>> {
  const { context, options, intent } = made;
  if (row.requestHash !== intent.requestHash) {
    const message = `${nameOf(intent)}: expected the request with hash ${row.requestHash}, got one with hash ${intent.requestHash}`;
    throw ledgerErrors.error("TUNTAS_EFFECT_CONFLICT", message);
  }
  const course = courseOf(row);
  if (course === "answer") return storedAnswer(row, "duplicate");
  if (course === "refuse") throw failureOf(row);
  if (course === "wait")
    throw ledgerErrors.error("TUNTAS_EFFECT_IN_PROGRESS", `${nameOf(intent)}: another caller is at it`);
  if (course === "call")
    return begin(made, (holdMs) => repeatIntent(context.database, row, { ...intent, holdMs }));
  const settled = await askProvider(context.database, options.provider, row);
  if (settled) return repeat(made, settled);
  throw failureOf(
    row.state === "unknown"
      ? row
      : { ...row, state: "unknown", failureMessage: "the caller fell silent between intent and answer" },
  );
}

async function perform<T>(made: Made<T>, row: EffectRow, leave: Leave): Promise<EffectAnswer<T>> {
  const { context, options, intent } = made;
  const startedAt = performance.now();
  const { settlement, cause } = await attempt(made, leave);
  const { provider, operation } = intent;
  const settled = await settleEffect(context.database, row, settlement);
  const durationMs = performance.now() - startedAt;
  ledgerSignals.publish("effect.called", { provider, operation, state: settlement.state, durationMs });
  // A refusal is an answer: whoever gives one is there.
  const outcome = settlement.state === "succeeded" || settlement.final ? "ok" : "failed";
  downstreamSignals.publish("downstream.called", { downstream: provider, outcome, durationMs });
  if (settlement.state === "unknown")
    ledgerSignals.publish("effect.unknown", { provider, operation, count: 1 });
  // A reconciliation was faster than this late answer: what it wrote stands.
  const standing =
    settled ?? (await findEffect(context.database, { ...intent, provider: options.provider.options.name }))!;
  if (standing.state === "succeeded") return storedAnswer(standing, "created");
  throw failureOf(standing, cause);
}

interface Attempted {
  readonly settlement: Settlement;
  readonly cause?: unknown;
}

async function attempt<T>({ context, options, call, intent }: Made<T>, leave: Leave): Promise<Attempted> {
  const timeout = AbortSignal.timeout(intent.holdMs);
  const signal = context.signal ? AbortSignal.any([timeout, context.signal]) : timeout;
  try {
    const response = await options.provider.breaker.run(context.database, leave, () =>
      within(signal, async () => call({ key: intent.key, signal })),
    );
    return {
      settlement: {
        state: "succeeded",
        response: resultText(response),
        reference: options.reference?.(response),
      },
    };
  } catch (cause) {
    const end: CallEnd = cause instanceof Refusal ? "refused" : isUnreached(cause) ? "unreached" : "unclear";
    return {
      settlement: { state: stateAfter(end), final: end === "refused", failure: describeFailure(cause) },
      cause,
    };
  }
}
