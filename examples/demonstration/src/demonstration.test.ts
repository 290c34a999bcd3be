// `npm start` at a terminal, as a person meets it: something in every state, and keys that do what they say.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHouse, type OrdersHouse } from "../../orders/src/processes.fixture.ts";

const script = fileURLToPath(new URL("../../../scripts/start.mjs", import.meta.url));
/** util-linux' script gives a process a terminal. */
const terminal = "/usr/bin/script";

interface Terminal {
  readonly child: ChildProcess;
  text(): string;
  /** The first part of what it says, now or later, that fits. */
  says(what: RegExp): Promise<RegExpExecArray>;
  press(key: string): void;
  readonly ended: Promise<number | null>;
}

function openTerminal(env: Readonly<Record<string, string>>): Terminal {
  const { npm_command: _, npm_lifecycle_event: __, TUNTAS_LOG_LEVEL: ___, ...own } = process.env;
  const child = spawn(terminal, ["-qfec", `${process.execPath} ${script}`, "/dev/null"], {
    env: { ...own, PORT: "0", TUNTAS_PORT: "0", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const looks = new Set<() => void>();
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
    for (const look of looks) look();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const says = (what: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = what.exec(text);
        if (!found) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      look();
      void ended.then(() => reject(new Error(`it ended: ${text}`)));
    });
  return { child, text: () => text, says, press: (key) => void child.stdin.write(key), ended };
}

const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};

describe.skipIf(!existsSync(terminal))("the demonstration at a terminal", { timeout: 480_000 }, () => {
  let house: OrdersHouse;
  let shown: Terminal;
  let url: string;
  beforeAll(async () => {
    house = await openHouse();
    shown = openTerminal({ DATABASE_URL: house.url });
    url = (await shown.says(/Console +(http:\/\/\S+\/)console\//))[1]!;
  }, 180_000);
  afterAll(async () => {
    shown?.child.kill("SIGKILL");
    await house?.[Symbol.asyncDispose]();
  });

  const read = async (path: string): Promise<any> => (await fetch(`${url}console/api/${path}`)).json();
  const poll = (what: () => unknown) => expect.poll(what, { timeout: 420_000, interval: 500 });

  test("a handful of lines, and nothing of the day's trouble", async () => {
    await shown.says(/Keys +k kills a worker/);
    expect(shown.text().split("\n").length).toBeLessThan(20);
    expect(shown.text()).not.toMatch(/"level"|Error/);
  });

  test("something waits for a person in every room", async () => {
    const kinds = async () => {
      const { decisions } = await read("home");
      return [...new Set((decisions as { kind: string }[]).map(({ kind }) => kind))];
    };
    await poll(kinds).toEqual(
      expect.arrayContaining([
        "approval",
        "dead-letters",
        "effect",
        "operation",
        "queue",
        "execution",
        "schedule",
        "stream",
        "batch",
        "alarm",
      ]),
    );
  });

  test("orders are done, parcels are packed and wait, payments are dead and quarantined, slots are reserved", async () => {
    await poll(async () =>
      (await house.query("select status from orders.orders")).map((row) => row.status),
    ).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
    const places = async () =>
      ((await read("dead.groups")).groups as { place: string }[]).map(({ place }) => place).toSorted();
    await poll(places).toEqual(["dead", "dead", "quarantined"]);
    expect((await read("queue.messages?queue=parcel-packing&state=delayed")).items).toHaveLength(1);
    expect((await read("reservations")).items.map((row: { kind: string }) => row.kind)).toEqual(
      expect.arrayContaining(["case-number", "delivery-slot"]),
    );
    expect((await read("leases")).items).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: "nightly-ledger-close" })]),
    );
    expect((await read("outbox.items")).items).toEqual(
      expect.arrayContaining([expect.objectContaining({ key: "ord-4101" })]),
    );
    const { items } = await read("executions");
    expect(items.map(({ status }: { status: string }) => status)).toEqual(
      expect.arrayContaining(["RUNNING", "FAILED"]),
    );
  });

  test("streams are read on time, have stopped, have parked; jobs are done, failed, run, wait, are paused", async () => {
    const found = async (path: string, of: (answer: any) => readonly string[]) =>
      [...new Set(of(await read(path)))].toSorted();
    const standings = (all: readonly any[]) => all.map(({ standing }) => standing);
    await poll(() => found("streams", standings)).toEqual(["nobody reads", "on time", "stopped"]);
    const readersOf = (stream: string) =>
      found(`stream?stream=${stream}`, ({ readers }) => standings(readers));
    await poll(() => readersOf("order-events")).toEqual(["parked", "stopped"]);
    await poll(() => readersOf("page-views")).toEqual(["behind", "nobody reads"]);
    await poll(() => found("batch.jobs", ({ items }) => items.map((each: any) => each.state))).toEqual([
      "completed",
      "failed",
      "paused",
      "running",
      "waiting",
    ]);
  });

  test("? lists the keys; l sends a burst; p sends poison that dies alone", async () => {
    shown.press("?");
    await shown.says(/p {2}send a poison message/);
    shown.press("l");
    await shown.says(/500 orders were accepted in/);
    shown.press("p");
    await shown.says(/Sent a poison message/);
    const dead = async () => (await read("queue?queue=order-work-dlq")).survey.ready;
    await poll(dead).toBe(1);
    const left = `select count(*)::int as n from orders.orders where status <> 'COMPLETED'`;
    await poll(async () => (await house.query(left))[0].n).toBe(0);
  });

  test("k kills a worker process while it works; another one takes its work over", async () => {
    shown.press("k");
    const [, pid] = await shown.says(/Killed packer-\d \(process (\d+)\) with \d+ parcels/);
    await poll(() => isAlive(Number(pid))).toBe(false);
    await shown.says(/parcels were taken over [\d.]+ s later/);
  });

  test("q ends it, and leaves no process behind", async () => {
    const pids = ((await read("processes")) as { pid: number }[]).map(({ pid }) => pid);
    expect(pids.length).toBeGreaterThan(1);
    shown.press("q");
    expect(await shown.ended).toBe(0);
    await poll(() => pids.filter(isAlive)).toEqual([]);
  });
});
