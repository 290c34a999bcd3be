// What becomes of a decision of the scaling rule: it is written down with what was seen, its change is an event of the log,
// and who is given up for it is chosen among those that hold no message.
import { hostname } from "node:os";
import type { Instance, ScalingDecision, ScalingReason } from "../contract.ts";
import type { LiveInstance } from "../state.ts";
import * as store from "../store/control.ts";
import { dutyOf } from "../store/services.ts";
import type { ControllerOptions, Write } from "./context.ts";
import type { ProcessFacts } from "./processes.ts";

export interface Scalings {
  note(of: store.Controlled, decision: ScalingDecision): Promise<void>;
  /** Marks those that hold a message, where some are too many. */
  protect(
    of: store.Controlled,
    live: readonly Instance[],
    membersOf: (id: string) => readonly ProcessFacts[],
  ): Promise<readonly LiveInstance[]>;
}

/** More are wanted, and this is against it. */
const obstacles: ReadonlySet<ScalingReason> = new Set([
  "downstream_cap",
  "bounds",
  "downstream_open",
  "downstream_slow",
  "throttled",
  "failing",
  "pending",
  "stuck",
  "paused",
]);

export function makeScalings({ database, host, processId }: ControllerOptions, write: Write): Scalings {
  const holder = () => ({ duty: dutyOf(host), processId: processId() });

  async function carryOut({ name: service }: store.Controlled, decision: ScalingDecision): Promise<void> {
    const { from, to, reason, cap, running, figures } = decision;
    const detail = { from, to, by: "the rule", reason, cap, running, ...figures };
    await write(async (tx, tell) => {
      if (to !== from && !(await store.scaleService(tx, service, from, to))) return;
      await store.noteDecision(tx, holder(), service, JSON.stringify(decision));
      tell({ service, event: to === from ? "held" : "scaled", detail });
    });
  }

  return {
    async note(of, decision) {
      const { action, reason } = decision;
      const before = of.decision === null ? undefined : (JSON.parse(of.decision) as ScalingDecision);
      const isHeld = obstacles.has(reason) && (before?.action !== "hold" || before.reason !== reason);
      if (action !== "hold" || isHeld) return carryOut(of, decision);
      const text = JSON.stringify(decision);
      if (text !== of.decision) await store.noteDecision(database, holder(), of.name, text);
    },

    async protect({ active, desired }, live, membersOf) {
      if (!active || live.filter(({ state }) => state !== "stopping").length <= desired) return live;
      const pids = live.flatMap(({ id }) => membersOf(id).map(({ pid }) => pid));
      const working = new Set(await store.listWorking(database, hostname(), pids));
      return live.map((instance) => ({
        ...instance,
        working: membersOf(instance.id).some(({ pid }) => working.has(pid)),
      }));
    },
  };
}
