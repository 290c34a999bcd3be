// One process of a world, behind a wire of its own: what it declares, and its lives, one after another.
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { app, poison, queue, rejected, start, worker, type Platform, type RunningApp } from "tuntas";
import { add } from "tuntas/outbox";
import { within } from "../lib/src/engine/outside/within.ts";
import type { Wire } from "./fault/proxy.ts";
import type { Random } from "./fault/random.ts";
import { persevere } from "./patience.ts";

/** What the handler of a message does; each leaves one effect, save the last two. */
const modes = ["tx", "write", "announce", "stumble", "hang", "reject", "poison"] as const;
export type Mode = (typeof modes)[number];

/** Few hang: each keeps a connection until its attempt is over. */
export const drawMode = (random: Random): Mode =>
  random.chance(0.02) ? "hang" : random.pick(modes.filter((mode) => mode !== "hang"));

const work = z.object({ id: z.string(), mode: z.enum(modes) });
const followUp = z.object({ id: z.string() });
const inOrder = z.object({ id: z.string(), group: z.string(), place: z.number() });

const deadLetter = { after: 1000, owner: "simulation", runbook: "sim/README.md", retention: "14d" } as const;

/** The declarations of one process; queues are bound to the process that starts them, so each has its own. */
function declare(schema: string) {
  const insert = `insert into ${schema}.effect (id) values ($1)`;
  const queues = {
    work: queue("work", { message: work, deadLetter, poison: "quarantine" }),
    // Where a worker rests most of the time, so that senders hand over to it.
    quiet: queue("quiet", { message: followUp, deadLetter }),
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
    quietly: worker(queues.quiet, {
      idempotencyKey: "none",
      timeout: "5s",
      backoff,
      handle: ({ id }, ctx) => ctx.write(insert, [id]),
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

/** A process from its start to its end. */
interface Life {
  readonly queues: ReturnType<typeof declare>["queues"];
  readonly running: RunningApp;
}

const beginMsMax = 120_000;
const endMsMax = 120_000;

export class Node {
  readonly wire: Wire;
  private readonly schema: string;
  private life: Life | undefined;
  /** Lives that another one has followed, and that have not ended yet. */
  private ending: Promise<void>[] = [];
  /** Renewals, one after another. */
  private renewed: Promise<void> = Promise.resolve();

  constructor(wire: Wire, schema: string) {
    this.wire = wire;
    this.schema = schema;
  }

  get queues(): Life["queues"] {
    return this.life!.queues;
  }

  get platform(): Platform {
    return this.life!.running.platform;
  }

  /** What its workers hold. */
  active(): ReturnType<RunningApp["active"]> {
    return this.life!.running.active();
  }

  /** Begins a life. Where the wire is down, an orchestrator would try again. */
  async begin(mostMs = beginMsMax): Promise<void> {
    this.life = await persevere("a process begins", () => this.start(), mostMs);
  }

  private async start(): Promise<Life> {
    const { queues, parts } = declare(this.schema);
    const running = await start(app(parts), {
      databaseUrl: this.wire.url,
      schema: this.schema,
      // Two connections for sixteen handlers: the pool is exhausted most of the time.
      handlerConnectionsMax: 2,
      drain: "1s",
    });
    return { queues, running };
  }

  /** Ends the process while it works and begins another in its place, which does not wait for the end. What strikes meanwhile strikes both. */
  renew(): void {
    this.renewed = this.renewed.then(() => {
      this.retire();
      return this.begin();
    });
    this.renewed.catch(() => undefined); // `ended` tells of it
  }

  private retire(): void {
    const ended = this.life?.running.stop();
    if (!ended) return;
    ended.catch(() => undefined); // `ended` tells of it
    this.ending.push(ended);
  }

  /** Resolves once no life but the present one goes on. */
  async ended(): Promise<void> {
    await this.renewed;
    await within(AbortSignal.timeout(endMsMax), () => Promise.all(this.ending.splice(0)));
  }

  async end(): Promise<void> {
    await this.renewed.catch(() => undefined);
    this.retire();
    this.life = undefined;
    await this.ended();
  }
}
