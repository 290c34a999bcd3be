// What is written to do harm: recorded documents, and many more that are made. Whatever the definition, the input or the
// expression, it is refused in words or runs to an end, within bounds, and leaves the program as it was.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { scenarios } from "../../asl/corpus.fixture.ts";
import { compileMachine, readJson, simulate, type TaskStep, validateDefinition } from "../../asl/index.ts";
import type { Json, JsonObject } from "../../asl/contract.ts";
import { makeEvaluator } from "./evaluator.ts";

const evaluator = makeEvaluator({ timeMs: 1000 });
afterAll(() => evaluator.close());
afterEach(() => expect(({} as { polluted?: unknown }).polluted).toBeUndefined());

type Spelled = readonly (string | readonly [string, number])[];
const spell = (parts: Spelled): string =>
  parts.map((part) => (typeof part === "string" ? part : part[0].repeat(part[1]))).join("");

/** Fails as the Lambda service might, or answers with what it was given. */
const tasks = ({ task, input }: { task: number; input: Json }): readonly TaskStep[] =>
  task % 3 === 1
    ? [{ does: "fail", error: "Fuzz", afterMs: 1 }]
    : [{ does: "succeed", output: input, afterMs: 1 }];

const run = (definition: JsonObject, input: Json) =>
  simulate(compileMachine(definition), input, { evaluator: evaluator.evaluate, tasks });

interface Recorded {
  readonly name: string;
  readonly state: JsonObject;
  readonly input: { readonly spelled: Spelled };
  /** The error of the run, SUCCEEDED, refused; null where any end will do. */
  readonly expected: string | null;
}

const recorded = JSON.parse(
  readFileSync(new URL("../../../../conformance/hostile/definitions.json", import.meta.url), "utf8"),
) as Recorded[];

/** Texts within a document are spelled out; what is to stand there as JSON stays a text in its place. */
const spelledOut = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(spelledOut);
  const { spelled } = value as { spelled?: Spelled };
  if (spelled) return spell(spelled);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spelledOut(each)]));
};

function documentOf({ state, expected }: Recorded): string {
  const text = JSON.stringify({
    StartAt: "S",
    States: { S: { End: true, ...(spelledOut(state) as object) } },
  });
  return expected === "refused as JSON" ? text.replaceAll('"[', "[").replaceAll(']"', "]") : text;
}

async function endOf(each: Recorded): Promise<string> {
  const text = documentOf(each);
  if (validateDefinition(text).length > 0) return "refused";
  const { status, error, cause, state } = await run(
    JSON.parse(text) as JsonObject,
    parsed(spell(each.input.spelled)),
  );
  expect(cause?.length ?? 0).toBeLessThan(300_000);
  expect(state.branches.length).toBeLessThan(100);
  return error ?? status;
}

/** As it came in before inputs had a depth, and as a task's result still may. */
const parsed = (text: string): Json => JSON.parse(text) as Json;

describe("recorded", () => {
  it.each(recorded)("$name", { timeout: 30_000 }, async (each) => {
    const end = await endOf(each);
    if (each.expected !== null)
      expect(end).toBe(each.expected === "refused as JSON" ? "refused" : each.expected);
  });

  it("has no input that is read at the door and too deep to be stored", () => {
    expect(() =>
      readJson(
        spell([
          ["[", 5000],
          ["]", 5000],
        ]),
      ),
    ).toThrow("1000 levels");
    expect(readJson(spell([["[", 900], '"[[[["', ["]", 900]]))).toBeDefined();
  });
});

/** Values that no field expects. */
const odd = fc.constantFrom<Json>(
  null, true, -1, 0, 1.5, 1e308, "", "$", "$.a", "$$", "$..*", "$.a[?(@ == 1)]", "States.ALL", "States.Array($, $)",
  "{% $states.input %}", "{% ( %}", "{% [1..1e6] %}", "__proto__", [], {}, [null], { "a.$": "$" },
  { ErrorEquals: ["States.ALL"], MaxAttempts: 99_999_999, IntervalSeconds: 0 },
); // prettier-ignore

type Mutation = { readonly at: number; readonly does: "replace" | "remove" | "swap"; readonly value: Json };
const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(),
  does: fc.constantFrom("replace", "replace", "remove", "swap"),
  value: odd,
});

interface Place {
  readonly parent: Record<string, Json>;
  readonly key: string;
}

function placesOf(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, each] of Object.entries(value)) {
    found.push({ parent: value as Record<string, Json>, key });
    placesOf(each as Json, found);
  }
  return found;
}

function mutate(document: Json, { at, does, value }: Mutation): void {
  const places = placesOf(document);
  if (places.length === 0) return;
  const { parent, key } = places[at % places.length]!;
  const other = places[(at * 31 + 7) % places.length]!;
  if (does === "remove" && Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (does === "remove") delete parent[key];
  else if (does === "replace") parent[key] = structuredClone(value);
  else parent[key] = structuredClone(other.parent[other.key] ?? null);
}

const documents = scenarios().filter(({ kind }) => kind === "execution");

describe("made", () => {
  const bounds = { numRuns: 4000, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false };

  it(
    "runs every mutation of the corpus' documents to an end, or says what is wrong with it",
    { timeout: 60_000 },
    async () => {
      const from = fc.nat(documents.length - 1);
      const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 });
      let ended = 0;
      await fc.assert(
        fc.asyncProperty(from, mutations, mutations, async (index, ofDefinition, ofInput) => {
          const { definition, input, type } = documents[index]!;
          const document = structuredClone({ definition, input }) as {
            definition: JsonObject;
            input: Json;
          };
          for (const each of ofDefinition) mutate(document.definition, each);
          for (const each of ofInput) mutate(document.input, each);
          if (validateDefinition(JSON.stringify(document.definition), type).length > 0) return;
          const { status } = await run(document.definition, document.input);
          expect(["SUCCEEDED", "FAILED", "TIMED_OUT", "RUNNING"]).toContain(status);
          ended++;
        }),
        bounds,
      );
      expect(ended).toBeGreaterThan(20);
    },
  );

  const piece = fc.constantFrom(
    "$", "$states", ".input", ".a", "[0]", "[a=1]", ".*", ".**", "^(a)", "{a: b}", "$map(", "$sum(", "function($x){", "}", "(", ")", "[", "]", ";",
    ":=", "$x", "1", "..", "'a'", "/a+/", "~>", "?", ":", "+", "&", " and ", " in ", "$pad('', 9)", "$spread(", ",", "%", "@$i", "#$j", "`a`", "|a|b|",
  ); // prettier-ignore

  it("evaluates whatever is made of JSONata's pieces, or fails by name", { timeout: 60_000 }, async () => {
    const expression = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(expression, async (text) => {
        const state = { Type: "Pass", QueryLanguage: "JSONata", Output: `{% ${text} %}`, End: true };
        const definition = { StartAt: "S", States: { S: state } };
        if (validateDefinition(JSON.stringify(definition)).length > 0) return;
        const { status, error } = await run(definition, { a: [{ a: 1, b: "x" }, 2], b: { c: null } });
        if (status !== "SUCCEEDED")
          expect(error).toMatch(/^States\.(QueryEvaluationError|DataLimitExceeded)$/);
      }),
      bounds,
    );
  });
});
