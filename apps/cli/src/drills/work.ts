// The work that drills are made with: an effect for each item, in a table that would show a second one.
import { app, poison, queue, worker, type Schema } from "tuntas";

export interface Item {
  readonly id: string;
}

const isItem = (value: unknown): value is Item => typeof (value as Partial<Item> | null)?.id === "string";

export const item: Schema<Item, Item> = {
  "~standard": {
    version: 1,
    vendor: "tuntas",
    validate: (value) =>
      isItem(value) ? { value } : { issues: [{ message: "expected an item with its id" }] },
  },
};

export const receivesMax = 3;

export const drillWork = queue("drill-work", {
  message: item,
  visibilityTimeout: "60s",
  deadLetter: {
    after: receivesMax,
    retention: "1d",
    owner: "whoever drills",
    runbook: "docs/operate/runbooks.md#dead-letters",
  },
});

export const drillWorker = worker(drillWork, {
  idempotencyKey: ({ id }) => id,
  timeout: "20s",
  backoff: { base: "100ms", max: "200ms" },
  async handle({ id }, { tx, log }) {
    log.info({ event: "work.begun", id }, "an item is worked on");
    if (id.startsWith("poison")) return poison({ code: "UNREADABLE", message: "nobody can use this" });
    await tx.query("insert into drill.effect (id) values ($1)", [id]);
  },
});

export default app({ drillWork, drillWorker });

/** Where effects are seen. */
export const effectTable = `create schema if not exists drill;
  create table if not exists drill.effect (number bigint generated always as identity, id text not null)`;
