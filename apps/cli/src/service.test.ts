// The commands of services, as a person types them, against a controller in a process of its own.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { household, printed, type Household } from "./household.fixture.ts";

// Below the checkout, where the application finds the package.
const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const application = (version: string, more = "") => `
import { app, service } from "tuntas";
const script = \`
  const server = require("http").createServer((_, response) => response.end("${version}")).listen(process.env.PORT);
  process.on("SIGTERM", () => server.close(() => process.exit(0)));
  ${more}
\`;
export default app({
  hello: service("hello-api", {
    kind: "rest",
    run: { command: [process.execPath, "-e", script] },
    version: "${version}",
    port: { variable: "PORT" },
    cpu: { request: 128, limit: 512 },
    memory: { request: 64, limit: 256 },
    connections: 2,
    stopTimeout: "20s",
    healthCheck: { http: "/", interval: "500ms", timeout: "5s", retries: 3, startPeriod: "30s" },
    rollout: { minimumHealthyPercent: 100, maximumPercent: 200, circuitBreaker: { rollback: true } },
    scaling: { min: 1, max: 3, target: { cpuPercent: 400 }, scaleOutCooldown: "1m", scaleInCooldown: "1h" },
  }),
});
`;

let home: Household;
let folder: string;
/** Ended in order whatever happens: its instances would outlive it. */
let controller: ReturnType<Household["begin"]> | undefined;
beforeAll(async () => {
  home = await household();
  folder = mkdtempSync(join(cache, "services-"));
});
afterAll(async () => {
  if (controller?.exitCode === null && controller.kill("SIGTERM")) await once(controller, "close");
  await home[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

test("U-08 a service without limits fails the gate, by a code that names what is missing", async () => {
  const file = write(
    "silent.mjs",
    application("1")
      .replace(/memory: .*/, "")
      .replace(/scaling: .*/, ""),
  );
  const { status, stderr } = await home.run(["check", file]);
  expect(status).toBe(1);
  expect(stderr).toMatch(
    /TUNTAS_SERVICE_OPTIONS: .*silent\.mjs:\d+: service "hello-api": memory: expected .*; scaling: expected/,
  );
  const task = write(
    "task.json",
    JSON.stringify({ family: "hello", containerDefinitions: [{ name: "web", cpu: 128 }] }),
  );
  const { status: gate, document } = await home.json(["check", task]);
  expect(gate).toBe(1);
  expect(document.findings.map(({ rule }: { rule: string }) => rule)).toEqual([
    "service-without-limits",
    "service-without-health-check",
  ]);
});

test("a service is deployed, fails and is rolled back, scaled and stopped, and its log tells of all of it", async () => {
  const file = write("app.mjs", application("1"));
  const [hello, bad] = [
    file,
    write("bad.mjs", application("2", 'console.log("no currency"); process.exit(4)')),
  ];
  const deploy = (from: string) => ["service", "deploy", "hello-api", "--app", from];
  const nobody = await home.run(deploy(hello));
  expect(nobody).toMatchObject({ status: 1, stderr: expect.stringContaining("TUNTAS_SERVICE_UNCONTROLLED") });
  const environment = { TUNTAS_DATA_DIR: folder };
  controller = home.begin(["service", "run"], environment);
  await printed(controller, /machine/);

  const [again, typo, undeclared] = await Promise.all([
    home.json(deploy(hello)),
    home.run(["service", "describe", "helo-api"]),
    home.run(["service", "deploy", "hallo-api", "--app", hello]),
  ]);
  expect(again).toMatchObject({
    status: 0,
    document: { status: "unchanged", deployment: { state: "completed" } },
  });
  expect(typo).toMatchObject({ status: 1, stderr: expect.stringContaining("did you mean hello-api?") });
  expect(undeclared.stderr).toMatch(/declares no service "hallo-api"; did you mean hello-api\?/);

  const failed = await home.json(deploy(bad));
  expect(failed).toMatchObject({
    status: 1,
    document: { deployment: { state: "failed" }, service: { revision: 1 } },
  });
  const { instances } = failed.document.service;
  const { id } = instances.find(({ exit }: { exit: string }) => exit === "4");
  const reading = home.begin(["service", "output", "hello-api", id], environment);
  const [elsewhere] = await Promise.all([
    home.run(["service", "output", "hello-api", id]),
    printed(reading, /no currency/),
  ]);
  expect(elsewhere).toMatchObject({ status: 1, stderr: expect.stringContaining("TUNTAS_SERVICE_OUTPUT") });

  const front = home.begin(["service", "front", "hello-api", "--port", "0"], environment);
  const url = /http\S+/.exec(await printed(front, /http\S+/))![0];
  const [shown, tooMany, unclear, listed, page] = await Promise.all([
    home.run(["service", "describe", "hello-api"]),
    home.run(["service", "scale", "hello-api", "4"]),
    home.run(["service", "scale", "hello-api", "two"]),
    home.run(["service", "list"]),
    fetch(url).then((response) => response.text()),
  ]);
  expect(shown.stdout).toMatch(/stopped, status 4: it ended by itself/);
  expect(tooMany.stderr).toMatch(/expected 1 to 3 instances/);
  expect(unclear.status).toBe(2);
  expect(listed.stdout).toMatch(new RegExp(`hello-api +rest +1 +1 +1 +1 +completed +${hostname()}`));
  expect(page).toBe("1");

  const [budget, larger] = await Promise.all([
    home.run(["budget", "check"]),
    home.json([
      "budget",
      "check",
      "--app",
      write("large.mjs", application("1").replace("max: 3", "max: 900")),
    ]),
  ]);
  expect(budget.status).toBe(0);
  expect(budget.stdout).toMatch(/hello-api +3 +6 +2 +12/);
  expect(larger).toMatchObject({
    status: 1,
    document: { fits: false, lines: [{ instances: 900, surge: 1800 }] },
  });

  expect((await home.run(["service", "scale", "hello-api", "2"])).status).toBe(0);
  expect((await home.run(["lab", "stop"])).stderr).toContain("--reason is required");
  expect(await home.json(["lab", "stop", "--wait", "0", "--reason", "night"])).toMatchObject({
    status: 1,
    document: { stopped: ["hello-api"], running: expect.any(Number) },
  });
  // K-05: nothing runs any more.
  expect(await home.json(["lab", "stop", "--reason", "night"])).toMatchObject({
    status: 0,
    document: { running: 0, services: [{ name: "hello-api", active: false }] },
  });
  expect((await home.run(["service", "stop", "hello-api", "--reason", "night"])).status).toBe(0);
  controller.kill("SIGTERM");
  expect(await once(controller, "close")).toEqual([0, null]);
  const log = (await home.json(["service", "log", "hello-api", "--limit", "1000"])).document;
  const seen = new Set(log.map(({ event }: { event: string }) => event));
  for (const event of [
    "deploying",
    "batch",
    "health",
    "completed",
    "breaker",
    "rollback",
    "scaled",
    "stopped",
  ])
    expect(seen).toContain(event);
}, 240_000);
