// How a process ends, with real processes and real signals.
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";

const script = fileURLToPath(new URL("service.fixture.mjs", import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

interface Ended {
  readonly status: number | null;
  readonly events: readonly string[];
}

/** Runs the fixture, does `act` once it is ready, and answers how it ended. */
function run(
  mode: string,
  act: (child: ChildProcess, event: string) => void,
  env: Record<string, string> = {},
): Promise<Ended> {
  const { npm_command: _, npm_lifecycle_event: __, ...own } = process.env;
  const child = spawn(process.execPath, [script, mode], {
    env: { ...own, TUNTAS_LOG_LEVEL: "info", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const events: string[] = [];
  createInterface(child.stdout).on("line", (line) => {
    const { event } = JSON.parse(line) as { event: string };
    events.push(event);
    act(child, event);
  });
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, events })));
}

test.each(["SIGTERM", "SIGINT"] as const)("W-33: %s stops in order and exits 0", async (signal) => {
  const ended = await run("quick", (child, event) => event === "ready" && child.kill(signal));
  expect(ended).toEqual({ status: 0, events: ["ready", "service.stopping", "service.exit"] });
});

test("W-34: what cannot be stopped in time ends with status 1", async () => {
  const ended = await run("stuck", (child, event) => event === "ready" && child.kill("SIGTERM"));
  expect(ended).toEqual({
    status: 1,
    events: ["ready", "service.stopping", "service.deadline", "service.exit"],
  });
});

test("W-34: a stop that fails is told, with status 1", async () => {
  const ended = await run("failing", (child, event) => event === "ready" && child.kill("SIGTERM"));
  expect(ended).toEqual({
    status: 1,
    events: ["ready", "service.stopping", "service.stop_failed", "service.exit"],
  });
});

test("under npm one Ctrl-C that comes twice is one", async () => {
  const act = (child: ChildProcess, event: string) => {
    if (event === "ready" || event === "service.stopping") child.kill("SIGINT");
  };
  expect((await run("quick", act, { npm_command: "start" })).status).toBe(0);
});
