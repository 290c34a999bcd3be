// How many requests a tenant may make of a service, over all its processes: one row a tenant, and one statement for all requests that
// come while another is on its way. Whom the database has refused is refused here until his time comes, so that a flood costs it nothing.
import { inspect } from "node:util";
import { coalescer } from "../../core/coalesce.ts";
import { isSqsName } from "../../core/text.ts";
import type { Log } from "../../engine/log.ts";
import type { Sql } from "../../pg/contract.ts";
import { accessErrors } from "../contract.ts";
import { admitRequests, type Admitted, type RateAsk } from "./store.ts";

export { forgetRates } from "./store.ts";

export interface RequestRate {
  /** Requests of one tenant in a second, on the long run; 0.001 to 100,000. */
  readonly perSecond: number;
  /** At once after a rest; what comes in a second by default, and one at least. */
  readonly burst?: number;
}

export interface RequestRates extends RequestRate {
  /** Tenants with rates of their own. */
  readonly only?: Readonly<Record<string, RequestRate>>;
}

export type RateAnswer =
  | { readonly status: "admitted" }
  /** In how many ms it may ask again. */
  | { readonly status: "refused"; readonly againMs: number };

export interface RateGate {
  /** Whether a tenant may make one more request now. Admits where the database does not answer: that is no fault of the tenant's. */
  admit(tenant: string): Promise<RateAnswer>;
}

export interface RateGateOptions {
  readonly database: Pick<Sql, "run">;
  readonly log: Pick<Log, "warn">;
  /** Rates of two services on one database have nothing to do with each other. */
  readonly service: string;
  readonly rates: RequestRates;
}

const perSecondRange = [0.001, 100_000] as const;
const burstMax = 100_000;
/** Past so many that are refused at a time the database says it of each. */
const refusedMax = 10_000;
/** No request waits longer for the answer, and no other is asked about for so long once one did not come. */
const [answerMs, blindMs] = [1000, 1000];

function checkRate({ perSecond, burst }: RequestRate, at: string): void {
  const [least, most] = perSecondRange;
  const wrong = (text: string) => accessErrors.error("TUNTAS_ACCESS_RATE", text);
  if (!(typeof perSecond === "number" && perSecond >= least && perSecond <= most))
    throw wrong(`expected ${at}.perSecond from ${least} to ${most}, got ${inspect(perSecond)}`);
  if (burst !== undefined && !(Number.isInteger(burst) && burst >= 1 && burst <= burstMax))
    throw wrong(`expected ${at}.burst from 1 to ${burstMax}, whole, got ${inspect(burst)}`);
}

/** Whether a text can name a tenant: as on a queue, whose group it is. */
export const isTenantName = (tenant: unknown): tenant is string =>
  typeof tenant === "string" && isSqsName(tenant);

function checkRates({ only = {}, ...all }: RequestRates): void {
  checkRate(all, "rates");
  for (const [tenant, rate] of Object.entries(only)) {
    if (!isTenantName(tenant))
      throw accessErrors.error(
        "TUNTAS_ACCESS_RATE",
        `expected rates.only to name tenants by 1 to 128 letters, digits and punctuation, got ${JSON.stringify(tenant)}`,
      );
    checkRate(rate, `rates.only.${tenant}`);
  }
}

/** One ask a tenant, for all of its requests. */
function asksOf(tenants: readonly string[], rates: RequestRates): RateAsk[] {
  const counts = new Map<string, number>();
  for (const tenant of tenants) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts].map(([tenant, count]) => {
    const { perSecond, burst } = Object.hasOwn(rates.only ?? {}, tenant) ? rates.only![tenant]! : rates;
    return { tenant, count, perSecond, burst: burst ?? Math.max(1, Math.round(perSecond)) };
  });
}

const admitted: RateAnswer = { status: "admitted" };

/** To each request what came of it: the first of a tenant are admitted. */
function dealOut(tenants: readonly string[], answers: readonly Admitted[]): RateAnswer[] {
  const left = new Map(answers.map((answer) => [answer.tenant, answer.admitted]));
  const againMs = new Map(answers.map((answer) => [answer.tenant, answer.againMs]));
  return tenants.map((tenant) => {
    const places = left.get(tenant)!;
    left.set(tenant, places - 1);
    return places > 0 ? admitted : { status: "refused", againMs: againMs.get(tenant)! };
  });
}

/** Whom the database has refused, and until when. */
function makeRefused() {
  const until = new Map<string, number>();
  return {
    note(tenant: string, againMs: number): void {
      if (until.size >= refusedMax) until.clear();
      until.set(tenant, performance.now() + againMs);
    },
    /** How many ms he is still to wait; 0 for whoever is to be asked about. */
    leftMs(tenant: string): number {
      const at = until.get(tenant);
      if (at === undefined) return 0;
      const leftMs = at - performance.now();
      if (leftMs <= 0) until.delete(tenant);
      return Math.max(0, leftMs);
    },
  };
}

/** Resolves at the latest after so long; what comes of it later is nobody's. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/**
 * Asks the database, which may be down or stand still: after a failure nobody is asked about for a second, so that requests wait
 * for it once at most, statements do not pile up behind one that hangs, and an outage is one line of the log and not one a request.
 */
function makeAsking({ database, log, service, rates }: RateGateOptions) {
  let blindUntil = 0;
  let isTold = false;
  return async function ask(tenants: readonly string[]): Promise<RateAnswer[]> {
    if (performance.now() < blindUntil) return tenants.map(() => admitted);
    try {
      const answers = await within(answerMs, admitRequests(database, service, asksOf(tenants, rates)));
      isTold = false;
      return dealOut(tenants, answers);
    } catch (cause) {
      blindUntil = performance.now() + blindMs;
      const text =
        "could not ask how many requests tenants may make; they are admitted until the database answers";
      if (!isTold) log.warn({ cause, service }, text);
      isTold = true;
      return tenants.map(() => admitted);
    }
  };
}

/** Errors: TUNTAS_ACCESS_RATE where a rate is none. */
export function makeRateGate(options: RateGateOptions): RateGate {
  checkRates(options.rates);
  const refused = makeRefused();
  const asking = coalescer<string, RateAnswer>({
    itemsMax: 1000,
    flushesMax: 2,
    schedule: setImmediate,
    flush: makeAsking(options),
  });
  return {
    async admit(tenant) {
      const leftMs = refused.leftMs(tenant);
      if (leftMs > 0) return { status: "refused", againMs: leftMs };
      const admission = await asking.add(tenant);
      if (admission.status === "refused") refused.note(tenant, admission.againMs);
      return admission;
    },
  };
}
