import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { alarm } from "../alarm/declaration.ts";
import { defaultScope } from "../queue/contract.ts";
import { testPlatform, type TestPlatform } from "../testing/index.ts";

const fixture = fileURLToPath(new URL("watch.fixture.mjs", import.meta.url));

const children: ChildProcess[] = [];
afterEach(() => children.forEach((child) => child.kill("SIGKILL")));

async function watcher({ databaseUrl, schema }: TestPlatform): Promise<{ child: ChildProcess; id: string }> {
  const child = spawn(process.execPath, [fixture, databaseUrl, schema], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TUNTAS_LOG_LEVEL: "silent" },
  });
  children.push(child);
  const [data] = (await once(child.stdout!, "data")) as [Buffer];
  return { child, id: data.toString().trim() };
}

const holderOf = async ({ platform: { database }, schema }: TestPlatform): Promise<string | null> => {
  const text = `select process_id::text as id from ${schema}.duty where name = 'sampling'`;
  return database.transaction(async (tx) => (await tx.client.query(text)).rows[0]?.id ?? null);
};

test.each(["SIGKILL", "SIGTERM"] as const)(
  "one process of all samples; after its %s another one takes over, and says from when to when nobody looked",
  async (signal) => {
    await using kit = await testPlatform({ watches: false });
    const first = await watcher(kit);
    const patient = { interval: 100 };
    await expect.poll(() => holderOf(kit), patient).toBe(first.id);
    const second = await watcher(kit);
    expect(await holderOf(kit)).toBe(first.id);
    first.child.kill(signal);
    await expect.poll(() => holderOf(kit), patient).toBe(second.id);
    second.child.kill("SIGKILL");
    // Its end is noticed by who lives; nobody looks for a minute.
    await expect.poll(() => holderOf(kit), patient).toBe(null);
    await kit.advance(60_000);
    const third = await watcher(kit);
    await expect.poll(() => holderOf(kit), patient).toBe(third.id);
    const lastGap = async () => {
      const nowMs = await kit.platform.series.nowMs();
      const gaps = await kit.platform.series.marks({ fromMs: nowMs - 600_000, toMs: nowMs + 1000 });
      return gaps.at(-1);
    };
    await expect.poll(lastGap, patient).toMatchObject({ kind: "gap", subject: "sampling" });
    const gap = (await lastGap())!;
    expect(gap.untilMs! - gap.atMs).toBeGreaterThan(50_000);
    third.child.kill("SIGTERM");
    await once(third.child, "close");
  },
);

test("the alarms go on after the death of the process that evaluated them", async () => {
  await using kit = await testPlatform({ watches: false });
  const { alarms, queues } = kit.platform;
  const waits = alarm("something-waits", {
    metric: { name: "tuntas_queue_depth", labels: { state: "ready", queue: "waits" }, statistic: "last" },
    when: { above: 0 },
    of: [1, 1],
    missing: "ignore",
    period: "10s",
    owner: "team",
    runbook: "r.md",
    notify: [],
  });
  await alarms.declare("test", [waits]);
  const first = await watcher(kit);
  const patient = { interval: 200 };
  await expect.poll(() => holderOf(kit), patient).toBe(first.id);
  const second = await watcher(kit);
  first.child.kill("SIGKILL");
  await expect.poll(() => holderOf(kit), patient).toBe(second.id);
  const { queue } = await queues.catalog.create(defaultScope, "waits", {});
  await queues.sender.send(queue, { messageId: crypto.randomUUID(), body: "x" }, defaultScope.account);
  await expect
    .poll(
      async () =>
        (await alarms.list()).find(({ name, state }) => name === "something-waits" && state === "ALARM"),
      patient,
    )
    .toMatchObject({ subject: "", value: 1 });
  second.child.kill("SIGKILL");
  await once(second.child, "close");
});
