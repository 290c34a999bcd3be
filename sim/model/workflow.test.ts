// Generated machines, run by the engine on PostgreSQL and by the language alone in memory on a virtual clock, which is the
// oracle: both must come to the same end, with the same output, by the same events.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { simulate, type Simulation } from "tuntas/asl";
import { testPlatform, type TestPlatform } from "tuntas/testing";

let kit: TestPlatform;
beforeAll(async () => void (kit = await testPlatform()));
afterAll(() => kit[Symbol.asyncDispose]());

const scope = { account: "000000000000", region: "us-east-1" };
type Json = Parameters<typeof simulate>[1];
type State = Readonly<Record<string, Json>>;

/** States in a row; the last one ends the machine. */
function chain(prefix: string, states: readonly State[]): State {
  const named = states.map((state, i) => {
    const next = i + 1 < states.length ? { Next: `${prefix}${i + 1}` } : { End: true };
    return [`${prefix}${i}`, { ...state, ...(state.Type === "Fail" || state.Type === "Choice" ? {} : next) }];
  });
  const ends = states.at(-1)!.Type === "Choice" ? [["Over", { Type: "Succeed" }]] : [];
  return { StartAt: `${prefix}0`, States: Object.fromEntries([...named, ...ends]) };
}

let names = 0;
const { states } = fc.letrec<{ states: State[]; state: State }>((tie) => ({
  states: fc.array(tie("state"), { minLength: 1, maxLength: 3 }),
  state: fc.oneof(
    { maxDepth: 2, depthIdentifier: "nesting" },
    fc.constantFrom<State>(
      { Type: "Pass", Result: { n: 1 }, ResultPath: "$.kept" },
      { Type: "Pass", Parameters: { "items.$": "$.items", "hash.$": "States.Hash($, 'SHA-1')" } },
      { Type: "Wait", Seconds: 7 },
      { Type: "Wait", Seconds: 0 },
      { Type: "Pass", QueryLanguage: "JSONata", Output: "{% $merge([$states.input, {'sum': $sum($states.input.items)}]) %}" },
    ),
    tie("states").map((inner): State => ({ Type: "Parallel", Branches: [chain(`p${names++}-`, inner), chain(`p${names++}-`, inner)], ResultPath: "$.parallel" })),
    tie("states").map((inner): State => ({ Type: "Map", ItemsPath: "$.items", ItemSelector: { "items.$": "$.items", "item.$": "$$.Map.Item.Value" }, MaxConcurrency: 2, ItemProcessor: chain(`m${names++}-`, inner), ResultPath: "$.map" })),
  ),
})); // prettier-ignore

const failing = fc.constantFrom<State>(
  { Type: "Fail", Error: "Boom", Cause: "as the model says" },
  { Type: "Succeed" },
);
const machines = fc
  .tuple(states, fc.option(failing, { freq: 3 }))
  .map(([row, end]) => chain("s", end ? [...row, end] : row))
  .map((machine) => JSON.parse(JSON.stringify(machine)) as State);

/** An event of the history, without what a clock or a chance decides. */
const shape = ({ type, ...event }: { readonly type: string }): string => {
  const details = Object.values(event).find((value) => typeof value === "object" && value !== null) as
    { name?: string; output?: string; error?: string } | undefined;
  return [type, details?.name, details?.output, details?.error].filter(Boolean).join(" ");
};

async function runHere(definition: State, input: Json) {
  const { machines: catalog, executions } = kit.platform.workflows;
  const name = `model-${randomUUID()}`;
  await catalog.create(scope, {
    name,
    type: "STANDARD",
    definition: JSON.stringify(definition),
    roleArn: "arn:aws:iam::000000000000:role/model",
    tags: {},
    publish: false,
  });
  const machine = (await catalog.find(scope, name))!;
  const target = { machine, versionArn: null, aliasArn: null };
  const { arn } = await executions.start({ target, name: "run", input: JSON.stringify(input) });
  for (let waits = 0; ; waits++) {
    const execution = (await executions.find(arn))!;
    if (execution.status !== "RUNNING") return { execution, events: await executions.history(execution) };
    expect(waits).toBeLessThan(200);
    await kit.advance(3500);
  }
}

const told = (history: readonly { readonly type: string }[]): string[] => history.map(shape).toSorted();

function compare(wanted: Simulation, here: Awaited<ReturnType<typeof runHere>>): void {
  const { execution, events } = here;
  expect(execution.status).toBe(wanted.status);
  expect(execution.output === null ? undefined : JSON.parse(execution.output)).toEqual(wanted.output);
  expect(execution.error ?? undefined).toBe(wanted.error);
  // Of branches that go on at the same instant any may be first.
  expect(told(events as never)).toEqual(told(wanted.history as never));
  expect(events.map(({ id }) => id)).toEqual(wanted.history.map(({ id }) => id));
}

test(
  "an execution on PostgreSQL does what the language says in memory, whatever the machine",
  { timeout: 240_000 },
  async () => {
    const input = { items: [1, 2, 3] };
    await fc.assert(
      fc.asyncProperty(machines, async (definition) => {
        const wanted = await simulate(definition, input);
        compare(wanted, await runHere(definition, input));
      }),
      { numRuns: 25, endOnFailure: true, interruptAfterTimeLimit: 40_000, markInterruptAsFailure: false },
    );
  },
);
