// Services with real processes: roll-outs batch by batch, rollbacks, instances that hang, leak or die, and controllers
// that are killed.
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Agent, get, request } from "node:http";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { z } from "zod";
import { app, start } from "../app.ts";
import { queue } from "../queue/declaration.ts";
import { defaultScope } from "../queue/contract.ts";
import { openFront, runServices, serviceKinds, type Instance } from "./index.ts";
import { ada, fixture, isAlive, names, newName, openStage, web } from "./stage.fixture.ts";

const stage = openStage();
const { outputs, control, deploy, running, logOf } = stage;

/** The body of what is answered 200. */
const fetchBy = (agent: Agent, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ port, agent, path: "/" }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`${response.statusCode}`)),
      );
    }).on("error", reject);
  });

test("U-01: each kind is accepted, starts, and reports ready, however it is asked", async () => {
  const host = control();
  const checks = [
    { http: "/readyz" },
    { tcp: true },
    { command: [process.execPath, "-e", "fetch(`http://127.0.0.1:${process.env.PORT}`)"] },
  ] as const;
  const times = { interval: "1s", timeout: "10s", retries: 3, startPeriod: "30s" } as const;
  const all = serviceKinds.map((kind, index) =>
    web(`${kind}-${randomUUID().slice(0, 8)}`, { kind, healthCheck: { ...checks[index % 3]!, ...times } }),
  );
  app(Object.fromEntries(all.map((each) => [each.name, each])));
  const ended = await Promise.all(all.map((each) => deploy(each, host)));
  expect(ended.map(({ state }) => state)).toEqual(serviceKinds.map(() => "completed"));
  const listed = await stage.kit.platform.services.list();
  for (const { name, options } of all)
    expect(listed.find((each) => each.name === name)).toMatchObject({
      kind: options.kind,
      desired: 1,
      healthy: 1,
      controlled: true,
    });
});

test("U-01: a process that opens Tuntas is asked by its heartbeat, and ends in order", async () => {
  const host = control();
  const name = newName();
  const of = web(name, {
    kind: "consumer-group",
    run: { module: fixture("controller.fixture.mjs") },
    environment: {
      DATABASE_URL: stage.kit.databaseUrl,
      SCHEMA: stage.kit.schema,
      HOST_NAME: name,
      OUTPUTS: outputs,
    },
    healthCheck: { presence: true, interval: "1s", timeout: "10s", retries: 3, startPeriod: "60s" },
  });
  expect(await deploy(of, host)).toMatchObject({ state: "completed" });
  await stage.kit.platform.services.stop(name, ada);
  await expect
    .poll(async () => (await logOf(name)).at(-1))
    .toMatchObject({
      event: "stopped",
      detail: { stopReason: "scale_in", exit: "0" },
    });
});

test("U-09: a new revision comes batch by batch, each healthy before the next and before an old one goes", async () => {
  const host = control();
  const name = newName();
  const rollout = {
    minimumHealthyPercent: 100,
    maximumPercent: 150,
    circuitBreaker: "off",
    deregistrationDelay: "200ms",
  } as const;
  await deploy(web(name, { count: 2, version: "1", rollout }), host);
  const before = await running(name);
  const second = await deploy(web(name, { count: 2, version: "2", rollout }), host);
  expect(second).toMatchObject({ state: "completed", revision: 2 });
  const log = await stage.kit.platform.services.log(name, { deploymentId: second.id });
  expect(names(log).filter((event) => ["deploying", "batch", "health", "completed"].includes(event))).toEqual(
    ["deploying", "batch", "health", "batch", "health", "completed"],
  );
  const whole = await logOf(name);
  const at = (event: string, nth: number) =>
    whole.filter((each) => each.event === event && each.detail.stopReason === "deployment")[nth]!.id;
  const healthyAt = log.filter(({ event }) => event === "health").map(({ id }) => BigInt(id));
  expect(healthyAt.map((id, nth) => id < BigInt(at("stopping", nth)))).toEqual([true, true]);
  const { batches } = await stage.kit.platform.services.deployment(name, second.id);
  expect(batches.map(({ instances, replaced }) => [instances.length, replaced.length])).toEqual([
    [1, 1],
    [1, 1],
  ]);
  expect((await running(name)).map(({ revision }) => revision)).toEqual([2, 2]);
  expect(await Promise.all(before.map(({ pid }) => isAlive(pid!)))).toEqual([false, false]);
  const again = await stage.kit.platform.services.deploy(web(name, { count: 2, version: "2", rollout }), ada);
  expect(again.status).toBe("unchanged");
  const forced = await stage.kit.platform.services.redeploy(name, 2, { ...ada, force: true });
  expect(await stage.kit.platform.services.settled(forced.deployment.id)).toMatchObject({
    state: "completed",
    revision: 3,
  });
  expect((await running(name)).map(({ revision }) => revision)).toEqual([3, 3]);
});

test.each([
  ["never-ready", { startPeriod: "0s", interval: "100ms", retries: 2 }],
  ["exits", { startPeriod: "20s", interval: "500ms", retries: 3 }],
] as const)(
  "D-14: a revision that is %s is rolled back by itself, while the old one serves",
  async (misbehaviour, times) => {
    const host = control();
    const name = newName();
    await deploy(web(name, { version: "good" }), host);
    const [old] = await running(name);
    const healthCheck = { http: "/readyz", timeout: "5s", ...times } as const;
    const bad = await deploy(web(name, { version: "bad", misbehaviour, healthCheck }), host);
    expect(bad).toMatchObject({ state: "failed", failures: 3 });
    const [back] = (await stage.kit.platform.services.describe(name)).deployments;
    expect(await stage.kit.platform.services.settled(back!.id)).toMatchObject({
      revision: 1,
      state: "completed",
      rollbackOf: bad.id,
    });
    expect((await running(name)).map(({ id, pid }) => ({ id, pid }))).toEqual([
      { id: old!.id, pid: old!.pid },
    ]);
    const seen = names(await logOf(name));
    expect(seen.slice(seen.indexOf("breaker"), seen.indexOf("breaker") + 2)).toEqual(["breaker", "rollback"]);
  },
);

test("D-14: a first revision that fails has nothing to go back to, and stands still", async () => {
  const host = control();
  const name = newName();
  expect(await deploy(web(name, { misbehaviour: "exits" }), host)).toMatchObject({ state: "failed" });
  expect(names(await logOf(name)).at(-1)).toBe("breaker");
  expect(await running(name)).toEqual([]);
  await expect(stage.kit.platform.services.rollback(name, ada)).rejects.toMatchObject({
    code: "TUNTAS_SERVICE_REVISION",
  });
});

test("D-21: rollback deploys what was completed before", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name, { version: "1" }), host);
  await deploy(web(name, { version: "2" }), host);
  const { deployment } = await stage.kit.platform.services.rollback(name, ada);
  expect(await stage.kit.platform.services.settled(deployment.id)).toMatchObject({
    state: "completed",
    revision: 1,
  });
  const [{ port }] = (await running(name)) as [Instance];
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).json()).toMatchObject({ version: "1" });
});

test("W-33: an instance that hangs at SIGTERM is killed after its stopTimeout, and that is on record", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name, { misbehaviour: "hangs", stopTimeout: "500ms" }), host);
  const [{ pid }] = (await running(name)) as [Instance];
  await stage.kit.platform.services.stop(name, { ...ada, reason: "drill" });
  await expect.poll(async () => names(await logOf(name)).at(-1)).toBe("stopped");
  const log = (await logOf(name)).slice(-4);
  expect(names(log)).toEqual(["stopping", "terminated", "killed", "stopped"]);
  expect(log[2]!.atMs - log[1]!.atMs).toBeGreaterThanOrEqual(500);
  expect(log[3]!.detail).toMatchObject({ stopReason: "scale_in", exit: "SIGKILL" });
  expect(await isAlive(pid!)).toBe(false);
});

test("U-08: an instance over its memory limit is killed and replaced", async () => {
  const host = control();
  const name = newName();
  const memory = { request: 64, limit: 150 };
  await stage.kit.platform.services.deploy(web(name, { misbehaviour: "leaks", memory }), { ...ada, host });
  const stopped = () =>
    logOf(name).then((log) => log.filter(({ event }) => event === "stopped").map(({ detail }) => detail));
  await expect.poll(stopped).toContainEqual({ stopReason: "memory", exit: "SIGKILL" });
});

test("U-08: what an instance takes is measured beside its limits, and what it prints is kept", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name), host);
  const measured = async () => (await running(name))[0]!;
  await expect.poll(async () => (await measured()).cpuUnits).not.toBeNull();
  const { id, memoryBytes, port } = await measured();
  expect(memoryBytes! / (1 << 20)).toBeGreaterThan(20);
  expect(memoryBytes! / (1 << 20)).toBeLessThan(512);
  const { services } = stage.kit.platform;
  expect(await services.output(name, id, { outputs })).toEqual({
    status: "read",
    text: `listens on ${port}\n`,
    more: false,
  });
  await expect(services.output(name, "0", { outputs })).rejects.toMatchObject({
    code: "TUNTAS_SERVICE_INSTANCE",
  });
  await expect(services.deployment(name, "0")).rejects.toMatchObject({ code: "TUNTAS_SERVICE_DEPLOYMENT" });
  expect((await services.describe(name)).revisions).toMatchObject([
    { revision: 1, definition: { version: null } },
  ]);
});

test("what dies is replaced", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name), host);
  const [first] = await running(name);
  process.kill(first!.pid!, "SIGKILL");
  const others = async () =>
    (await running(name)).filter(({ id, health }) => id !== first!.id && health === "healthy");
  await expect.poll(others).toHaveLength(1);
  const stopped = (await logOf(name)).find(({ event }) => event === "stopped");
  expect(stopped!.detail).toEqual({ stopReason: "exited", exit: "SIGKILL" });
});

test("W-35: what an instance has started ends with it", async () => {
  const host = control();
  const name = newName();
  const started = "console.log(process.pid); setInterval(() => {}, 1000)";
  const script = `const c = require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(started)}]); require("http").createServer((_, r) => r.end(String(c.pid))).listen(process.env.PORT); process.on("SIGTERM", () => process.exit(0))`;
  await deploy(web(name, { run: { command: [process.execPath, "-e", script] } }), host);
  const [{ port }] = (await running(name)) as [Instance];
  const child = Number(await (await fetch(`http://127.0.0.1:${port}/`)).text());
  expect(await isAlive(child)).toBe(true);
  await stage.kit.platform.services.stop(name, ada);
  await expect.poll(async () => names(await logOf(name)).at(-1)).toBe("stopped");
  expect(await isAlive(child)).toBe(false);
});

test("X-01: a service follows the backlog of its queue, within its bounds", async () => {
  const host = control();
  const name = newName();
  const work = queue(`work-${randomUUID().slice(0, 8)}`, {
    message: z.object({}),
    deadLetter: { after: 3, owner: "tests", runbook: "none", retention: "1d" },
  });
  const { queues, services } = stage.kit.platform;
  await using _ = await start(app({ work }), { platform: stage.kit.platform, workers: false });
  for (let n = 0; n < 25; n++) await work.send({});
  const target = { queue: work, backlogPerInstance: 10, oldestAge: "1h", downstream: "none" } as const;
  const scaling = { min: 1, max: 5, target, scaleOutCooldown: "0s", scaleInCooldown: "0s" } as const;
  await services.deploy(web(name, { scaling }), { ...ada, host });
  await expect.poll(async () => (await services.describe(name)).healthy).toBe(3);
  await queues.catalog.purge(await queues.catalog.get(defaultScope, work.name));
  await expect
    .poll(
      async () => (await services.describe(name)).instances.filter(({ state }) => state === "running").length,
    )
    .toBe(1);
  const scaled = (await logOf(name)).filter(({ event }) => event === "scaled").map(({ detail }) => detail);
  expect(scaled).toMatchObject([
    { from: 1, to: 3, by: "the rule", reason: "backlog", backlog: 25, backlogPerInstance: 25 },
    { from: 3, to: 2, by: "the rule", reason: "quiet", backlog: 0 },
    { from: 2, to: 1, by: "the rule", reason: "quiet", backlog: 0 },
  ]);
  await expect
    .poll(async () => (await services.describe(name)).decision)
    .toMatchObject({ action: "hold", reason: "steady", from: 1, to: 1, figures: { backlog: 0 } });
  await expect(services.scale(name, 6, ada)).rejects.toMatchObject({ code: "TUNTAS_SERVICE_COUNT" });
});

async function forkController(host: string): Promise<ChildProcess> {
  const { databaseUrl, schema } = stage.kit;
  const env = {
    ...process.env,
    DATABASE_URL: databaseUrl,
    SCHEMA: schema,
    HOST_NAME: host,
    OUTPUTS: outputs,
  };
  const child = fork(fixture("controller.fixture.mjs"), {
    env,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  stage.children.push(child);
  await once(child, "message");
  return child;
}

test("a controller that is killed leaves its instances running; the next adopts them, and replaces what has died meanwhile", async () => {
  const host = `machine-${randomUUID()}`;
  const name = newName();
  const first = await forkController(host);
  await deploy(web(name, { count: 2 }), host);
  const [kept, lost] = (await running(name)) as [Instance, Instance];
  first.kill("SIGKILL");
  await once(first, "exit");
  process.kill(lost.pid!, "SIGKILL");
  expect(await isAlive(kept.pid!)).toBe(true);
  control(host);
  const ids = async () =>
    (await running(name)).filter(({ health }) => health === "healthy").map(({ id }) => id);
  await expect.poll(async () => (await ids()).filter((id) => id !== lost.id).length).toBe(2);
  expect(await ids()).toContain(kept.id);
  const log = await logOf(name);
  const of = (id: string) => log.filter(({ instanceId }) => instanceId === id);
  expect(names(of(kept.id)).at(-1)).toBe("adopted");
  expect(of(lost.id).at(-1)).toMatchObject({ event: "stopped", detail: { stopReason: "lost" } });
});

test("only one process controls a machine; what the other writes is refused by the database", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name), host);
  const other = await stage.kit.another();
  const standby = runServices(other, { host, outputs });
  stage.controllers.unshift(standby);
  await deploy(web(name, { version: "2" }), host);
  expect([stage.controllers.at(-1)!.holds(), standby.holds()]).toEqual([true, false]);
  expect(await running(name)).toHaveLength(1);
});

test.each(["http", "tcp"] as const)(
  "a front passes %s on to healthy instances alone, and lets nothing fail while a revision replaces another",
  async (protocol) => {
    const host = control();
    const name = newName();
    await deploy(web(name, { count: 2, version: "1" }), host);
    const front = await openFront({ ...stage.kit.platform, service: name, port: 0, protocol });
    const answers = new Map<string, number>();
    let asking = true;
    // Over TCP a kept connection belongs to its instance; over HTTP it outlives it.
    const agent = new Agent({ keepAlive: protocol === "http" });
    const ask = async () => {
      while (asking) {
        const { version } = JSON.parse(await fetchBy(agent, front.port)) as { version: string };
        answers.set(version, (answers.get(version) ?? 0) + 1);
      }
    };
    const asked = Promise.all(Array.from({ length: 4 }, ask));
    expect(await deploy(web(name, { count: 2, version: "2" }), host)).toMatchObject({ state: "completed" });
    await expect.poll(() => answers.get("2") ?? 0).toBeGreaterThan(20);
    asking = false;
    await asked;
    expect([...answers.keys()].toSorted()).toEqual(["1", "2"]);
    agent.destroy();
    await front.close();
  },
);

test("a WebSocket goes through a front", async () => {
  const host = control();
  const name = newName();
  const script = `const s = require("http").createServer((_, r) => r.end()).listen(process.env.PORT); s.on("upgrade", (_, c) => { c.write("HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: echo\\r\\nConnection: Upgrade\\r\\n\\r\\n"); c.pipe(c); }); process.on("SIGTERM", () => process.exit(0))`;
  await deploy(
    web(name, {
      kind: "websocket",
      healthCheck: { tcp: true, interval: "500ms", timeout: "60s", retries: 3, startPeriod: "300s" },
      run: { command: [process.execPath, "-e", script] },
    }),
    host,
  );
  const front = await openFront({ ...stage.kit.platform, service: name, port: 0 });
  const asked = request({ port: front.port, headers: { connection: "Upgrade", upgrade: "echo" } }).end();
  const [, socket] = (await once(asked, "upgrade")) as [unknown, Socket];
  socket.write("hello");
  expect(String((await once(socket, "data"))[0])).toBe("hello");
  socket.destroy();
  await front.close();
});

test("a controller that ends in order stops its instances, and the next starts them again", async () => {
  const host = control();
  const name = newName();
  await deploy(web(name), host);
  const [{ pid }] = (await running(name)) as [Instance];
  await stage.controllers.pop()!.close();
  expect(await isAlive(pid!)).toBe(false);
  expect((await logOf(name)).at(-1)).toMatchObject({
    event: "stopped",
    detail: { stopReason: "controller", exit: "0" },
  });
  control(host);
  await expect.poll(async () => (await stage.kit.platform.services.describe(name)).healthy).toBe(1);
});
