// What must hold of every execution, whatever the machine: the state survives being text, the decision depends on its
// arguments alone, and replaying the events gives the stored state.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Decision, Event, ExecutionState, JsonObject } from "./contract.ts";
import { next } from "./next.ts";
import { compileMachine } from "./parse.ts";
import { simulate, type TaskStep } from "./simulate.ts";
import { validateDefinition } from "./validate/index.ts";

const lambda = "arn:aws:lambda:us-east-1:000000000000:function:work";

/** Machines of up to three levels whose tasks may fail, be retried and be caught. */
const { machine } = fc.letrec<{ machine: JsonObject; state: JsonObject }>((tie) => ({
  machine: fc.array(tie("state"), { minLength: 1, maxLength: 3 }).map(chain),
  state: fc.oneof(
    { maxDepth: 2, depthIdentifier: "nesting" },
    fc.constant<JsonObject>({ Type: "Pass", Assign: { "v.$": "$" } }),
    fc.constant<JsonObject>({ Type: "Wait", Seconds: 5 }),
    fc.constant<JsonObject>({
      Type: "Task",
      Resource: lambda,
      TimeoutSeconds: 30,
      Retry: [{ ErrorEquals: ["Boom"], MaxAttempts: 1, JitterStrategy: "FULL" }],
    }),
    fc.constant<JsonObject>({
      Type: "Task",
      Resource: lambda,
      ResultPath: "$.r",
      Catch: [{ ErrorEquals: ["States.ALL"], ResultPath: "$.e", Next: "END" }],
    }),
    fc.constant<JsonObject>({
      Type: "Pass",
      QueryLanguage: "JSONata",
      Output: "{% {'n': $random(), 'id': $uuid(), 'at': $now()} %}",
    }),
    fc
      .array(tie("machine"), { minLength: 1, maxLength: 2 })
      .map((Branches): JsonObject => ({ Type: "Parallel", Branches, ResultPath: "$.p" })),
    tie("machine").map((ItemProcessor): JsonObject => ({
      Type: "Map",
      ItemsPath: "$$.Execution.Input.items",
      MaxConcurrency: 2,
      ItemProcessor,
      ResultPath: "$.m",
    })),
  ),
}));

function chain(states: readonly JsonObject[]): JsonObject {
  const named = states.map(
    (state, i) => [`S${i}`, { ...state, Next: i + 1 < states.length ? `S${i + 1}` : "END" }] as const,
  );
  return {
    StartAt: "S0",
    States: { ...Object.fromEntries(named), END: { Type: "Pass", Result: { items: [1] }, End: true } },
  };
}

const outcome = fc.constantFrom<TaskStep[]>(
  [{ does: "succeed", output: { ok: 1 }, afterMs: 1000 }],
  [{ does: "fail", error: "Boom", cause: "x", afterMs: 500 }],
  [{ does: "start" }],
  [],
);

interface Taken {
  readonly event: Event;
  readonly decision: Decision;
}

async function record(definition: JsonObject, outcomes: readonly TaskStep[][]): Promise<Taken[]> {
  const taken: Taken[] = [];
  await simulate(
    definition,
    { items: [1, 2, 3] },
    {
      tasks: ({ task }) => outcomes[task % outcomes.length]!,
      observe: (decision, event) => {
        taken.push({ event, decision });
        return decision.state;
      },
    },
  );
  return taken;
}

const asText = (value: unknown): string => JSON.stringify(value);

it("folding the events from text to text gives every stored state, event and command again", async () => {
  await fc.assert(
    fc.asyncProperty(
      machine,
      fc.array(outcome, { minLength: 1, maxLength: 4 }),
      async (definition, outcomes) => {
        const compiled = compileMachine(definition);
        let text: string | undefined;
        for (const { event, decision } of await record(definition, outcomes)) {
          const before = text === undefined ? undefined : (JSON.parse(text) as ExecutionState);
          const again = await next(compiled, before, event);
          expect(asText(before)).toBe(text);
          expect(asText(again)).toBe(asText(decision));
          text = asText(again.state);
        }
      },
    ),
    { numRuns: 250 },
  );
});

it("numbers its history without a gap, and ends with exactly one ending", async () => {
  await fc.assert(
    fc.asyncProperty(
      machine,
      fc.array(outcome, { minLength: 1, maxLength: 4 }),
      async (definition, outcomes) => {
        const taken = await record(definition, outcomes);
        const events = taken.flatMap(({ decision }) => decision.events);
        expect(events.map(({ id }) => id)).toEqual(events.map((_event, i) => i + 1));
        const { state } = taken.at(-1)!.decision;
        const ends = taken.flatMap(({ decision }) => decision.commands).filter(({ type }) => type === "end");
        expect(ends).toHaveLength(state.status === "RUNNING" ? 0 : 1);
        expect(
          state.branches.filter(({ wait }) => wait?.for === "task" && state.status !== "RUNNING"),
        ).toEqual([]);
      },
    ),
    { numRuns: 250 },
  );
});

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom<unknown>("$.", "States.Nope(", "{% ( %}", "$[?(@.a)]", {}, [[]]),
);

/** The definition with the value at the n-th place of it replaced. */
function spoil(definition: JsonObject, place: number, value: unknown): string {
  let total = 0;
  JSON.stringify(definition, (_key, each: unknown) => {
    total++;
    return each;
  });
  let at = 0;
  return JSON.stringify(definition, (_key, each: unknown) => (at++ === place % total ? value : each)) ?? "";
}

it("never fails at a definition, and runs whatever it finds no fault in", async () => {
  await fc.assert(
    fc.asyncProperty(machine, fc.nat(), junk, async (definition, place, value) => {
      const text = spoil(definition, place, value);
      if (validateDefinition(text).length > 0) return;
      const tasks = (): TaskStep[] => [{ does: "fail", error: "Boom" }];
      await simulate(JSON.parse(text) as JsonObject, { items: [1] }, { tasks });
    }),
    { numRuns: 1000 },
  );
});
