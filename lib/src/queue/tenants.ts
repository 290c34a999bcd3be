// Whose message it is, and what one tenant may take of a pool that it shares. Pure: a tenant is the group of its messages, and its
// limits are what the worker declares. docs/decisions/0052-tenants.md.
import { inspect } from "node:util";
import type { Duration } from "../core/duration.ts";
import { toMs } from "../core/duration.ts";
import { isSqsName } from "../core/text.ts";
import type { Outcome } from "../core/outcome.ts";

export interface TenantLimit {
  /** Messages of one tenant that are held at once, in all processes together. */
  readonly concurrency?: number;
  /** Messages of one tenant that are given out in a second, in all processes together; a tenth of them at once. */
  readonly perSecond?: number;
}

export interface TenantBreaker {
  /** So many failures of a tenant in a row (tried again, or of unknown effect), and it stands still. */
  readonly failures: number;
  /** For how long; then it has one message at a time until one succeeds. */
  readonly standstill: Duration;
}

/** What a tenant may take. What is left out has no limit. */
export interface TenantOptions extends TenantLimit {
  /** A circuit breaker for each tenant. */
  readonly breaker?: TenantBreaker;
  /** Tenants with limits of their own: what is said here stands instead of what all others have. */
  readonly only?: Readonly<Record<string, TenantLimit>>;
}

/** Whether a text can name a tenant: its messages are a group, and have to be one on SQS too. */
export const isTenant = (tenant: unknown): tenant is string =>
  typeof tenant === "string" && isSqsName(tenant);

const isIn = (value: unknown, [least, most]: readonly [number, number]): boolean =>
  typeof value === "number" && value >= least && value <= most;

const concurrencyRange = [1, 1000] as const;
const perSecondRange = [0.001, 10_000] as const;

function* faultsOf({ concurrency, perSecond }: TenantLimit, at: string): Generator<string> {
  if (concurrency !== undefined && !(Number.isInteger(concurrency) && isIn(concurrency, concurrencyRange)))
    yield `expected ${at}concurrency from 1 to 1000, got ${inspect(concurrency)}`;
  if (perSecond !== undefined && !isIn(perSecond, perSecondRange))
    yield `expected ${at}perSecond from 0.001 to 10000, got ${inspect(perSecond)}`;
}

function* faultsOfBreaker({ failures, standstill }: TenantBreaker): Generator<string> {
  if (!Number.isInteger(failures) || !isIn(failures, concurrencyRange))
    yield `expected tenants.breaker.failures from 1 to 1000, got ${inspect(failures)}`;
  toMs(standstill, "tenants.breaker.standstill");
}

/** What is wrong with a declaration. Errors: TUNTAS_DURATION. */
export function* tenantFaults(options: TenantOptions): Generator<string> {
  yield* faultsOf(options, "tenants.");
  if (options.breaker) yield* faultsOfBreaker(options.breaker);
  for (const [tenant, limit] of Object.entries(options.only ?? {})) {
    if (!isTenant(tenant))
      yield `expected tenants.only to name tenants by 1 to 128 letters, digits and punctuation, got ${JSON.stringify(tenant)}`;
    yield* faultsOf(limit, `tenants.only.${tenant}.`);
  }
}

/** What one tenant may take. */
export const limitOf = (options: TenantOptions, tenant: string): TenantLimit => {
  const { concurrency, perSecond, only = {} } = options;
  const own = Object.hasOwn(only, tenant) ? only[tenant]! : {};
  return { ...(concurrency && { concurrency }), ...(perSecond && { perSecond }), ...own };
};

/** How a tenant is doing: `stands_still` until its breaker lets it go on, `on_trial` with one message at a time until one succeeds. */
export type TenantState = "runs" | "stands_still" | "on_trial";

/** What a queue's worker says of a tenant, beside what is held of it. */
export interface TenantTerms {
  /** Its cap; null where it has none. */
  readonly concurrency: number | null;
  readonly perSecond: number | null;
  readonly state: TenantState;
}

interface Doing {
  readonly tenant: string;
  readonly failures: number;
  readonly standsUntilMs: number | null;
}

/** The terms of a tenant under what a worker declares; undefined where none limits tenants. */
export function termsOf(options: TenantOptions | undefined, doing: Doing): TenantTerms {
  const { concurrency = null, perSecond = null } = options ? limitOf(options, doing.tenant) : {};
  const failuresMax = options?.breaker?.failures ?? Infinity;
  const isFailing = doing.failures >= failuresMax;
  const state = doing.standsUntilMs !== null ? "stands_still" : isFailing ? "on_trial" : "runs";
  return { concurrency, perSecond, state };
}

/** The limits as a claim takes them: the first for all tenants that are not named. */
export interface LimitColumns {
  readonly names: readonly (string | null)[];
  readonly caps: readonly (number | null)[];
  readonly rates: readonly (number | null)[];
}

export function limitColumns(options: TenantOptions): LimitColumns {
  const named = Object.keys(options.only ?? {});
  const limits = [options, ...named.map((tenant) => limitOf(options, tenant))];
  return {
    names: [null, ...named],
    caps: limits.map(({ concurrency }) => concurrency ?? null),
    rates: limits.map(({ perSecond }) => perSecond ?? null),
  };
}

/**
 * What an outcome says of what a tenant's messages depend on: that it fails, that it works, or nothing (a message that can never
 * succeed, or one that met another, is no sign of either).
 */
export function healthOf({ kind }: Outcome): "fails" | "works" | undefined {
  if (kind === "retry" || kind === "unknown") return "fails";
  return kind === "done" || kind === "rejected" ? "works" : undefined;
}
