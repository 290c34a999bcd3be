// A small company for one seed: three processes, each behind a wire of its own, the same work in all of them, and a
// record of what was promised to whom.
import { randomUUID } from "node:crypto";
import { testPlatform, type TestPlatform } from "tuntas/testing";
import { openWire } from "./fault/proxy.ts";
import type { Random } from "./fault/random.ts";
import { persevere } from "./patience.ts";
import { drawMode, Node, type Mode } from "./process.ts";

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

const acceptedMsMax = 180_000;

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

  /**
   * Asks the database directly, past all wires. One connection for all: to sign in costs more than most questions. One that
   * is asked often has a name.
   */
  async ask(text: string, values: unknown[] = [], name?: string): Promise<any[]> {
    this.#client ??= this.kit.platform.database.dedicatedClient();
    const client = await this.#client;
    const inSchema = text.replaceAll(/\btuntas\./g, `${this.kit.schema}.`);
    return (await client.query({ text: inSchema, values, ...(name !== undefined && { name }) })).rows;
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

  /** Moves the database's clock forward, and has one process look at once what has become due. */
  async step(ms: number): Promise<void> {
    await this.ask("update tuntas.clock set ahead = ahead + make_interval(secs => $1)", [ms / 1000]);
    const { context, workflows } = this.kit.platform;
    await context.due.sweep();
    await workflows.sweepDue();
  }

  /** Notes what was promised; a send that fails may have happened or not. */
  private async accept(id: string, mode: Mode, send: () => Promise<unknown>): Promise<void> {
    try {
      await send();
      this.promised.messages.set(id, mode);
    } catch {
      this.promised.unsure.add(id);
    }
  }

  send(random: Random): Promise<void> {
    const id = randomUUID();
    const mode = drawMode(random);
    return this.accept(id, mode, () => random.pick(this.nodes).queues.work.send({ id, mode }));
  }

  /** To workers that rest most of the time. Without a key it is the fence alone that keeps an effect from happening twice. */
  sendQuietly(random: Random): Promise<void> {
    const id = `quiet-${randomUUID()}`;
    return this.accept(id, "write", () => random.pick(this.nodes).queues.quiet.send({ id }));
  }

  /** Sends the next of a group, and again until it is accepted: the deduplication id makes it one. */
  async sendInOrder(random: Random, group: string): Promise<void> {
    const place = this.promised.groups.get(group) ?? 0;
    const message = { id: `${group}/${place}`, group, place };
    const send = () =>
      random.pick(this.nodes).queues.inOrder.send(message, { groupId: group, deduplicationId: message.id });
    await persevere(`${message.id} is accepted`, send, acceptedMsMax);
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

  /** How often a connection of these processes was cut at a commit, in all seeds so far. */
  get cuts(): number {
    return this.nodes.reduce((sum, { wire }) => sum + wire.cuts, 0);
  }

  /** Takes back all that lasts. */
  async heal(): Promise<void> {
    for (const { wire } of this.nodes) wire.heal();
    await this.ask("update tuntas.disk set is_full = false where is_full");
  }

  /** Resolves once whoever was ending has ended, and another has begun in its place. */
  async ended(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.ended()));
  }
}

/** A clock that is read from a row: to replace its function, as the kit does, has every session plan all that it asks anew. */
const ownClock = `create table tuntas.clock (ahead interval not null); insert into tuntas.clock values ('0');
  create function tuntas.ahead() returns interval language sql stable as $$ select ahead from tuntas.clock $$;
  create or replace function tuntas.now() returns timestamptz language sql stable
  as $$ select pg_catalog.now() + tuntas.ahead() $$`;

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
  await using kit = await testPlatform({ watches: false });
  const wires = await Promise.all([1, 2, 3].map(() => openWire(kit.databaseUrl)));
  const nodes = wires.map((wire) => new Node(wire, kit.schema));
  const world = new World(kit, nodes);
  await world.ask(ownClock);
  await world.ask(ownTables);
  await world.ask(guard);
  try {
    await Promise.all(nodes.map((node) => node.begin()));
    return await live(world);
  } finally {
    for (const wire of wires) wire.heal();
    await Promise.allSettled(nodes.map((node) => node.end()));
    for (const wire of wires) await wire[Symbol.asyncDispose]();
    await world.close();
  }
}
