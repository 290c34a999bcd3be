import { once } from "node:events";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runServices, service, type Controller } from "../../service/index.ts";
import { given, openOffice } from "./command.fixture.ts";
import type { Program } from "./contract.ts";

type Office = Awaited<ReturnType<typeof openOffice>>;
const script = fileURLToPath(new URL("program.fixture.mjs", import.meta.url));
const digest = `sha256:${"a".repeat(64)}`;
const name = `cases-${randomUUID().slice(0, 8)}`;
let office: Office;
let controller: Controller;

beforeAll(async () => {
  office = await openOffice();
  const { services } = office.platform;
  controller = runServices(office.platform, { host: hostname(), outputs: join(tmpdir(), name) });
  const cases = service(name, {
    kind: "daemon",
    run: { command: [process.execPath, script, "serve"] },
    version: digest,
    cpu: { request: 64, limit: 1024 },
    memory: { request: 32, limit: 512 },
    stopTimeout: "2s",
    healthCheck: { command: ["true"], interval: "200ms", timeout: "30s", retries: 10 },
    rollout: { minimumHealthyPercent: 0, maximumPercent: 100, circuitBreaker: "off" },
    scaling: { fixed: 1, because: "a test" },
  });
  const { deployment } = await services.deploy(cases, { actor: "ada", host: hostname() });
  expect(await services.settled(deployment.id)).toMatchObject({ state: "completed" });
}, 120_000);

afterAll(async () => {
  await office.platform.services.stop(name, { actor: "ada" });
  const { describe } = office.platform.services;
  await vi.waitFor(
    async () => expect((await describe(name)).instances.some(({ state }) => state !== "stopped")).toBe(false),
    30_000,
  );
  await controller.close();
  await office.close();
});

const program = (environment: readonly string[] = []): Program => ({
  service: name,
  digest,
  program: [process.execPath, script, "repair"],
  environment,
});

const fine = { measure: "its result", check: () => [] };

test("O-02 O-11 O-12 O-20: a program of a released digest gets its arguments, its role and nothing else, and owes a result", async () => {
  process.env.SECRET = "not for everybody";
  const { declare, run, platform } = office;
  const repair = await declare({ run: program(), success: fine });
  const dry = await run(repair);
  expect(dry.result).toMatchObject({ status: "SUCCEEDED", recordsRead: 3, recordsSkipped: 1, exitCode: 0 });
  expect(JSON.parse((await platform.commands.output(dry.id))!)).toEqual({
    args: ["--case-id", "case-1", "--tenant", "acme", "--dry-run=true"],
    PGOPTIONS: `-c role=${repair.options.databaseRole}`,
    key: 43,
  });

  const misbehaves = async (how: string, more = {}) => {
    process.env.MISBEHAVE = how;
    const of = await declare({ run: program(["MISBEHAVE"]), success: fine, destructive: false, ...more });
    return (await run(of, { apply: true })).result!;
  };
  expect(await misbehaves("silent")).toMatchObject({
    status: "FAILED",
    exitCode: 0,
    warnings: ["missing result"],
  });
  expect(await misbehaves("die")).toMatchObject({ status: "KILLED", exitCode: 137 });
  expect(await misbehaves("hang", { timeout: "500ms" })).toMatchObject({
    status: "TIMED_OUT",
    exitCode: 124,
  });

  const unreleased = { ...program(), digest: `sha256:${"b".repeat(64)}` };
  const other = await declare({ run: unreleased, success: fine });
  await expect(run(other, { arguments: given })).rejects.toMatchObject({ code: "TUNTAS_COMMAND_DIGEST" });
});

test("a program dies with whoever runs it", async () => {
  const mark = join(tmpdir(), `tuntas-mark-${randomUUID()}`);
  const parent = `
    import { runProgram } from ${JSON.stringify(new URL("../../../dist/operation/command/program.js", import.meta.url).href)};
    await runProgram({ revision: { directory: "/", environment: {} }, words: ${JSON.stringify([process.execPath, script, "repair"])},
      inherited: [], environment: { MISBEHAVE: "hang", MARK: ${JSON.stringify(mark)} }, timeoutMs: 600000, signal: new AbortController().signal });`;
  const runner = spawn(process.execPath, ["--input-type=module", "-e", parent], { stdio: "inherit" });
  await expect
    .poll(() => existsSync(mark) && readFileSync(mark, "utf8").endsWith("\n"), { timeout: 30_000 })
    .toBe(true);
  const pid = Number(readFileSync(mark, "utf8"));
  expect(process.kill(pid, 0)).toBe(true);
  runner.kill("SIGKILL");
  await once(runner, "exit");
  // Reaped or not, it runs no more.
  const state = () => {
    try {
      return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]![0];
    } catch {
      return "gone";
    }
  };
  await expect.poll(() => ["gone", "Z", "X"].includes(state()!), { timeout: 10_000 }).toBe(true);
});
