// Drills upon queues: a message that nobody can use, a worker that dies, a downstream that is slower than the visibility.
import { randomUUID } from "node:crypto";
import { start } from "tuntas";
import { startGateway } from "tuntas/gateway";
import { defaultScope } from "tuntas/queue";
import { checkAlarm, seen, lineOf, type Drill, type Stage } from "./drill.ts";
import drillApp, { drillWork, effectTable, receivesMax } from "./work.ts";

const worker = "worker.process.js";
const effectsOf = async ({ query }: Stage, id: string): Promise<number> =>
  (await query("select from drill.effect where id = $1", [id])).length;
const begunOf = (
  running: { readonly lines: readonly { readonly event?: string; readonly id?: unknown }[] },
  id: string,
) => running.lines.filter((line) => line.event === "work.begun" && line.id === id).length;

/** Sends from this process, whose workers do not work. */
async function sending<T>(stage: Stage, act: () => Promise<T>): Promise<T> {
  await stage.query(effectTable);
  await using _sender = await start(drillApp, { platform: stage.platform, workers: false });
  return await act();
}

export const poison: Drill = {
  does: "Sends a message that no attempt can use, among good ones.",
  lesson: "A bad message ends in the dead-letter queue by itself, aloud, and harms nobody else.",
  run: (stage) =>
    sending(stage, async () => {
      const { queues } = stage.platform;
      const running = stage.begin(worker);
      await running.line("service.ready");
      await drillWork.send({ id: "poison-1" });
      await drillWork.send({ id: "beside-1" });
      const only = { only: `${drillWork.name}-dlq`, search: "", after: "", limit: 1 };
      const dead = async () => (await queues.observer.survey(defaultScope, only))[0]?.ready ?? 0;
      const died = await seen(dead, (count) => count > 0);
      stage.check("it is tried so often", { expected: receivesMax, observed: begunOf(running, "poison-1") });
      stage.check("then it lies in the dead-letter queue", { expected: 1, observed: died });
      await drillWork.send({ id: "after-1" });
      await seen(
        () => effectsOf(stage, "after-1"),
        (count) => count > 0,
      );
      stage.check("the worker goes on: effects of a message beside it and of one after it", {
        expected: [1, 1],
        observed: [await effectsOf(stage, "beside-1"), await effectsOf(stage, "after-1")],
      });
      stage.check("and is the same process", {
        expected: "runs",
        observed: running.child.exitCode === null ? "runs" : "ended",
      });
      await checkAlarm(stage, "dead-letters");
    }),
};

const isBegun = ({ event, id }: { readonly event?: string; readonly id?: unknown }): boolean =>
  event === "work.begun" && id === "killed-1";

export const kill: Drill = {
  does: "Kills a worker with kill -9 between its effect and its commit.",
  lesson: "What was begun is taken over by another process, and takes place once.",
  run: (stage) =>
    sending(stage, async () => {
      const both = [stage.begin(worker), stage.begin(worker)] as const;
      for (const each of both) await each.line("service.ready");
      // Held no longer than it takes: a handler that cannot have its lock for three seconds has failed, and is tried again.
      const [first, second] = await stage.whileHeld("drill.effect", async () => {
        await drillWork.send({ id: "killed-1" });
        const begun = both.map(async (each, index) => {
          await each.line(isBegun);
          return [each, both[1 - index]!] as const;
        });
        const whoBegan = await Promise.race(begun);
        await whoBegan[0].kill();
        return whoBegan;
      });
      const killedAt = performance.now();
      const taken = await lineOf(second, isBegun);
      const tookMs = Math.round(performance.now() - killedAt);
      await seen(
        () => effectsOf(stage, "killed-1"),
        (count) => count > 0,
      );
      const ended = await first.ended;
      stage.check("the worker is killed", { expected: "SIGKILL", observed: ended.signal });
      stage.check("another process begins the message anew", {
        expected: "begun",
        observed: taken ? "begun" : "not begun",
      });
      stage.check("it takes place once", { expected: 1, observed: await effectsOf(stage, "killed-1") });
      stage.note("begun anew after ms", tookMs);
    }),
};

const visibilitySeconds = 1;
const downstreamMs = 2500;
const slowQueue = "drill-slow";

/** The gateway for the time of a drill, with a queue behind it. */
async function overTheWire(
  stage: Stage,
  act: (environment: Record<string, string>) => Promise<void>,
): Promise<void> {
  const { platform } = stage;
  await platform.queues.catalog.create(defaultScope, slowQueue, {});
  const gateway = await startGateway({ platform, port: 0, host: "127.0.0.1" });
  const address = `http://127.0.0.1:${gateway.port}`;
  try {
    await act({
      GATEWAY: address,
      QUEUE_URL: `${address}/${defaultScope.account}/${slowQueue}`,
      VISIBILITY_SECONDS: String(visibilitySeconds),
      DOWNSTREAM_MS: String(downstreamMs),
    });
  } finally {
    await gateway.close();
  }
}

export const slowDownstream: Drill = {
  does: "Has two consumers over the wire call a downstream that takes longer than the visibility timeout.",
  lesson:
    "The message is received twice and worked on twice; only its key keeps the effect single. Size the visibility to the p99.",
  run: (stage) =>
    overTheWire(stage, async (environment) => {
      await stage.query(effectTable);
      const { catalog, sender } = stage.platform.queues;
      const clients = [1, 2].map(() => stage.begin("client.process.js", environment));
      for (const client of clients) await client.line("service.ready");
      const queue = await catalog.get(defaultScope, slowQueue);
      await sender.send(queue, { messageId: randomUUID(), body: '{"id":"slow-1"}' }, "drill");
      const ended = () => clients.flatMap(({ lines }) => lines).filter(({ event }) => event === "work.ended");
      await seen(
        async () => ended().length,
        (count) => count >= 2,
      );
      const receives = clients.reduce((sum, client) => sum + begunOf(client, "slow-1"), 0);
      stage.check("it is received at least twice", {
        expected: "2 or more",
        observed: receives,
        ok: receives >= 2,
      });
      stage.check("its effect takes place once", { expected: 1, observed: await effectsOf(stage, "slow-1") });
      stage.check("once it was booked, then found to be a duplicate", {
        expected: ["created", "duplicate"],
        observed: [...new Set(ended().map(({ status }) => status))].toSorted(),
      });
      const longestMs = Math.max(...ended().map(({ durationMs }) => Number(durationMs)));
      stage.check("its latency is above the visibility timeout", {
        expected: `more than ${visibilitySeconds * 1000} ms`,
        observed: `${longestMs} ms`,
        ok: longestMs > visibilitySeconds * 1000,
      });
    }),
};
