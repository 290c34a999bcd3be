// What strikes while everything works. A fault that lasts goes on while others strike; what it interrupted of a worker is
// noted with its process, and what a service owes is measured until it answers again.
import { setTimeout as pause } from "node:timers/promises";
import type { Running, Server } from "../cases/processes.ts";
import { onDatabase } from "../cases/processes.ts";
import type { Random } from "../fault/random.ts";
import type { Orders, OrderWorker } from "./orders.ts";
import type { End } from "./record.ts";

export interface Stage {
  readonly server: Server;
  readonly orders: Orders;
  /** The processes of case activation; none where it does not run. */
  readonly casesApi: Running | undefined;
  readonly caseWorkers: readonly Running[];
  /** Whether the process has begun to work: a kill of one that has not interrupts nothing, and on a busy machine none would ever begin. */
  readonly isUp: (pid: number) => boolean;
  readonly ends: End[];
  /** What lasts beyond its strike. */
  readonly lasting: Set<Promise<unknown>>;
  /** How long it took until orders were accepted again, by kind. */
  readonly outagesMs: Map<string, number[]>;
}

export interface Fault {
  readonly name: string;
  /** The group that a command may choose. */
  readonly kind: "kill" | "freeze" | "network" | "session" | "postgres" | "supervisor";
  /** How often it strikes, beside the others. */
  readonly weight: number;
  readonly needs?: (stage: Stage) => boolean;
  strike(stage: Stage, random: Random): Promise<void> | void;
}

/** Beyond this every lease has run out: 15 s, and a second until somebody looks. */
const pastLeaseMs = { least: 17_000, most: 25_000 };

function last(stage: Stage, work: Promise<unknown>): void {
  stage.lasting.add(work);
  void work.finally(() => stage.lasting.delete(work));
}

const workersUp = ({ orders, isUp }: Stage): OrderWorker[] =>
  orders.workers.filter(({ process }) => isUp(process.pid));

const up = ({ isUp }: Stage, all: readonly (Running | undefined)[]): Running[] =>
  all.filter((each) => each !== undefined && isUp(each.pid)) as Running[];

function interrupt(stage: Stage, kind: string, { process }: OrderWorker): void {
  stage.ends.push({ pid: process.pid, kind, atMs: performance.now() });
}

/** Measures until the next order is accepted. */
function outage(stage: Stage, kind: string): void {
  const beganMs = performance.now();
  const wait = async () => {
    while (stage.orders.acceptedAtMs() <= beganMs) await pause(5);
    const waits = stage.outagesMs.get(kind) ?? [];
    waits.push(stage.orders.acceptedAtMs() - beganMs);
    stage.outagesMs.set(kind, waits);
  };
  // Whoever ends the load ends the waiting.
  last(stage, Promise.race([wait(), pause(60_000, undefined, { ref: false })]));
}

const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
  where pid <> pg_backend_pid() and application_name like 'tuntas%' order by random() limit $1`;

const frozen = new Set<OrderWorker>();
let crashedAtMs = -Infinity;

export const faults: readonly Fault[] = [
  {
    name: "a worker is killed",
    kind: "kill",
    weight: 30,
    needs: (stage) => workersUp(stage).length > 0,
    strike(stage, random) {
      const worker = random.pick(workersUp(stage));
      interrupt(stage, this.name, worker);
      worker.process.kill();
    },
  },
  {
    name: "the gateway is killed",
    kind: "kill",
    weight: 8,
    needs: (stage) => up(stage, [stage.orders.gateway]).length > 0,
    strike(stage) {
      stage.orders.gateway.kill();
      outage(stage, this.name);
    },
  },
  {
    name: "a worker of case activation is killed",
    kind: "kill",
    weight: 12,
    needs: (stage) => up(stage, stage.caseWorkers).length > 0,
    strike: (stage, random) => random.pick(up(stage, stage.caseWorkers)).kill(),
  },
  {
    name: "the API of case activation is killed",
    kind: "kill",
    weight: 6,
    needs: (stage) => up(stage, [stage.casesApi]).length > 0,
    strike: ({ casesApi }) => casesApi!.kill(),
  },
  {
    name: "a worker is frozen for a moment",
    kind: "freeze",
    weight: 8,
    strike: (stage, random) =>
      last(stage, random.pick(stage.orders.workers).process.freeze(random.between(200, 3000))),
  },
  {
    name: "a worker is frozen past its lease and goes on",
    kind: "freeze",
    weight: 3,
    // One at a time: somebody has to be left who takes over.
    needs: (stage) => frozen.size === 0 && workersUp(stage).length > 0,
    strike(stage, random) {
      const worker = random.pick(workersUp(stage));
      interrupt(stage, this.name, worker);
      frozen.add(worker);
      const thawed = worker.process.freeze(random.between(pastLeaseMs.least, pastLeaseMs.most));
      last(
        stage,
        thawed.finally(() => frozen.delete(worker)),
      );
    },
  },
  {
    name: "the network of a worker is cut for a while",
    kind: "network",
    weight: 6,
    strike(stage, random) {
      random.pick(stage.orders.workers).wire.partition(random.between(200, 5000));
    },
  },
  {
    name: "all connections of a worker are lost",
    kind: "network",
    weight: 8,
    strike: (stage, random) => random.pick(stage.orders.workers).wire.reset(),
  },
  {
    name: "a connection is lost before its commit",
    kind: "network",
    weight: 6,
    strike: (stage, random) => void random.pick(stage.orders.workers).wire.cutNext("before commit"),
  },
  {
    name: "a connection is lost after its commit, before the answer",
    kind: "network",
    weight: 6,
    strike: (stage, random) => void random.pick(stage.orders.workers).wire.cutNext("after commit"),
  },
  {
    name: "sessions are terminated",
    kind: "session",
    weight: 10,
    strike: ({ server }, random) =>
      onDatabase(server.url, async (client) => void (await client.query(terminate, [random.between(1, 5)]))),
  },
  {
    name: "PostgreSQL crashes",
    kind: "postgres",
    weight: 3,
    // Once the system has come back from the crash before: of one that lies down nothing can be interrupted.
    needs: (stage) => stage.orders.acceptedAtMs() > crashedAtMs && workersUp(stage).length > 0,
    async strike(stage) {
      await stage.server.kill();
      crashedAtMs = performance.now();
      outage(stage, this.name);
    },
  },
  {
    name: "the supervisor is killed",
    kind: "supervisor",
    weight: 2,
    needs: ({ server }) => server.killSupervisor !== undefined,
    strike: ({ server }) => server.killSupervisor!(),
  },
];

/** One of those that can strike now, by their weights; waits until there is one. */
export async function pickFault(from: readonly Fault[], stage: Stage, random: Random): Promise<Fault> {
  const findAble = () => from.filter(({ needs }) => needs?.(stage) ?? true);
  let able = findAble();
  for (; able.length === 0; able = findAble()) await pause(20);
  let left = random.integer(able.reduce((sum, { weight }) => sum + weight, 0));
  return able.find(({ weight }) => (left -= weight) < 0)!;
}
