// Dead letters: causes, messages, and the two ways on. A dry run counts; the real one runs on where it takes long.
import type { StartOptions } from "tuntas/operation";
import type { Who } from "tuntas/access";
import { composeMessage, defaultScope, textsOf, type TriageFilter } from "tuntas/queue";
import type { DeadLetterActs, DeadLetterReads, Operated } from "../../api/index.ts";
import { consoleErrors } from "../../contract.ts";
import type { Fields } from "../fields.ts";
import { makeMasking } from "../masking.ts";
import type { ActsOf, Needs, ReadsOf } from "../needs.ts";
import { gone, paged } from "./queues.ts";

const pageMax = 100;
/** So long an act is waited for; what takes longer goes on, and shows how far it is among the operations. */
const patienceMs = 4000;

const places = ["dead", "quarantined"] as const;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const number = /^\d{1,18}$/;

function filterOf(fields: Fields): TriageFilter {
  const messageIds = fields.texts("messageIds");
  if (messageIds?.some((id) => !uuid.test(id)))
    throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "messageIds: expected UUIDs");
  return {
    queue: fields.optional("queue"),
    place: fields.optional("place") === undefined ? undefined : fields.oneOf("place", places),
    code: fields.optional("code"),
    fingerprint: fields.optional("fingerprint"),
    schemaVersion: fields.optional("schemaVersion"),
    messageIds,
  };
}

export function deadLetterReads(needs: Needs): ReadsOf<keyof DeadLetterReads> {
  const { triage } = needs.platform.queues;
  return {
    async "dead.groups"(query, who) {
      const mask = makeMasking(needs, who);
      const groups = await triage.groups(defaultScope, filterOf(query));
      return {
        groups: await Promise.all(
          groups.map(async (group) => ({ ...group, sampleBody: await mask(group.queue, group.sampleBody) })),
        ),
      };
    },
    async "dead.items"(query, who) {
      const mask = makeMasking(needs, who);
      const after = query.optional("after") ?? "0";
      if (!number.test(after)) throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", "after: expected an id");
      const rows = await triage.items(defaultScope, filterOf(query), { after, limit: pageMax + 1 });
      const items = await Promise.all(
        rows.map(async (item) => ({ ...item, body: await mask(item.queue, item.body) })),
      );
      return paged(items, pageMax, (last) => last.id);
    },
  };
}

/** Begins an operation, which any process carries out to its end; answers what it came to, or that it still runs. */
async function operate({ platform: { operations } }: Needs, options: StartOptions): Promise<Operated> {
  const selection = JSON.parse(JSON.stringify(options.selection)) as unknown;
  const { operation } = await operations.start({ ...options, selection });
  const { id, state, selected, done, skipped, failure } = await operations.settled(
    operation.id,
    AbortSignal.timeout(patienceMs),
  );
  if (failure !== null && state === "failed") throw consoleErrors.error("TUNTAS_CONSOLE_REQUEST", failure);
  if (state !== "completed" && state !== "aborted") return { status: "running", selected, operation: id };
  return { status: state, auditId: id, selected, moved: done, skipped, forbidden: [] };
}

const editedCode = "EDITED_AND_SENT_ANEW";

/** The new one first: should anything fail between, there are two, never none. */
async function resend(needs: Needs, fields: Fields, who: Who) {
  const { queues, access } = needs.platform;
  const old = await queues.inspector.explain(fields.text("id"));
  if (!old || (old.state !== "dead" && old.state !== "quarantined")) throw gone();
  const queue = await queues.catalog.get(defaultScope, old.diedIn ?? old.queue);
  const messageIds = [old.messageId];
  const draft = {
    body: fields.text("body"),
    // Others than texts cannot be typed by anybody.
    attributes: textsOf(old.attributes),
    groupId: old.groupId ?? undefined,
    ...(queue.fifo && { deduplicationId: `edited-${old.messageId}` }),
  };
  const reason = fields.text("reason");
  const { messageId } = await queues.sender.send(queue, composeMessage(queue, draft), defaultScope.account);
  await access.audit({
    actor: who.name,
    from: who.from,
    action: "dlq.resend",
    subject: `message ${old.messageId}`,
    reason,
    details: { queue: queue.name, messageId, messageIds },
  });
  const report = await operate(needs, {
    kind: "reject",
    selection: { filter: { messageIds }, code: editedCode },
    expected: 1,
    actor: who.name,
    reason,
  });
  if (report.status === "running") return { messageId, old: "being rejected" as const };
  return { messageId, old: report.moved === 1 ? ("rejected" as const) : ("gone" as const) };
}

export function deadLetterActs(needs: Needs): ActsOf<keyof DeadLetterActs> {
  const { triage, catalog } = needs.platform.queues;
  return {
    "dead.replay": {
      may: "dlq.replay",
      async run(body, who) {
        const target = body.optional("destination");
        const options = {
          filter: filterOf(body),
          actor: who.name,
          reason: body.text("reason"),
          destination: target === undefined ? undefined : await catalog.get(defaultScope, target),
          perSecond: body.integer("perSecond", { min: 1, max: 10_000 }),
          effectChecked: body.flag("effectChecked"),
          skipForbidden: body.flag("skipForbidden"),
        };
        const plan = await triage.replay(defaultScope, { ...options, dryRun: true });
        if (body.flag("dryRun")) return plan;
        const { filter, effectChecked, actor, reason, perSecond, skipForbidden } = options;
        return operate(needs, {
          kind: "replay",
          selection: { filter, effectChecked, to: target },
          expected: plan.selected,
          actor,
          reason,
          perSecond,
          skipForbidden,
        });
      },
    },
    "dead.resend": { may: "dlq.replay", run: (body, who) => resend(needs, body, who) },
    "dead.reject": {
      may: "dlq.reject",
      async run(body, who) {
        const options = {
          filter: filterOf(body),
          actor: who.name,
          reason: body.text("reason"),
          code: body.optional("code"),
        };
        const plan = await triage.reject(defaultScope, { ...options, dryRun: true });
        if (body.flag("dryRun")) return plan;
        const { filter, code, actor, reason } = options;
        return operate(needs, {
          kind: "reject",
          selection: { filter, code },
          expected: plan.selected,
          actor,
          reason,
        });
      },
    },
  };
}
