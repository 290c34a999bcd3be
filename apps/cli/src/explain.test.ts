// What shapes answer for, and which shape a piece of work has.
import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { run } from "./run.ts";
import { answersOf, readNext } from "./scaffold/answers.ts";
import { choose, questions, traits } from "./scaffold/choice.ts";
import { corpus } from "./scaffold/corpus.fixture.ts";
import { failuresOf } from "./scaffold/failures.ts";
import { shapeNames } from "./scaffold/shapes.ts";
import { planOf } from "./scaffold/tests.ts";

const root = new URL("../../../", import.meta.url);

async function type(...words: string[]): Promise<{ status: number; text: string }> {
  let text = "";
  const printing = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((written) => Boolean((text += String(written))));
  const status = await run(words);
  printing.mockRestore();
  return { status, text };
}
const asked = async (...words: string[]) => {
  const { status, text } = await type(...words, "--json");
  return { status, document: JSON.parse(text) };
};

test("T-02 T-10 T-38 T-39: each shape has nine answers, failures and tests, what to read next, and a name of people leads to it", async () => {
  const { document } = await asked("explain");
  expect(document.map(({ shape }: { shape: string }) => shape)).toEqual(shapeNames);
  for (const shape of shapeNames) {
    const answers = Object.values(answersOf(shape));
    expect(answers).toHaveLength(9);
    expect(answers.filter((answer) => answer.trim() === "")).toEqual([]);
    expect(new Set(answers).size).toBe(9);
    expect(existsSync(new URL(readNext(shape), root))).toBe(true);
  }
  const saga = await type("explain", "saga");
  expect(saga.text).toContain("A saga has the shape workflow.");
  for (const answer of Object.values(answersOf("workflow"))) expect(saga.text).toContain(answer);
  for (const failure of Object.values(failuresOf("workflow"))) expect(saga.text).toContain(failure);
  const daemon = await type("explain", "daemon");
  for (const tested of Object.keys(planOf("service", { daemon: true })))
    expect(daemon.text).toContain(tested);
  expect(await asked("explain", "wroker")).toMatchObject({
    status: 2,
    document: { error: { message: expect.stringContaining("did you mean worker?") } },
  });
});

test("the commands and alarms that answers name are there", () => {
  const said = shapeNames
    .flatMap((shape) =>
      [answersOf(shape), failuresOf(shape), planOf(shape)].flatMap((each) => Object.values(each)),
    )
    .join("\n");
  const reference = readFileSync(new URL("docs/reference/cli.md", root), "utf8");
  const named = [...said.matchAll(/tuntas [a-z]+ [a-z]+/g)].map(([name]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !reference.includes(`## ${name}\n`))).toEqual([]);
});

test("T-08: each question alone leads to its shape, the first yes decides, and docs/learn asks the same in the same order", () => {
  for (const { trait, shape } of questions) expect(choose(new Set([trait]))?.shape).toBe(shape);
  expect(new Set(questions.map(({ shape }) => shape))).toEqual(new Set(shapeNames));
  expect(choose(new Set(traits))).toMatchObject({ shape: "service", by: { trait: "supports" } });
  expect(choose(new Set(traits.slice(1)))?.shape).toBe("schedule");
  expect(choose(new Set())).toBeUndefined();
  const page = readFileSync(new URL("docs/learn/shapes.md", root), "utf8");
  const places = questions.map(({ asks }) => page.indexOf(`. ${asks}`));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places.every((place) => place > 0)).toBe(true);
});

test("T-09: fifty-nine pieces of work come under the type that they are listed under", () => {
  const works = Object.values(corpus).flatMap(({ shape, works: of }) =>
    Object.entries(of).map(([work, holds]) => ({ work, holds, shapes: [shape].flat() })),
  );
  expect(works).toHaveLength(59);
  const wrong = works.filter(({ holds, shapes: fit }) => !fit.includes(choose(new Set(holds))!.shape));
  expect(wrong).toEqual([]);
  const supporting = Object.values(corpus["platform daemon"]!.works);
  expect(supporting.every((holds) => choose(new Set(holds))!.by.trait === "supports")).toBe(true);
});

test("T-05 T-06: a feature with several shapes names each, once, with its reason; tenants are asked for on top", async () => {
  const { status, document } = await asked("choose", "--steps", "--caller", "--items", "--tenants");
  expect(status).toBe(0);
  expect(document).toMatchObject({
    shape: "workflow",
    tenants: true,
    besides: [{ shape: "api" }, { shape: "worker" }],
  });
  const { text } = await type("choose", "--steps", "--caller", "--tenants");
  expect(text).toContain("tuntas new workflow");
  expect(text).toContain("docs/recipes/tenants.md");
  expect(await asked("choose")).toMatchObject({
    status: 2,
    document: { error: { code: "TUNTAS_CLI_USAGE", message: expect.stringContaining("--items") } },
  });
});
