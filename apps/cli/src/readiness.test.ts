// `tuntas readiness` of the built orders application, as a person or a pipeline runs it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { household } from "./household.fixture.ts";

const page = readFileSync(new URL("../../../docs/operate/readiness.md", import.meta.url), "utf8");
const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const built = (name: string) =>
  fileURLToPath(new URL(`../../../examples/orders/dist/${name}`, import.meta.url));
const app = ["--app", built("orders.js"), "--app", built("services.js")];

const today = new Date().toISOString().slice(0, 10);

test("L-12 L-13 L-14: each list is shown, counted and answered by status; an unknown name says what there is", async () => {
  await using home = await household();
  const drills = mkdtempSync(join(tmpdir(), "tuntas-drills-"));
  const report = { drill: "poison", asExpected: true, startedAt: "2026-11-01T00:00:00.000Z" };
  writeFileSync(join(drills, "poison.json"), JSON.stringify(report));
  const { status, document } = await home.json(["readiness", ...app, "--drills", drills]);
  rmSync(drills, { recursive: true });
  expect(status).toBe(1);
  expect(document.checklists.map(({ list, of }: { list: string; of: string }) => [list, of])).toEqual([
    ["api", "orders-api"],
    ["worker", "order-work"],
    ["platform", ""],
  ]);
  const poison = document.checklists[1].lines.find(({ id }: { id: string }) => id === "poison");
  expect(poison).toMatchObject({ status: "met", found: "poison on 2026-11-01, as expected" });
  const { stdout } = await home.run(["readiness", "order-work", ...app, "--drills", drills]);
  expect(stdout).toMatch(/^worker order-work: NOT ready, \d+ of 11\n/);
  expect(stdout).toContain("! a poison message was tried out");
  expect(stdout).toContain('export const answers = readiness("worker", { of: "order-work", answers: {');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "readiness-"));
  const answers = join(folder, "answers.mjs");
  writeFileSync(answers, /```ts\n([^`]*)```/.exec(page)![1]!.replaceAll("2026-11-02", today));
  const answered = await home.json(["readiness", "api", "orders-api", ...app, "--app", answers]);
  rmSync(folder, { recursive: true });
  expect(answered.document.checklists[0].lines).toContainEqual(
    expect.objectContaining({ id: "zones", status: "answered", looked: `orders-team, ${today}` }),
  );
  expect(await home.run(["readiness", "orders-apj", ...app])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("did you mean orders-api?"),
  });
}, 120_000);
