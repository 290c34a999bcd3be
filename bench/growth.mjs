// How cost grows: with queues, worker processes, messages that lie ready and executions that wait; and what starting and being
// idle cost. Writes docs/benchmarks/README.md and its pictures.
//
//   npm run bench:growth -- [--messages 100000] [--most 10000000] [--queues 10000] [--executions 100000] [--workers 8]
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { format, resolveConfig } from "prettier";
import { app, openPlatform, start } from "../lib/dist/index.js";
import { cpuSecondsOf, load, memoryMbOf, serverCpuSeconds } from "./parts/machine.mjs";
import { drawLines } from "./parts/picture.mjs";
import { makeQueue, quiet } from "./parts/queue.mjs";
import { openServer } from "./parts/server.mjs";

const option = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: {
    messages: option("100000"),
    most: option("10000000"),
    queues: option("10000"),
    executions: option("100000"),
    workers: option("8"),
  },
});
const [messages, most, queuesMost, executionsMost, workersMost] = [
  values.messages,
  values.most,
  values.queues,
  values.executions,
  values.workers,
].map(Number);
process.env.TUNTAS_LOG_LEVEL ??= "silent";
const scope = { account: "000000000000", region: "us-east-1" };
const folder = fileURLToPath(new URL("../docs/benchmarks/", import.meta.url));
const drainerFile = fileURLToPath(new URL("./parts/drainer.mjs", import.meta.url));

const upTo = (most, from = 10, by = 10) => {
  const steps = [];
  for (let n = from; n <= most; n *= by) steps.push(n);
  return steps;
};

/** Runs `work` on a server and platform of its own. */
async function onFresh(work) {
  const server = await openServer();
  const platform = await openPlatform({ databaseUrl: server.url, name: "bench" });
  try {
    return await work({ server, platform });
  } finally {
    await platform.close();
    await server.close();
  }
}

/** What `work` did: items a second, and the CPU of process and server for each. */
async function measured({ server }, count, work) {
  const [begun, cpu, ofServer] = [performance.now(), process.cpuUsage(), serverCpuSeconds(server.postmaster)];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: count / ((performance.now() - begun) / 1000),
    processUs: (user + system) / count,
    serverUs: ((serverCpuSeconds(server.postmaster) - ofServer) / count) * 1e6,
  };
}

async function inParallel(width, count, work) {
  let next = 0;
  const hand = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: width }, hand));
}

const message = (n) => ({
  messageId: crypto.randomUUID(),
  body: JSON.stringify({ n, text: "x".repeat(150) }),
});

/** Sends, receives and deletes over that many queues, 16 at a time. */
async function withQueues(count) {
  return onFresh(async (world) => {
    const { catalog, sender, receiver, receipts } = world.platform.queues;
    const records = [];
    await inParallel(
      8,
      count,
      async (n) => void records.push((await catalog.create(scope, `q${n}`, {})).queue),
    );
    const { encodeReceipt } = await import("../lib/dist/queue/index.js");
    const total = Math.min(messages, 10_000);
    const figures = await measured(world, total, () =>
      inParallel(16, total, async (n) => {
        const queue = records[(n * 7919) % count];
        await sender.send(queue, message(n), "bench");
        const got = await receiver.receive(queue, { countMax: 1, waitMs: 0, visibilitySeconds: null });
        for (const each of got) await receipts.delete(queue, encodeReceipt(each));
      }),
    );
    return { ...figures, ...(await idle(world)) };
  });
}

/** By hand: what is measured is the draining, and a million sends take minutes. */
async function fill({ server }, count) {
  for (let left = count; left > 0; left -= 500_000)
    await server.ask(
      `with m as (insert into tuntas.message (message_id, sent_at, sender, body)
         select gen_random_uuid(), now(), 'bench', '{"n":1,"text":"' || repeat('x', 150) || '"}' from generate_series(1, $1) returning id, sent_at)
       insert into tuntas.ready (queue_id, id, sent_at) select (select id from tuntas.queue where name = 'bench'), id, sent_at from m`,
      [Math.min(left, 500_000)],
    );
  await server.ask("vacuum analyze");
}

/** Worker processes of a queue that is paused, so that nothing is handled outside the measured time. */
async function openDrainers({ server, platform }, workers) {
  const bench = makeQueue("bench");
  await (await start(app({ bench }), { platform, workers: false, log: quiet })).stop();
  const { catalog } = platform.queues;
  const queue = await catalog.get(scope, "bench");
  await catalog.pause(queue, "bench");
  const env = { ...process.env, DATABASE_URL: server.url };
  const children = Array.from({ length: workers }, () => fork(drainerFile, { env }));
  await Promise.all(children.map((each) => once(each, "message")));
  const handledBy = async (each) => {
    each.send("figures");
    return (await once(each, "message"))[0].handled;
  };
  const handled = async () => sum(await Promise.all(children.map(handledBy)));
  return {
    cpuSeconds: () => sum(children.map(({ pid }) => cpuSecondsOf(pid))),
    /** Lets them handle at least so many. */
    async drain(count) {
      const before = await handled();
      await catalog.resume(queue, "bench");
      while ((await handled()) - before < count) await pause(20);
      await catalog.pause(queue, "bench");
    },
    close: () => children.forEach((each) => each.kill()),
  };
}

const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
// Each process: what it compiles in its first second is a quarter of a second of its processor.
const warmUp = 10_000;

/** Some worker processes drain from a queue in which `count` lie; what each of up to `messages` costs. */
const draining = (workers, count) =>
  onFresh(async (world) => {
    const drainers = await openDrainers(world, workers);
    await fill(world, warmUp * workers);
    await drainers.drain(warmUp * workers);
    await fill(world, count);
    const drained = Math.min(messages, count);
    const before = drainers.cpuSeconds();
    const result = await measured(world, drained, () => drainers.drain(drained));
    const processUs = ((drainers.cpuSeconds() - before) / drained) * 1e6;
    drainers.close();
    return { ...result, processUs };
  });

const waiting = JSON.stringify({ StartAt: "S", States: { S: { Type: "Wait", Seconds: 86_400, End: true } } });

/** Starts executions that wait; then what the engine costs while they do. */
async function withExecutions(count) {
  return onFresh(async (world) => {
    const { machines, executions } = world.platform.workflows;
    await machines.create(scope, {
      name: "w",
      type: "STANDARD",
      definition: waiting,
      roleArn: "arn:aws:iam::000000000000:role/x",
      tags: {},
      publish: false,
    });
    const machine = await machines.find(scope, "w");
    const target = { machine, versionArn: null, aliasArn: null };
    const started = await measured(world, count, () =>
      inParallel(200, count, (n) => executions.start({ target, name: `e${n}`, input: "{}" })),
    );
    return { ...started, ...(await idle(world)) };
  });
}

const commits = "select xact_commit::float8 as n from pg_stat_database where datname = current_database()";

/** Commits a second and processor time while nothing happens; the sampling of figures is part of it. */
async function idle({ server }) {
  // A session that falls idle counts its last commits up to ten seconds late.
  await pause(12_000);
  const seconds = 20;
  const [before] = await server.ask(commits);
  const [cpu, ofServer] = [process.cpuUsage(), serverCpuSeconds(server.postmaster)];
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(cpu);
  const serverShare = (serverCpuSeconds(server.postmaster) - ofServer) / seconds;
  const [after] = await server.ask(commits);
  return {
    commitsPerSecond: (after.n - before.n) / seconds,
    processShare: (user + system) / 1e6 / seconds,
    serverShare,
  };
}

/** A whole engine in a process of its own, on a database that it has met before. */
async function starting() {
  return onFresh(async ({ server }) => {
    const env = { ...process.env, DATABASE_URL: server.url };
    const times = [];
    let memoryMb = 0;
    for (let n = 0; n < 5; n++) {
      const begun = performance.now();
      const child = fork(drainerFile, { env });
      await once(child, "message");
      times.push((performance.now() - begun) / 1000);
      if (n === 4) {
        await pause(15_000);
        memoryMb = memoryMbOf(child.pid);
      }
      child.kill();
      await once(child, "exit");
    }
    return { seconds: times.toSorted((a, b) => a - b)[2], memoryMb };
  });
}

const rounded = (n) => (n >= 100 ? Math.round(n).toLocaleString("en") : n.toFixed(1));
const table = (head, rows) =>
  [
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---:").join(" | ")} |`,
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");

/** What the engine costs while nothing happens. */
const whileIdle = [
  ["commits/s, idle", (f) => f.commitsPerSecond],
  ["process, idle, %", (f) => f.processShare * 100],
  ["server, idle, %", (f) => f.serverShare * 100],
];

/** One kind of growth, step by step, as a section with its table and picture. */
async function section({ name, title, says, xLabel, steps, run, more = [] }) {
  const rows = [];
  for (const n of steps) {
    const figures = { ...(await run(n)), load: load() };
    console.log(title, n, figures);
    rows.push([n, figures]);
  }
  const picture = drawLines({
    title,
    xLabel,
    yLabel: "processor time for each, us",
    xs: rows.map(([n]) => n),
    series: [
      { name: "process", values: rows.map(([, f]) => f.processUs) },
      { name: "server", values: rows.map(([, f]) => f.serverUs) },
    ],
  });
  writeFileSync(`${folder}${name}.svg`, picture);
  const head = [xLabel, "a second", "process, us", "server, us", ...more.map(([label]) => label), "load"];
  const lines = rows.map(([n, f]) => [
    n.toLocaleString("en"),
    rounded(f.perSecond),
    rounded(f.processUs),
    rounded(f.serverUs),
    ...more.map(([, of]) => rounded(of(f))),
    f.load,
  ]);
  return `## ${title}\n\n${says}\n\n${table(head, lines)}\n\n![${title}](${name}.svg)\n`;
}

const sections = [
  {
    name: "queues",
    title: "Queues",
    says: "A send, a receive and a delete of one message over that many queues in turn, 16 at a time; and what the engine does afterwards, when nothing happens.",
    xLabel: "queues",
    steps: upTo(queuesMost),
    run: withQueues,
    more: whileIdle,
  },
  {
    name: "workers",
    title: "Worker processes",
    says: `${messages.toLocaleString("en")} messages with a handler that does nothing, drained by that many processes. All share the processors of this machine with the server.`,
    xLabel: "processes",
    steps: upTo(workersMost, 1, 2),
    run: (workers) => draining(workers, messages * 2),
  },
  {
    name: "executions",
    title: "Executions that wait",
    says: "Executions started, 200 at a time, that then wait for a day; and what the engine does meanwhile.",
    xLabel: "executions",
    steps: upTo(executionsMost, 1000),
    run: withExecutions,
    more: whileIdle,
  },
  {
    name: "ready",
    title: "Messages that lie ready",
    says: `One worker process drains up to ${messages.toLocaleString("en")} from a queue in which that many lie.`,
    xLabel: "messages",
    steps: upTo(most, 10_000),
    run: (count) => draining(1, count),
  },
];

const options = Object.entries(values).map(([name, value]) => `--${name} ${value}`);
const style = { ...(await resolveConfig(folder)), parser: "markdown" };

async function writePage({ started, version, parts, minutes }) {
  const text = `# How cost grows

\`npm run bench:growth -- ${options.join(" ")}\` wrote this page in ${minutes} minutes. Node ${process.version}, PostgreSQL ${version}, \`synchronous_commit=on\`, ${cpus().length} processors, which
others used as well: the load stands beside each row (it includes the benchmark's own processes). So read the processor
time of process and server for each item, which others change little, rather than the rates.

From the start of a process to a worker that is ready, on a database that was used before: ${started.seconds.toFixed(2)} s (median of 5, load ${started.load}).
Its memory after 15 idle seconds: ${Math.round(started.memoryMb)} MB.

${parts.join("\n")}`;
  writeFileSync(`${folder}README.md`, await format(text, style));
}

mkdirSync(folder, { recursive: true });
const begunMs = performance.now();
const version = await onFresh(async ({ server }) => server.version);
const started = { ...(await starting()), load: load() };
const parts = [];
// Written after each section: what was measured is not lost with a run that is stopped.
for (const each of sections) {
  parts.push(await section(each));
  const minutes = ((performance.now() - begunMs) / 60_000).toFixed(1);
  await writePage({ started, version, parts, minutes });
}
process.exit(0);
