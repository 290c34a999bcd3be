// Going on with what processes that died were about, and with what a lost answer left begun by nobody.
import type { Command, StartTask } from "../../asl/contract.ts";
import { makeTwice } from "../../engine/aftermath.ts";
import { makeDueClock } from "../../engine/due.ts";
import type { Waker } from "../../engine/wake.ts";
import type { Database } from "../../pg/database.ts";
import { workflowSignals } from "../signals.ts";
import * as store from "../store/calls.ts";
import type { Calls } from "./calls.ts";
import type { Engine, Held } from "./engine/index.ts";
import type { OwnRuns } from "./own/index.ts";

export interface TakeoverParts {
  readonly database: Database;
  readonly waker: Waker;
  readonly engine: Engine;
  readonly calls: Calls;
  readonly own: OwnRuns;
  readonly processId: () => string;
  readonly carryOut: (held: Held, command: Command) => void;
  readonly withTokens: (command: Command) => Command;
  readonly lookAtDue: () => Promise<void>;
  readonly activityKey: (arn: string) => string;
  readonly onError: (cause: unknown) => void;
}

export interface Takeover {
  takeOver(processIds: readonly string[]): Promise<void>;
  sweepOrphans(): Promise<void>;
  close(): Promise<void>;
}

/** Woken where a transaction that began executions has committed. */
export const begunKey = "workflow begun";

const isOwnKey = (key: string): boolean => key.startsWith("own:");

type Running = Pick<store.Call, "executionId" | "key">;
const nameOf = ({ executionId, key }: Running) => `${executionId}/${key}`;

export function makeTakeover(parts: TakeoverParts): Takeover {
  const { database, engine, calls, own, processId } = parts;

  async function resume(call: store.Call): Promise<void> {
    if (isOwnKey(call.key)) return own.resume(call);
    const held = await engine.load(call.executionId);
    if (held) parts.carryOut(held, parts.withTokens(JSON.parse(call.command) as Command));
  }

  async function adopt(processIds: readonly string[]): Promise<number> {
    const adopted = await store.adoptCalls(database, processIds, processId());
    for (const call of adopted) {
      if (call.pool !== null) continue;
      if (call.activity === null) await resume(call);
      else parts.waker.wake(parts.activityKey(call.activity));
    }
    for (const pool of new Set(adopted.map((call) => call.pool))) if (pool !== null) own.offer(pool);
    return adopted.length;
  }

  async function takeOver(processIds: readonly string[]): Promise<void> {
    await store.returnDue(database, processIds);
    void parts.lookAtDue();
    for (let count; (count = await adopt(processIds)) > 0;)
      workflowSignals.publish("workflow.taken_over", { count });
  }

  const begun = makeDueClock({
    async move() {
      while ((await adopt([store.nobody])) > 0);
      return null;
    },
    onError: parts.onError,
  });
  const unsubscribe = parts.waker.subscribe(begunKey, () => void begun.sweep());

  const missedTwice = makeTwice<store.OwnedCall>(nameOf);
  const strayedTwice = makeTwice<Running>(nameOf);

  const isBegun = ({ executionId, key }: store.Call): boolean =>
    isOwnKey(key) ? own.holds(executionId, key) : calls.has(executionId, key);

  /** To hand out an activity's task takes a moment; one that is slower finds that another worker has it. */
  async function offerAgain(call: store.Call, activity: string): Promise<void> {
    await store.releaseCall(database, call, processId());
    parts.waker.wake(parts.activityKey(activity));
  }

  /**
   * A commit whose answer was lost left calls that nobody began: what is missing twice in a row is begun, or offered to
   * workers again. What runs here without a row, twice in a row, was ended by another process.
   */
  async function compareOwned(): Promise<void> {
    const owned = await store.listOwnCalls(database, processId());
    const known = new Set(owned.map(nameOf));
    for (const call of missedTwice(owned.filter((each) => !isBegun(each)))) {
      if (call.activity === null) await resume(call);
      else await offerAgain(call, call.activity);
    }
    const strays = own.running().filter((each) => !known.has(nameOf(each)));
    for (const { executionId, key } of strayedTwice(strays)) own.cancel(executionId, key);
  }

  return {
    takeOver,
    async close() {
      unsubscribe();
      await begun.close();
    },
    async sweepOrphans() {
      await compareOwned();
      const orphans = await store.findCallOrphans(database);
      if (orphans.length > 0) await takeOver(orphans);
    },
  };
}

/** The tokens of a stored command, which holds only what stands for them. */
export const tokensIn =
  (tokenOf: (reference: string) => string) =>
  (command: Command): Command => {
    if (command.type !== "startTask" || command.pattern !== "waitForTaskToken") return command;
    const text = JSON.stringify(command.input).replaceAll(command.token, tokenOf(command.token));
    return { ...command, input: JSON.parse(text) as StartTask["input"] };
  };
