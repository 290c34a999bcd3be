// Queues and workers: the room's observer, inspector and catalog as JSON.
import { defaultScope, type LiveState, type QueueRecord, type Scope } from "tuntas/queue";
import type { Paged, QueueActs, QueueLimits, QueueReads } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Fields } from "../fields.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";

const pageMax = 200;
const tenantsMax = 50;

export const scopeOf = (fields: Fields): Scope => ({
  account: fields.optional("account") ?? defaultScope.account,
  region: fields.optional("region") ?? defaultScope.region,
});

/** A page of what was read one row further than it shows. */
export function paged<T>(rows: readonly T[], limit: number, cursorOf: (last: T) => string): Paged<T> {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? cursorOf(items.at(-1)!) : null };
}

const states: readonly LiveState[] = ["ready", "in_flight", "delayed"];
const cursor = /^-?\d{1,18}\.\d{1,18}$/;

/** Errors: TUNTAS_CONSOLE_REQUEST. */
function cursorOf(fields: Fields): string | undefined {
  const after = fields.optional("after");
  if (after === undefined || cursor.test(after)) return after;
  throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "after: expected where a page before ended");
}

function queueOf({ platform }: Needs, fields: Fields): Promise<QueueRecord> {
  return platform.queues.catalog.get(scopeOf(fields), fields.text("queue"));
}

const gone = () =>
  consoleErrors.error("TUNTAS_CONSOLE_MISSING", "the message is done, was deleted, or never was");

export function queueReads(needs: Needs): ReadsOf<keyof QueueReads> {
  const { observer, inspector } = needs.platform.queues;
  return {
    async queues(query) {
      const page = { search: query.optional("search") ?? "", after: query.optional("after") ?? "" };
      const rows = await observer.survey(scopeOf(query), { ...page, limit: pageMax + 1 });
      return paged(rows, pageMax, (last) => last.name);
    },
    async queue(query) {
      const record = await queueOf(needs, query);
      const { name } = record;
      const [surveyed, consumers] = await Promise.all([
        observer.survey(record, { only: name, search: "", after: "", limit: 1 }),
        observer.consumers(record),
      ]);
      if (!surveyed[0]) throw consoleErrors.error("TUNTAS_CONSOLE_MISSING", `queue ${name} was deleted`);
      return { survey: surveyed[0], record, consumers };
    },
    async "queue.messages"(query, who) {
      const state = query.oneOf("state", states);
      const after = cursorOf(query);
      const page = { state, limit: pageMax + 1, ...(after !== undefined && { after }) };
      const queue = await queueOf(needs, query);
      const mask = makeMasking(needs, who);
      const rows = await Promise.all(
        (await inspector.browse(queue, page)).map(async (row) => ({
          ...row,
          body: await mask(queue.name, row.body),
        })),
      );
      return paged(rows, pageMax, (last) => last.cursor);
    },
    async "queue.signs"(query) {
      const { signs } = await inspector.diagnose(await queueOf(needs, query));
      return { signs };
    },
    "queue.tenants": async (query) => inspector.tenants(await queueOf(needs, query), tenantsMax),
    async message(query, who) {
      const explanation = await inspector.explain(query.text("id"));
      const mask = makeMasking(needs, who);
      if (explanation)
        return {
          ...explanation,
          body: await mask(explanation.diedIn ?? explanation.queue, explanation.body),
        };
      throw gone();
    },
    processes: () => observer.processes(),
  };
}

const limits: Readonly<Record<keyof QueueLimits, { readonly min: number; readonly max: number }>> = {
  visibilitySeconds: { min: 0, max: 43_200 },
  delaySeconds: { min: 0, max: 900 },
  retentionSeconds: { min: 60, max: 1_209_600 },
  receiveWaitSeconds: { min: 0, max: 20 },
  receivesMax: { min: 1, max: 1000 },
};

function limitsOf(body: Fields): QueueLimits {
  const entries = Object.entries(limits).map(([name, range]) => [name, body.integer(name, range)] as const);
  const given = entries.filter(([, value]) => value !== undefined);
  if (given.length > 0) return Object.fromEntries(given);
  throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", `expected one of ${Object.keys(limits).join(", ")}`);
}

export function queueActs(needs: Needs): ActsOf<keyof QueueActs> {
  const { catalog, inspector } = needs.platform.queues;
  return {
    "message.reveal": {
      may: "payload.reveal",
      async run(body, who) {
        const found = await inspector.explain(body.text("id"));
        if (!found) throw gone();
        await needs.platform.access.audit({
          actor: who.name,
          from: who.from,
          action: "payload.reveal",
          subject: `message ${found.messageId}`,
          reason: body.text("reason"),
          details: { queue: found.diedIn ?? found.queue },
        });
        return { body: found.body };
      },
    },
    "queue.pause": {
      may: "queue.pause",
      async run(body, who) {
        await catalog.pause(await queueOf(needs, body), who.name, body.text("reason"));
        return { status: "paused" };
      },
    },
    "queue.resume": {
      may: "queue.pause",
      async run(body, who) {
        await catalog.resume(await queueOf(needs, body), who.name, body.text("reason"));
        return { status: "resumed" };
      },
    },
    "queue.purge": {
      may: "queue.purge",
      async run(body, who) {
        const purged = await catalog.purge(await queueOf(needs, body), who.name, body.text("reason"));
        return { status: purged ? "purged" : "too soon" };
      },
    },
    "queue.limits": {
      may: "queue.configure",
      async run(body, who) {
        const queue = await queueOf(needs, body);
        return catalog.configure(queue, limitsOf(body), { actor: who.name, reason: body.text("reason") });
      },
    },
  };
}
