// What a caller of the side-effect ledger sees.
import type { Duration } from "../../core/duration.ts";
import type { Runner } from "../../pg/join.ts";

export type EffectState = "pending" | "succeeded" | "failed" | "unknown";

export interface EffectRow {
  readonly id: string;
  readonly provider: string;
  readonly operation: string;
  readonly key: string;
  readonly requestHash: string;
  /** JSON text. */
  readonly request: string;
  readonly state: EffectState;
  /** A failed call that the provider refused for good. */
  readonly final: boolean;
  readonly subject: string | null;
  /** The message or the execution that called. */
  readonly caller: string | null;
  readonly calls: number;
  readonly fence: string;
  /** Past its deadline. */
  readonly overdue: boolean;
  readonly calledAgoMs: number;
  readonly reference: string | null;
  readonly response: string | null;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
}

/** What the provider says about a call whose answer was lost. */
export type Finding =
  | { readonly state: "succeeded"; readonly response: unknown; readonly reference?: string }
  /** It never happened: the call may be made again. Believed only once a request still on its way would have arrived. */
  | { readonly state: "absent" }
  /** It happened and was refused. */
  | { readonly state: "refused"; readonly code: string; readonly message: string }
  /** The provider cannot say either: a person decides. */
  | { readonly state: "unknown" };

export interface ProviderOptions {
  readonly name: string;
  /** How long one call may take; after it the call is unknown. */
  readonly timeout: Duration;
  /** Asks the provider what became of a call, by its key or reference. One function an operation. */
  readonly reconcile: Readonly<
    Record<string, ((row: EffectRow, signal: AbortSignal) => Promise<Finding>) | "manual">
  >;
  /** How long after a call its request may still arrive; until then `absent` counts as unknown. Twice the timeout by default. */
  readonly arrivesWithin?: Duration;
  /** The most calls a second of all processes together, with bursts of a second's worth. */
  readonly callsPerSecond?: number;
  /** After so many failures in a row in one process, all processes leave the provider alone for a while; 5 by default. */
  readonly breakerFailures?: number;
}

/** Where a side effect is called from: a worker's context, or `{ database }` anywhere else. */
export interface EffectContext {
  readonly database: Runner;
  /** Whether a transaction of this context is open. */
  readonly transactionOpen?: boolean;
  readonly signal?: AbortSignal;
  /** The id of the message, or the ARN of the execution, whose handler this is: not replayed while the call is unknown. */
  readonly caller?: string;
}

export interface CallOptions {
  /** Give it to the provider as its idempotency key, if it knows such a thing. */
  readonly key: string;
  readonly signal: AbortSignal;
}

export interface EffectAnswer<T> {
  /** `duplicate`: the call was made before, and this is its stored answer. */
  readonly status: "created" | "duplicate";
  readonly response: T;
  readonly reference: string | undefined;
}

/** Thrown by a call: the provider said no for good, and nothing happened. */
export class Refusal extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const refusal = (code: string, message: string): Refusal => new Refusal(code, message);
