// Reconciliations that run by the clock: an application registers those that it declares, and whichever process finds
// one due first runs it for all of them. When each is next stands in its row; in between nobody asks the database.
import { toMs } from "../../core/duration.ts";
import { describeFailure } from "../../engine/failure.ts";
import type { Sql } from "../../pg/contract.ts";
import { checkKey } from "../canonical.ts";
import type { Reconciliation } from "./contract.ts";
import { reconcile } from "./run.ts";
import { claimDue, noteRun, upsertRegistered } from "./store.ts";

export interface Registry {
  /** Has them run from now on, each on its period. Answers what ends it. */
  register(declared: readonly Reconciliation[]): Promise<() => void>;
  /** Begins what is due; resolves once it has looked. */
  look(): Promise<void>;
  /** In how many ms it should look again; infinite where none is declared. */
  nextLookMs(): number;
  /** Resolves once nothing runs. */
  idle(): Promise<void>;
}

interface Entry {
  readonly declared: Reconciliation;
  /** By this process's own clock: no need to ask before. */
  lookAtMs: number;
}

// Another process claimed it a moment ago, or this one a moment before the instant.
const lookAgainMs = 1000;

export function makeRegistry(sql: Sql, onError: (cause: unknown) => void): Registry {
  const entries = new Map<string, Entry>();
  const running = new Map<string, Promise<void>>();

  async function run(entry: Entry): Promise<void> {
    const { options } = entry.declared;
    const failure = await reconcile(sql, entry.declared).then(() => undefined, describeFailure);
    if (failure)
      onError(Object.assign(new Error(`reconciliation ${options.name}: ${failure.message}`), failure));
    await noteRun(sql, options.name, failure);
    if (options.every !== "on demand") entry.lookAtMs = performance.now() + toMs(options.every);
  }

  function begin(name: string): void {
    const entry = entries.get(name);
    if (!entry || running.has(name)) return;
    const ended = run(entry)
      .catch(onError)
      .finally(() => running.delete(name));
    running.set(name, ended);
  }

  async function look(): Promise<void> {
    const nowMs = performance.now();
    const names = [...entries].filter(([, { lookAtMs }]) => lookAtMs <= nowMs).map(([name]) => name);
    if (names.length === 0) return;
    for (const { name, claimed, nextMs } of await claimDue(sql, names)) {
      entries.get(name)!.lookAtMs = performance.now() + Math.max(lookAgainMs, nextMs);
      if (claimed) begin(name);
    }
  }

  return {
    async register(declared) {
      for (const { options } of declared) {
        checkKey("name", options.name);
        checkKey("owner", options.owner);
        if (options.every !== "on demand") toMs(options.every);
      }
      if (declared.length > 0)
        await upsertRegistered(
          sql,
          declared.map((each) => each.options),
        );
      for (const each of declared) {
        const lookAtMs = each.options.every === "on demand" ? Infinity : performance.now();
        entries.set(each.options.name, { declared: each, lookAtMs });
      }
      return () => {
        for (const { options } of declared) entries.delete(options.name);
      };
    },
    look,
    nextLookMs: () =>
      Math.min(...[...entries.values()].map(({ lookAtMs }) => lookAtMs - performance.now()), Infinity),
    async idle() {
      await Promise.all(running.values());
    },
  };
}
