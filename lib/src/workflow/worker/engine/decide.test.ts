// What several events that share an advance come to.
import { expect, test } from "vitest";
import { compileMachine, limits, next } from "../../../asl/index.ts";
import type { Decision, Event } from "../../../asl/contract.ts";
import { makeDecisions, type Told } from "./decide.ts";
import type { Held } from "./held.ts";

const machine = compileMachine({ StartAt: "W", States: { W: { Type: "Wait", Seconds: 60, End: true } } });
const execution = { id: "e", name: "e", roleArn: null, startTime: "", machineId: "m", machineName: "m" };
const started: Event = { type: "started", execution, input: {}, nowMs: 0, seed: "s" };
const waiting = (next(machine, undefined, started) as Decision).state;

const decisions = makeDecisions({
  clock: { nowMs: () => 0 } as never,
  definitions: {} as never,
  processId: () => "1",
  own: { takes: () => false, free: () => undefined, holds: () => false, offer: () => undefined },
  tokenOf: (reference) => reference,
});

function decided(lastEventId: number, ...told: readonly Told["happening"][]) {
  const held = { id: "1", seq: 1, revision: "1", processor: null, history: true, machine, isOwn: undefined };
  const before: Held = { ...held, state: { ...waiting, lastEventId } };
  const { plan, events, results, state } = decisions.upon(
    before,
    told.map((happening) => ({ happening })),
  ) as Awaited<ReturnType<typeof decisions.upon>>;
  return {
    ending: plan.ending,
    redriven: plan.redriven,
    types: events.map(({ type }) => type),
    results,
    state,
  };
}

const stop = { type: "stopped", error: "Enough" } as const;
const redrive = { type: "redriven" } as const;

test("a redrive that is refused in the advance that ends the execution leaves its end as it is", () => {
  const alone = decided(limits.historyEvents - 1, stop);
  const both = decided(limits.historyEvents - 1, stop, redrive);
  expect(both).toEqual({ ...alone, results: ["applied", "late"] });
  expect(both).toMatchObject({
    ending: { status: "ABORTED", error: "Enough" },
    redriven: false,
    types: ["ExecutionAborted"],
    state: { status: "ABORTED" },
  });
});

test("one that is taken in the same advance hides it: the execution runs, and has been redriven", () => {
  expect(decided(2, stop, redrive)).toMatchObject({
    ending: undefined,
    redriven: true,
    types: ["ExecutionAborted", "ExecutionRedriven"],
    state: { status: "RUNNING" },
  });
  expect(decided(2, redrive)).toMatchObject({ results: ["late"], redriven: false, types: [] });
});
