// The lesson on workflows, as a newcomer follows it.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toSvg } from "tuntas/asl/drawing";
import { testWorkflow } from "tuntas/testing";
import { blocksOf, type Kitchen } from "../recipes/kitchen.fixture.ts";
import { openLesson, type Lesson } from "./lesson.fixture.ts";

const blocks = (language: string): string[] => blocksOf(new URL("workflows.md", import.meta.url), language);
const [, graph, tried, run, starting, killed, large, approving, breaking, mending, declared] = blocks("sh");

let lesson: Lesson;
let folder: string;
let client: Kitchen["client"];
let shell: Lesson["shell"];
const develop = () => lesson.develop(run!);

beforeAll(async () => {
  lesson = await openLesson();
  ({ folder, client, shell } = lesson);
  // The wait is there so that a person can kill it; what is killed here is killed at once.
  writeFileSync(join(folder, "refund.asl.yaml"), blocks("yaml")[0]!.replace("Seconds: 15", "Seconds: 5"));
  writeFileSync(join(folder, "app.mjs"), blocks("js")[0]!);
});
afterAll(() => lesson.close());

const statusOf = async (execution: string): Promise<string | undefined> =>
  (await client.query("select status from tuntas.execution where name = $1", [execution])).rows[0]?.status;
const becomes = (execution: string, status: string) =>
  expect.poll(() => statusOf(execution), { interval: 100 }).toBe(status);
const paid = async () =>
  (await client.query("select id, count(*)::int as times from refund group by id order by id")).rows;
const once1 = (...ids: string[]) => ids.map((id) => ({ id, times: 1 }));

describe("docs/learn/workflows.md", () => {
  test("the graph is drawn, as the page shows it, and the path is printed before there is code", async () => {
    expect(await shell(graph!)).toContain("refund.svg");
    const { parse } = await import("yaml");
    const shown = readFileSync(new URL("refund.svg", import.meta.url), "utf8");
    const drawn = toSvg(parse(blocks("yaml")[0]!), "refund");
    expect(shown === drawn, "tuntas workflow graph … --svg … draws it anew").toBe(true);
    expect(await shell(declared!)).toMatch(
      /^▶ Check \[Function · check\] → Large\?\n[\s\S]*• Tell \[Function · tell\]\n$/,
    );
    expect(await shell(tried!)).toMatch(/2 d 0 h 0 m \d+ s +Tell[\s\S]*SUCCEEDED/);
  });

  test("it runs, survives a kill, asks, and is redriven", { timeout: 400_000 }, async () => {
    let developing = await develop();
    try {
      expect(await shell(starting!)).toContain("created: arn:");
      await shell(killed!);
      const isPaid = async () => (await paid().catch(() => [])).some(({ id }) => id === "killed");
      await expect.poll(isPaid, { interval: 20 }).toBe(true);
      developing.kill("SIGKILL");
      await once(developing, "exit");
      developing = await develop();
      await becomes("killed", "SUCCEEDED");
      await becomes("small", "SUCCEEDED");
      expect(await paid()).toEqual(once1("killed", "small"));

      expect(await shell(large!)).toContain("large");
      const id = async () => (await client.query("select id from tuntas.approval")).rows[0]?.id as string;
      await expect.poll(id).toBeDefined();
      await shell(approving!.replace(" ID ", ` ${await id()} `));
      await becomes("large", "SUCCEEDED");

      await shell(breaking!);
      await becomes("broken", "FAILED");
      expect(await shell(mending!)).toContain("safe");
      await becomes("broken", "SUCCEEDED");
      expect(await paid()).toEqual(once1("broken", "killed", "large", "small"));
    } finally {
      developing.kill("SIGKILL");
    }
  });

  test("the same in TypeScript", async () => {
    const path = join(folder, "refund.mjs");
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
    writeFileSync(path, ts.transpileModule(blocks("ts")[0]!, { compilerOptions }).outputText);
    const { refund } = await import(/* @vite-ignore */ path);
    const run = (decision: string) =>
      testWorkflow(refund, {
        input: { refundId: "r1", amount: 250 },
        mocks: {
          Check: (input: object) => input,
          Ask: { after: "2d", returns: { decision } },
          Pay: ({ refundId }) => ({ refundId }),
          Tell: () => "told",
        },
      });
    expect(await run("APPROVED")).toMatchObject({ status: "SUCCEEDED", durationMs: 2 * 86_400_000 + 15_000 });
    expect(await run("REJECTED")).toMatchObject({ status: "FAILED", error: "RefundRefused" });
  });
});
