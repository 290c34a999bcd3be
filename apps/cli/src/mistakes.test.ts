// What people do wrong in their first hour, and what they read then.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { household, type Household } from "./household.fixture.ts";

const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
let home: Household;
let folder: string;

beforeAll(async () => {
  home = await household();
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "mistakes-"));
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const write = (text: string): string => {
  const file = join(folder, "app.mjs");
  writeFileSync(file, text);
  return file;
};

test("a file that is not there is named at once, and nothing is watched", async () => {
  for (const args of [
    ["dev", "nope.mjs"],
    ["check", "nope.mjs"],
    ["check", "nope.json"],
  ]) {
    const { status, stderr } = await home.run(args);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^TUNTAS_FILE_MISSING: .*nope\.m?js(on)? does not exist\n.*path.*\n$/);
  }
});

test("an application that throws while it is loaded is told with its line", async () => {
  const file = write('// first\nthrow new Error("at load");\n');
  expect((await home.run(["dev", file, "--once"])).stderr).toContain(`${file}:2: at load`);
});

test("a declaration that is wrong is told with queue, field and line, and nothing else", async () => {
  const file = write(
    'import { queue } from "tuntas";\nimport { z } from "zod";\nexport const orders = queue("order-work", {\n  message: z.string(),\n  deadLetter: { after: 5, owner: "a", runbook: "b", retention: "14 days" },\n});\n',
  );
  const { stderr } = await home.run(["dev", file, "--once"]);
  expect(stderr).toMatch(
    /^TUNTAS_DURATION_INVALID: .*app\.mjs:3: queue "order-work": deadLetter\.retention: expected .*"14 days"\nWrite it as .*\n$/,
  );
});

test("a taken port is all that dev says", async () => {
  const file = write('import { app } from "tuntas";\nexport default app({});\n');
  const port = new URL(home.url).port; // PostgreSQL has it
  const { status, stderr, stdout } = await home.run(["dev", file, "--once", "--port", port]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^TUNTAS_PORT_TAKEN: .*\n.*\n$/);
});

test("a mistyped queue is not taken for good news, and the nearest is named", async () => {
  await home.run(["queue", "create", "order-work"]);
  for (const args of [
    ["dlq", "list", "--queue", "order-wrok"],
    ["queue", "show", "order-wrok"],
  ]) {
    const { status, stderr } = await home.run(args);
    expect(status).toBe(1);
    expect(stderr).toContain(
      "TUNTAS_QUEUE_MISSING: queue order-wrok does not exist; did you mean order-work?",
    );
  }
});

test("a verb that is not there leads to those of its noun, never to one that does something else", async () => {
  expect((await home.run(["stream", "append", "events"])).stderr).toContain(
    "`tuntas stream` has list, show,",
  );
  expect((await home.run(["service", "show", "x"])).stderr).not.toContain("did you mean");
  expect((await home.run(["queue", "lsit"])).stderr).toContain("did you mean `tuntas queue list`?");
});

test("what an alarm does not watch is refused, and figures of everything else do not answer for it", async () => {
  const { status, stderr } = await home.run(["alarm", "show", "oldest-message", "order-wrok"]);
  expect([status, stderr.split(":")[0]]).toEqual([1, "TUNTAS_ALARM_SUBJECT"]);
  await home.run(["queue", "create", "never-sampled"]);
  const fresh = await home.json(["alarm", "show", "oldest-message", "never-sampled"]);
  expect(fresh.status).toBe(0);
  const figures = fresh.document.runbook.checks.slice(0, -1).map(({ value }: { value: unknown }) => value);
  expect(new Set(figures)).toEqual(new Set([null]));
});

test("a status that no execution has is refused", async () => {
  const { status, stderr } = await home.run(["workflow", "list", "Any", "--status", "FAILD"]);
  expect([status, stderr]).toEqual([2, expect.stringContaining("--status: expected RUNNING, ")]);
});

test("an option that is not known leads to the help of its command", async () => {
  expect((await home.run(["queue", "list", "--nope"])).stderr).toContain("tuntas help queue list");
});

test("an address that is not PostgreSQL's is told without its password", async () => {
  const child = home.begin(["queue", "list", "--json"], { DATABASE_URL: "mysql://root:secret@db/work" });
  await new Promise((resolve) => child.once("close", resolve));
  expect(JSON.parse(child.output())).toMatchObject({
    error: { code: "TUNTAS_DATABASE_URL", message: expect.stringContaining("mysql:") },
  });
  expect(child.output()).not.toContain("secret");
});
