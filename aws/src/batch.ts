// Requests of up to ten entries: what many ask for at once goes out together, and each is told about its own. An entry
// that failed for the service's sake is asked again, alone or with others, each time after a longer while.
import type { BatchResultErrorEntry } from "@aws-sdk/client-sqs";
import { queueErrors } from "tuntas/queue";
import { backoffMs, coalescer, type Coalescer } from "tuntas/queue/remote";
import { coded } from "./client.ts";
import { batchMax } from "./limits.ts";

/** What a request answered, by the ids of its entries. */
interface Answer<Done> {
  readonly Successful?: readonly (Done & { readonly Id?: string | undefined })[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

export interface BatchOptions<Entry, Done> {
  /** What it does, for errors: "delete messages". */
  readonly what: string;
  readonly request: (entries: readonly (Entry & { readonly Id: string })[]) => Promise<Answer<Done>>;
  /** How many requests may be under way at a time. */
  readonly requestsMax: number;
  /** Bytes of an entry, where the request has a limit of them. */
  readonly cost?: { readonly of: (entry: Entry) => number; readonly max: number };
}

const triesMax = 6;
const again = { baseMs: 200, maxMs: 10_000 };

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const refused = (what: string, { Code, Message, SenderFault }: BatchResultErrorEntry): Error =>
  queueErrors.error(
    SenderFault === true ? "TUNTAS_QUEUE_REFUSED" : "TUNTAS_QUEUE_UNREACHABLE",
    `Amazon SQS: could not ${what}: ${Code}${Message === undefined ? "" : `: ${Message}`}`,
    { details: { code: Code } },
  );

const unanswered = (what: string): Error =>
  queueErrors.error("TUNTAS_QUEUE_UNREACHABLE", `Amazon SQS: could not ${what}: the answer left it out`);

type Result<Done> = Done | Error;

/** What each entry came to, in their order. */
export function resultsOf<Done>(
  what: string,
  count: number,
  { Successful = [], Failed = [] }: Answer<Done>,
): Result<Done>[] {
  const done = new Map(Successful.map((entry) => [entry.Id, entry]));
  const failed = new Map(Failed.map((entry) => [entry.Id, entry]));
  return Array.from({ length: count }, (_, index) => {
    const failure = failed.get(String(index));
    return done.get(String(index)) ?? (failure ? refused(what, failure) : unanswered(what));
  });
}

const mayPass = (result: unknown): boolean =>
  result instanceof Error && (result as { retryable?: boolean }).retryable === true;

export function makeBatch<Entry extends object, Done extends object>(
  options: BatchOptions<Entry, Done>,
): Coalescer<Entry, Done> {
  const { what, request, requestsMax, cost } = options;

  /** One request; where all of it failed the SDK has tried it again already. */
  async function ask(entries: readonly Entry[]): Promise<Result<Done>[]> {
    const numbered = entries.map((entry, index) => ({ ...entry, Id: String(index) }));
    const answer = await request(numbered).catch((cause: unknown) => {
      throw coded(cause, what);
    });
    return resultsOf(what, entries.length, answer);
  }

  async function flush(entries: readonly Entry[]): Promise<Result<Done>[]> {
    const results = await ask(entries);
    for (let tries = 1; tries < triesMax && results.some(mayPass); tries++) {
      const left = results.flatMap((result, index) => (mayPass(result) ? [index] : []));
      await sleep(backoffMs(again, tries, Math.random()));
      const next = await ask(left.map((index) => entries[index]!));
      left.forEach((index, place) => (results[index] = next[place]!));
    }
    return results;
  }

  return coalescer<Entry, Done>({
    itemsMax: batchMax,
    flushesMax: requestsMax,
    flush,
    schedule: setImmediate,
    ...(cost && { cost: cost.of, costMax: cost.max }),
  });
}
