// Dead letters: causes, messages, and the ways on. A dry run counts; the real one runs on where it takes long.
import type { StartOptions } from "tuntas/operation";
import type { Who } from "tuntas/access";
import { defaultScope, type TriageFilter } from "tuntas/queue";
import type { DeadLetterActs, DeadLetterReads, Operated } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Fields } from "../fields.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { paged } from "./queues.ts";

const pageMax = 100;
/** So long an act is waited for; what takes longer goes on, and shows how far it is among the operations. */
const patienceMs = 4000;

const places = ["dead", "quarantined"] as const;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function filterOf(fields: Fields): TriageFilter {
  const messageIds = fields.texts("messageIds");
  if (messageIds?.some((id) => !uuid.test(id)))
    throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "messageIds: expected UUIDs");
  return {
    queue: fields.optional("queue"),
    place: fields.choice("place", places),
    code: fields.optional("code"),
    fingerprint: fields.optional("fingerprint"),
    schemaVersion: fields.optional("schemaVersion"),
    messageIds,
  };
}

export function deadLetterReads(needs: Needs): ReadsOf<keyof DeadLetterReads> {
  const { deadLetters } = needs.platform.queues;
  return {
    async "dead.groups"(query, who) {
      const mask = makeMasking(needs, who);
      const groups = await deadLetters.groups(defaultScope, filterOf(query));
      return {
        groups: await Promise.all(
          groups.map(async (group) => ({ ...group, sampleBody: await mask(group.queue, group.sampleBody) })),
        ),
      };
    },
    async "dead.items"(query, who) {
      const mask = makeMasking(needs, who);
      const after = query.optionalId("after") ?? "0";
      const rows = await deadLetters.items(defaultScope, filterOf(query), { after, limit: pageMax + 1 });
      const items = await Promise.all(
        rows.map(async (item) => ({ ...item, body: await mask(item.queue, item.body) })),
      );
      return paged(items, pageMax, (last) => last.id);
    },
  };
}

/** What it would be done to; or, begun, what it came to, or that any process goes on with it. */
async function operate(
  { platform: { operations } }: Needs,
  fields: Fields,
  options: StartOptions,
): Promise<Operated> {
  const { kind } = options;
  const selection = JSON.parse(JSON.stringify(options.selection)) as unknown;
  const { count, forbidden } = await operations.preview(kind, selection);
  const planned = {
    status: "planned",
    operation: null,
    selected: count,
    moved: 0,
    skipped: 0,
    forbidden,
  } as const;
  if (fields.flag("dryRun")) return planned;
  const { operation } = await operations.start({ ...options, selection, expected: count });
  const { id, state, done, skipped, failure } = await operations.settled(
    operation.id,
    AbortSignal.timeout(patienceMs),
  );
  if (failure !== null && state === "failed") throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", failure);
  const status = state === "completed" || state === "aborted" ? state : "running";
  return { ...planned, status, operation: id, moved: done, skipped };
}

const actOf = (fields: Fields, who: Who) => ({ actor: who.name, reason: fields.text("reason") });

export function deadLetterActs(needs: Needs): ActsOf<keyof DeadLetterActs> {
  const { catalog, resend } = needs.platform.queues;
  return {
    "dead.replay": {
      may: "dlq.replay",
      async run(body, who) {
        const to = body.optional("destination");
        if (to !== undefined) await catalog.get(defaultScope, to);
        return operate(needs, body, {
          kind: "replay",
          selection: { filter: filterOf(body), effectChecked: body.flag("effectChecked"), to },
          perSecond: body.integer("perSecond", { min: 1, max: 10_000 }),
          skipForbidden: body.flag("skipForbidden"),
          ...actOf(body, who),
        });
      },
    },
    "dead.resend": {
      may: "dlq.replay",
      run: (body, who) =>
        resend(defaultScope, {
          messageId: body.text("id"),
          body: body.text("body"),
          attributes: body.attributes("attributes"),
          from: who.from,
          ...actOf(body, who),
        }),
    },
    "dead.reject": {
      may: "dlq.reject",
      run: (body, who) =>
        operate(needs, body, {
          kind: "reject",
          selection: { filter: filterOf(body), code: body.optional("code") },
          ...actOf(body, who),
        }),
    },
  };
}
