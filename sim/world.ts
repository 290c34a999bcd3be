// A small company for one seed: three processes, each behind a wire of its own, the same work in all of them, and a
// record of what was promised to whom.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import {
  app,
  openPlatform,
  poison,
  queue,
  rejected,
  start,
  worker,
  type Platform,
  type RunningApp,
} from "tuntas";
import { add } from "tuntas/outbox";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openWire, type Wire } from "./fault/proxy.ts";
import type { Random } from "./fault/random.ts";

/** What the handler of a message does; each leaves one effect, save the last two. */
export const modes = ["tx", "write", "announce", "stumble", "hang", "reject", "poison"] as const;
export type Mode = (typeof modes)[number];

const work = z.object({ id: z.string(), mode: z.enum(modes) });
const followUp = z.object({ id: z.string() });
const inOrder = z.object({ id: z.string(), group: z.string(), place: z.number() });

const deadLetter = { after: 1000, owner: "simulation", runbook: "sim/README.md", retention: "14d" } as const;

export const scope = { account: "000000000000", region: "us-east-1" };

const definition = JSON.stringify({
  StartAt: "Ask",
  States: {
    Ask: {
      Type: "Task",
      Resource: "arn:aws:states:::sqs:sendMessage",
      Parameters: {
        QueueUrl: "http://localhost/000000000000/follow-up",
        MessageBody: { "id.$": "$.id" },
      },
      ResultPath: null,
      Retry: [{ ErrorEquals: ["States.ALL"], IntervalSeconds: 1, MaxAttempts: 50, MaxDelaySeconds: 2 }],
      Next: "Rest",
    },
    Rest: { Type: "Wait", Seconds: 1, Next: "Done" },
    Done: { Type: "Pass", End: true },
  },
});

/** The declarations of one process; queues are bound to the process that starts them, so each has its own. */
function declare(schema: string) {
  const insert = `insert into ${schema}.effect (id) values ($1)`;
  const queues = {
    work: queue("work", { message: work, deadLetter, poison: "quarantine" }),
    followUp: queue("follow-up", { message: followUp, deadLetter }),
    inOrder: queue("in-order.fifo", { message: inOrder, deadLetter }),
  };
  const backoff = { base: "50ms", max: "200ms" } as const;
  const parts = {
    worker: worker(queues.work, {
      idempotencyKey: ({ id }) => id,
      timeout: "2s",
      backoff,
      async handle({ id, mode }, ctx) {
        if (mode === "reject") return rejected({ code: "NO" });
        if (mode === "poison") return poison({ code: "BROKEN" });
        if (mode === "write") return ctx.write(insert, [id]);
        await ctx.tx.query(insert, [id]);
        if (mode === "stumble" && ctx.attempt === 1) throw new Error("stumbled after its write");
        if (mode === "hang" && ctx.attempt === 1) await new Promise(() => undefined);
        if (mode === "announce")
          await add(ctx.tx, {
            target: { kind: "queue", name: "follow-up" },
            payload: JSON.stringify({ id: `after ${id}` }),
          });
        return undefined;
      },
    }),
    follower: worker(queues.followUp, {
      idempotencyKey: ({ id }) => id,
      timeout: "5s",
      backoff,
      handle: ({ id }, ctx) => ctx.write(insert, [id]),
    }),
    orderly: worker(queues.inOrder, {
      // Without a key it is the fence alone that keeps a late owner from doing it twice.
      idempotencyKey: "none",
      timeout: "5s",
      backoff,
      async handle({ id, place }, ctx) {
        await ctx.tx.query(insert, [id]);
        // Long enough that a frozen owner thaws while its successor is still at it.
        if (place % 2 === 0) await pause(300);
      },
    }),
  };
  return { queues, parts };
}

/** One process behind one wire. */
export class Node {
  readonly wire: Wire;
  queues!: ReturnType<typeof declare>["queues"];
  platform!: Platform;
  private running: RunningApp | undefined;
  private readonly schema: string;

  constructor(wire: Wire, schema: string) {
    this.wire = wire;
    this.schema = schema;
  }

  async begin(): Promise<void> {
    const { queues, parts } = declare(this.schema);
    // Two connections for sixteen handlers: the pool is exhausted most of the time.
    this.platform = await openPlatform({
      databaseUrl: this.wire.url,
      schema: this.schema,
      handlerConnectionsMax: 2,
    });
    this.running = await start(app(parts), { platform: this.platform });
    this.queues = queues;
  }

  async end(): Promise<void> {
    await this.running?.stop();
    await this.platform?.close();
  }

  /** Ends the process while it works and begins another in its place. */
  async renew(): Promise<void> {
    const ended = this.end();
    // Where the wire is down, an orchestrator would try again.
    while (
      !(await this.begin().then(
        () => true,
        () => false,
      ))
    )
      await pause(100);
    await ended;
  }
}

export interface Promised {
  /** What was accepted, by what its handler does. */
  readonly messages: Map<string, Mode>;
  /** How far each FIFO group was accepted. */
  readonly groups: Map<string, number>;
  readonly executions: Set<string>;
  /** Sends that failed: they may have happened or not, but not twice. */
  readonly unsure: Set<string>;
}

const nothingPromised = (): Promised => ({
  messages: new Map(),
  groups: new Map(),
  executions: new Set(),
  unsure: new Set(),
});

export class World {
  readonly kit: TestPlatform;
  readonly nodes: readonly Node[];
  promised = nothingPromised();
  /** The state machine of this seed. */
  machine = "";
  #client: ReturnType<TestPlatform["platform"]["database"]["dedicatedClient"]> | undefined;

  constructor(kit: TestPlatform, nodes: readonly Node[]) {
    this.kit = kit;
    this.nodes = nodes;
  }

  /** Asks the database directly, past all wires. One connection for all: to sign in costs more than most questions. */
  async ask(text: string, values: unknown[] = []): Promise<any[]> {
    this.#client ??= this.kit.platform.database.dedicatedClient();
    const client = await this.#client;
    return (await client.query(text.replaceAll(/\btuntas\./g, `${this.kit.schema}.`), values)).rows;
  }

  async close(): Promise<void> {
    await (await this.#client)?.end();
  }

  /** Begins a seed in a world that has lived through others: what they left on record is not this one's. */
  async begin(seed: number): Promise<void> {
    this.promised = nothingPromised();
    this.machine = `simulated-${seed}`;
    await this.ask("truncate tuntas.effect, tuntas.quarantine");
    await this.kit.platform.workflows.machines.create(scope, {
      name: this.machine,
      type: "STANDARD",
      definition,
      roleArn: "arn:aws:iam::000000000000:role/simulation",
      tags: {},
      publish: false,
    });
  }

  step(ms: number): Promise<void> {
    return this.kit.advance(ms);
  }

  async send(random: Random): Promise<void> {
    const id = randomUUID();
    const mode = random.pick(modes);
    try {
      await random.pick(this.nodes).queues.work.send({ id, mode });
      this.promised.messages.set(id, mode);
    } catch {
      this.promised.unsure.add(id);
    }
  }

  /** Sends the next of a group, and again until it is accepted: the deduplication id makes it one. */
  async sendInOrder(random: Random, group: string): Promise<void> {
    const place = this.promised.groups.get(group) ?? 0;
    const message = { id: `${group} ${place}`, group, place };
    for (;;) {
      try {
        await random
          .pick(this.nodes)
          .queues.inOrder.send(message, { groupId: group, deduplicationId: message.id });
        break;
      } catch {
        await pause(50);
      }
    }
    this.promised.groups.set(group, place + 1);
  }

  async startExecution(random: Random): Promise<void> {
    const id = `execution-${randomUUID()}`;
    const { workflows } = random.pick(this.nodes).platform;
    try {
      const found = await workflows.machines.find(scope, this.machine);
      const target = { machine: found!, versionArn: null, aliasArn: null };
      await workflows.executions.start({ target, name: id, input: JSON.stringify({ id }) });
      this.promised.executions.add(id);
    } catch {
      this.promised.unsure.add(id);
    }
  }

  async heal(): Promise<void> {
    for (const { wire } of this.nodes) wire.heal();
    await this.ask("update tuntas.disk set is_full = false where is_full");
  }
}

/** Effects, and whether the disk is full: then whatever would write more is refused in PostgreSQL's own words. */
const ownTables = `create table tuntas.effect (n bigint generated always as identity, id text not null);
  create table tuntas.disk (is_full boolean not null); insert into tuntas.disk values (false);
  create function tuntas.refuse_if_full() returns trigger language plpgsql as $$
  begin
    if (select is_full from tuntas.disk) then
      raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
    end if;
    return null;
  end $$`;

const guard = ["message", "in_flight", "effect", "outbox", "execution", "execution_history"]
  .map(
    (table) =>
      `create trigger full_disk before insert on tuntas.${table} execute function tuntas.refuse_if_full()`,
  )
  .join("; ");

/** Opens a world on a schema of its own, gives it to `live`, and closes it. */
export async function withWorld<T>(live: (world: World) => Promise<T>): Promise<T> {
  await using kit = await testPlatform();
  const wires = await Promise.all([1, 2, 3].map(() => openWire(kit.databaseUrl)));
  const nodes = wires.map((wire) => new Node(wire, kit.schema));
  const world = new World(kit, nodes);
  await world.ask(ownTables);
  await world.ask(guard);
  try {
    await Promise.all(nodes.map((node) => node.begin()));
    return await live(world);
  } finally {
    await world.heal();
    await Promise.allSettled(nodes.map((node) => node.end()));
    for (const wire of wires) await wire[Symbol.asyncDispose]();
    await world.close();
  }
}
