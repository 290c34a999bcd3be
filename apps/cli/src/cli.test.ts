import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPlatform, poison, queue, start, worker, app, makeLog } from "tuntas";
import { z } from "zod";
import { commands } from "./commands/index.ts";
import { household, type Household } from "./household.fixture.ts";

let home: Household;
beforeAll(async () => void (home = await household()));
afterAll(() => home[Symbol.asyncDispose]());

test("a mistyped command or option names the nearest, and the exit status says that it was not understood", async () => {
  const typo = await home.run(["dlq", "replya"]);
  expect(typo).toMatchObject({ status: 2, stdout: "" });
  expect(typo.stderr).toBe(
    'TUNTAS_CLI_COMMAND: there is no command "dlq replya"; did you mean `tuntas dlq replay`?\nSee all commands with: tuntas help\n',
  );
  expect((await home.run(["queue", "list", "--jsno"])).stderr).toContain("did you mean --json?");
  // Nothing is confirmed where nothing is removed.
  expect((await home.run(["queue", "list", "--yess"])).stderr).not.toContain("did you mean");
  expect(await home.json(["queue", "show"])).toMatchObject({
    status: 2,
    document: { error: { code: "TUNTAS_CLI_USAGE", message: expect.stringContaining("QUEUE is missing") } },
  });
});

test("help has a line for every noun, lists a noun's commands, and shows one command with examples", async () => {
  const all = (await home.run([])).stdout;
  expect(all).toContain("tuntas help NOUN");
  const nouns = [...new Set(commands.map(({ name }) => name.split(" ")[0]!))].filter(
    (noun) => !["help", "version"].includes(noun),
  );
  const listed = [...all.matchAll(/^  (\S+)  +\S/gm)].map(([, noun]) => noun!);
  expect(listed.toSorted()).toEqual(nouns.toSorted());
  const lines = all.trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(50);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect((await home.run(["help", "dlq"])).stdout).not.toContain("queue list");
  for (const words of [["dlq"], ["dlq", "--help"]]) {
    const group = await home.run(words);
    expect(group).toMatchObject({ status: 0, stderr: "" });
    expect(group.stdout).toContain("Usage: tuntas dlq COMMAND");
  }
  const one = await home.run(["queue", "create", "--help"]);
  expect(one).toMatchObject({ status: 0 });
  expect(one.stdout).toMatch(/Usage: tuntas queue create QUEUE[^]*Examples:[^]*--receives-max 5/);
});

test("Q-22: a queue is created, shown, listed, paused, purged and deleted; what removes needs --yes", async () => {
  await home.run(["queue", "create", "order-work-dlq", "--retention", "14d"]);
  const settings = ["--visibility", "60s", "--dead-letter", "order-work-dlq", "--receives-max", "5"];
  expect(await home.run(["queue", "create", "order-work", ...settings])).toMatchObject({
    status: 0,
    stdout: "created order-work\n",
  });
  expect((await home.run(["queue", "create", "order-work", ...settings])).stdout).toContain("exists already");
  expect((await home.run(["queue", "create", "order-work", "--visibility", "61s"])).stderr).toContain(
    "TUNTAS_QUEUE_EXISTS",
  );
  expect((await home.json(["queue", "show", "order-work"])).document).toMatchObject({
    visibilitySeconds: 60,
    deadLetterName: "order-work-dlq",
    receivesMax: 5,
    owner: null,
  });
  expect((await home.json(["queue", "list", "--prefix", "order"])).document).toHaveLength(2);

  await home.run(["message", "send", "order-work", "-"], "from a pipe");
  expect((await home.json(["message", "peek", "order-work"])).document).toMatchObject([
    { body: "from a pipe", state: "ready" },
  ]);
  const why = ["--reason", "a test", "--yes"];
  for (const verb of ["pause", "resume", "purge", "delete"])
    expect(await home.run(["queue", verb, "order-work", "--yes"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--reason is required"),
    });
  await home.run(["queue", "pause", "order-work", "--actor", "ada", "--reason", "the provider is down"]);
  expect((await home.run(["message", "receive", "order-work"])).status).toBe(1);
  await home.run(["queue", "resume", "order-work", "--reason", "it is back"]);
  expect((await home.json(["message", "receive", "order-work"])).document).toMatchObject([
    { body: "from a pipe", receives: 1 },
  ]);

  expect(await home.run(["queue", "purge", "order-work"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("Run it again with --yes"),
  });
  expect((await home.json(["queue", "purge", "order-work", ...why])).document).toMatchObject({ count: 1 });
  expect((await home.run(["queue", "purge", "order-work", ...why])).stderr).toContain(
    "TUNTAS_QUEUE_PURGED_LATELY",
  );
  expect((await home.run(["queue", "delete", "order-work", ...why])).status).toBe(0);
  expect((await home.run(["queue", "show", "order-work"])).stderr).toMatch(
    /^TUNTAS_QUEUE_MISSING: queue order-work does not exist\n.*\n$/,
  );
});

test("Q-15, Q-16, Q-18, Q-20, W-41: dead letters are listed, explained, refused, replayed and rejected", async () => {
  const orders = queue("orders", {
    message: z.object({ id: z.string() }),
    deadLetter: {
      after: 1,
      owner: "orders-team",
      runbook: "runbooks/orders.md",
      retention: "14d",
      replayForbidden: { CASE_CLOSED: "closed case" },
    },
  });
  let left = 2;
  let finish!: () => void;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const work = worker(orders, {
    idempotencyKey: "none",
    timeout: "5s",
    handle({ id }) {
      if (--left === 0) finish();
      return poison({ code: id === "closed" ? "CASE_CLOSED" : "DB_DOWN" });
    },
  });
  const platform = await openPlatform({ databaseUrl: home.url, log: makeLog() });
  const running = await start(app({ work }), { platform });
  await orders.send({ id: "closed" });
  const { messageId } = await orders.send({ id: "open" });
  await finished;
  await running.stop();
  // They die when somebody asks for them again.
  const { catalog, receiver } = platform.queues;
  await receiver.receive(await catalog.get({ account: "000000000000", region: "us-east-1" }, "orders"), {
    countMax: 10,
    waitMs: 0,
    visibilitySeconds: 30,
  });
  await platform.close();

  const shown = (await home.run(["queue", "show", "orders"])).stdout;
  expect(shown).toMatch(/^retention +4d$/m);
  expect(shown).toMatch(/^poison messages +received until it is dead \(exhaust\)$/m);
  expect(shown).toMatch(/^replay forbidden +CASE_CLOSED \(closed case\)$/m);
  expect((await home.run(["queue", "show", "orders-dlq"])).stdout).not.toContain("replay forbidden");
  expect((await home.json(["queue", "show", "orders"])).document).toMatchObject({
    replayForbidden: { CASE_CLOSED: "closed case" },
  });
  const list = await home.run(["dlq", "list"]);
  expect(list.status).toBe(1);
  expect(list.stdout).toMatch(/DB_DOWN.*orders-team.*runbooks\/orders\.md/);
  expect((await home.run(["message", "explain", messageId])).stdout).toContain(
    "DEAD: it died in orders and lies in orders-dlq after 1 failed attempt, the last with DB_DOWN",
  );

  const refused = await home.run(["dlq", "replay", "--queue", "orders", "--reason", "x"]);
  expect(refused).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/TUNTAS_OPERATION_FORBIDDEN: .*closed case/),
  });
  expect((await home.run(["dlq", "replay", "--reason", "x"])).status).toBe(2);
  const replay = [
    "dlq",
    "replay",
    "--queue",
    "orders",
    "--code",
    "DB_DOWN",
    "--reason",
    "it is back",
    "--actor",
    "ada",
  ];
  expect((await home.json([...replay, "--dry-run"])).document).toMatchObject({
    status: "planned",
    selected: 1,
    moved: 0,
  });
  expect((await home.json(replay)).document).toMatchObject({ status: "completed", moved: 1 });
  expect((await home.run(replay)).status).toBe(1);
  expect((await home.run(["message", "show", messageId])).stdout).toMatch(
    /NO_CONSUMER[^]*operation\.replay by ada: it is back/,
  );

  const reject = ["dlq", "reject", "--queue", "orders", "--reason", "too late"];
  expect((await home.run(reject)).status).toBe(2);
  expect(await home.run([...reject, "--yes"])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("rejected 1 of 1 message"),
  });
  expect(await home.run(["dlq", "list"])).toMatchObject({
    status: 0,
    stdout: "nothing waits for a person\n",
  });
});

test("Q-20: queue redrive moves a whole dead-letter queue, on the record", async () => {
  await home.run(["queue", "create", "a-dlq"]);
  await home.run([
    "queue",
    "create",
    "a",
    "--visibility",
    "0s",
    "--dead-letter",
    "a-dlq",
    "--receives-max",
    "1",
  ]);
  await home.run(["message", "send", "a", "x"]);
  await home.run(["message", "receive", "a"]);
  // With a visibility timeout of 0 it is back at once; received too often, it goes where it belongs.
  await home.run(["message", "receive", "a", "--wait", "2s"]);
  expect((await home.json(["queue", "show", "a-dlq"])).document).toMatchObject({ ready: 1 });
  expect(await home.json(["queue", "redrive", "a-dlq", "--actor", "ada"])).toMatchObject({
    status: 0,
    document: { status: "COMPLETED", moved: 1 },
  });
  expect((await home.json(["queue", "show", "a"])).document).toMatchObject({ ready: 1 });
});

test("Q-09: queue diagnose answers 0 where there is no sign of poison", async () => {
  await home.run(["queue", "create", "calm"]);
  expect(await home.run(["queue", "diagnose", "calm", "--window", "100ms"])).toMatchObject({
    status: 0,
    stdout: "no sign of poison in calm\n",
  });
});

test("doctor names undeclared queues, a taken port, and a database that is not there", async () => {
  await home.run(["queue", "create", "stray"]);
  const { status, document } = await home.json(["doctor"]);
  expect(status).toBe(0);
  expect(document.findings.find((finding: any) => finding.check === "owners")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("stray"),
  });

  const other = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const taken = await home.json(["doctor", "--port", String(port)]);
  other.close();
  expect(taken.status).toBe(1);
  expect(taken.document.findings).toContainEqual(
    expect.objectContaining({
      check: "port",
      status: "problem",
      text: `port ${port} is taken by another process`,
    }),
  );
});
