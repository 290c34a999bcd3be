// `npm start` as a person meets it: on an empty data directory, with taken ports, ended in every way.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchProcess, type TestProcess } from "tuntas/testing";
import { place, statusOf, until } from "./processes.fixture.ts";

const script = fileURLToPath(new URL("../../../scripts/start.mjs", import.meta.url));
// Plays npm: starts a shell that starts the script, and passes no signal on.
const npm = `require("node:child_process").spawn("sh", ["-c", "node \\"$0\\"; exit $?", process.argv[1]], { stdio: "inherit" }).on("exit", (code) => process.exit(code))`;

let dataDir: string;
const groups: number[] = [];

beforeAll(() => {
  dataDir = mkdtempSync("/var/tmp/tuntas-start-");
  chmodSync(dataDir, 0o755); // whoever PostgreSQL runs as may enter it
});
afterAll(() => {
  for (const group of groups) {
    try {
      process.kill(-group, "SIGKILL");
    } catch {
      // It has ended by itself, as it should.
    }
  }
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
});

/** In a process group of its own, as a shell does it. */
function start(args: readonly string[], env: Record<string, string> = {}): TestProcess {
  const { DATABASE_URL: _, npm_command: __, npm_lifecycle_event: ___, ...own } = process.env;
  const all = {
    ...own,
    TUNTAS_LOG_LEVEL: "info",
    TUNTAS_DATA_DIR: dataDir,
    PORT: "0",
    TUNTAS_PORT: "0",
    ...env,
  };
  const child = spawn(process.execPath, args, {
    env: all,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  groups.push(child.pid!);
  return watchProcess(child);
}

/** The URL after a word of the few lines that it prints. */
async function printed(running: TestProcess, word: string): Promise<string> {
  const found = new RegExp(`^ +${word} +.*?(http://\\S+)`);
  const { text } = await running.line((line) => found.test(String(line.text)));
  return found.exec(String(text))![1]!;
}

const isAlive = (pid: number): boolean => {
  try {
    // A zombie is dead; it only waits for its parent.
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

test("E-01: one command starts API, worker, gateway and page; an order is completed; Ctrl-C drains and leaves no process behind", async () => {
  const running = start([script]);
  const url = await printed(running, "Orders API");
  const { orderId } = await place(url);
  await until(async () => (await statusOf(url, orderId)) === "COMPLETED");
  const gateway = await printed(running, "Console");
  expect((await fetch(new URL("/_tuntas/health", gateway))).status).toBe(200);
  expect(await (await fetch(gateway, { headers: { accept: "text/html" } })).text()).toContain(
    "<title>Tuntas</title>",
  );
  expect(await (await fetch(new URL("/console/api/queues", gateway))).text()).toContain("order-work");
  const postmaster = Number(readFileSync(`${dataDir}/cluster/postmaster.pid`, "utf8").split("\n", 1)[0]);
  process.kill(-running.child.pid!, "SIGINT");
  expect(await running.ended).toEqual({ status: 0, signal: null });
  await until(async () => !isAlive(postmaster));
});

test.each(["PORT", "TUNTAS_PORT"])(
  "U-01: a taken %s is a coded error that names it, and status 1",
  async (variable) => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => squatter.once("listening", resolve));
    const running = start([script], { [variable]: String((squatter.address() as AddressInfo).port) });
    expect(await running.ended).toEqual({ status: 1, signal: null });
    expect(running.errors()).toMatch(/^TUNTAS_\w*PORT_TAKEN: /m);
    expect(running.errors()).toContain(variable);
    squatter.close();
  },
);

test("W-35: when the npm that started it is killed, it drains and ends by itself", async () => {
  const running = start(["-e", npm, script], { npm_command: "start" });
  await printed(running, "Console");
  running.child.kill("SIGKILL");
  const killedAt = performance.now();
  // `ended` waits for the end of the pipe, which the script holds.
  await running.line("service.exit");
  await running.ended;
  expect(performance.now() - killedAt).toBeLessThan(6000); // 2 s, on a machine that is not busy
  expect(running.lines.some(({ event }) => event === "service.drained")).toBe(true);
});
