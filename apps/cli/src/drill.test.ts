// All drills, once, as a person runs them; and that one which does not go as expected is told.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runDrills, type DrillReport } from "./drills/index.ts";
import { household, type Household } from "./household.fixture.ts";

let home: Household;
beforeAll(async () => {
  home = await household();
});
afterAll(() => home[Symbol.asyncDispose]());

test("L-04 L-05 L-06 L-07 L-08 L-09 L-10 L-21 X-13: every drill goes as expected, and leaves its report", async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "tuntas-drills-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { status, document } = await home.json(["drill", "--all", "--reports", folder]);
  const reports = document as DrillReport[];
  const wrong = reports.flatMap(({ drill, checks }) =>
    checks.filter(({ ok }) => !ok).map((check) => ({ drill, ...check })),
  );
  expect(wrong).toEqual([]);
  expect(status).toBe(0);
  const names = ["poison", "kill", "slow-downstream", "bad-image", "bad-health", "memory", "storm"];
  expect(reports.map(({ drill }) => drill)).toEqual(names);
  for (const { checks } of reports) expect(checks.length).toBeGreaterThan(2);
  const badImage = reports.find(({ drill }) => drill === "bad-image")!.evidence as Record<
    string,
    Record<string, unknown>[]
  >;
  expect(badImage.events!.map(({ event }) => event)).toEqual(expect.arrayContaining(["breaker", "rollback"]));
  expect(badImage.instances).toContainEqual(expect.objectContaining({ reason: "exited", exit: "127" }));
  const storm = reports.find(({ drill }) => drill === "storm")!;
  expect(storm.checks.map(({ what }) => what)).toEqual(
    expect.arrayContaining([
      expect.stringContaining("the oldest message"),
      expect.stringContaining("the bank is not harmed"),
    ]),
  );
  expect(storm.evidence).toMatchObject({ bank: { refused: 0, repeated: 0, safePerSecond: 30 } });
  const left = readdirSync(folder);
  for (const report of reports) {
    const file = left.find((name) => name.endsWith(`-${report.drill}.json`))!;
    expect(JSON.parse(readFileSync(join(folder, file), "utf8"))).toEqual(report);
    const page = readFileSync(join(folder, file.replace(/json$/, "md")), "utf8");
    expect(page).toContain(`# Drill ${report.drill}: as expected`);
  }
}, 600_000);

test("what is not as expected is told, and so is a drill that breaks off; nothing runs of an unknown one", async () => {
  const about = { does: "nothing", lesson: "none" };
  const reports = await runDrills(
    {
      wrong: { ...about, run: async ({ check }) => check("one is two", { expected: 2, observed: 1 }) },
      broken: { ...about, run: () => Promise.reject(new Error("no disk")) },
      empty: { ...about, run: () => Promise.resolve() },
    },
    () => undefined,
  );
  expect(reports.map(({ asExpected }) => asExpected)).toEqual([false, false, false]);
  expect(reports[1]!.checks).toMatchObject([{ observed: "no disk", ok: false }]);
  const unknown = await home.run(["drill", "poisson"]);
  expect(unknown).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining("did you mean poison?"),
  });
}, 120_000);
