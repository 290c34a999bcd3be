// The worker checklist: eleven items.
import type { Evidence, Facts, Item, WorkerOf } from "../contract.ts";
import { byAlarm, byDrill, byRules, met, unknown, unmet } from "../evidence.ts";

type Target = { readonly queue: unknown; readonly backlogPerInstance: number; readonly downstream: unknown };

/** The service that works on the queue, with its rule. */
function scaledBy({ queue }: WorkerOf, { declared: { services } }: Facts) {
  return services.flatMap(({ name, options: { scaling } }) => {
    if ("fixed" in scaling || !("queue" in scaling.target)) return [];
    const target = scaling.target as Target & { readonly queue: string | { readonly name: string } };
    const of = typeof target.queue === "string" ? target.queue : target.queue.name;
    return of === queue.name ? [{ service: name, target, max: scaling.max }] : [];
  })[0];
}

function visibility(of: WorkerOf, facts: Facts): Evidence {
  const { name, options } = of.queue;
  const measured = facts.declared.measured?.get(name);
  const p99 = measured ? `, measured p99 ${Math.round(measured.p99Ms)} ms` : "";
  return byRules(facts, {
    name,
    rules: ["visibility-budget", "visibility-far-above", "time-ladder", "p99-exceeded"],
    found: `visibility ${options.visibilityTimeout ?? "30s"}, attempt ${of.options.timeout}${p99}`,
  });
}

function deadLetters({ queue: { name, options } }: WorkerOf, facts: Facts): Evidence {
  const { after, owner, runbook } = options.deadLetter;
  return byRules(facts, {
    name,
    rules: ["owner-placeholder", "runbook-missing", "dead-letters-expire-first", "retries-outlive-retention"],
    found: `after ${after} attempts, to ${owner}, who read ${runbook}`,
  });
}

function scaling(of: WorkerOf, facts: Facts): Evidence {
  const by = scaledBy(of, facts);
  return by
    ? met(
        "services in the application",
        `${by.service}: ${by.target.backlogPerInstance} each, at most ${by.max}`,
      )
    : unknown("services in the application", "none is scaled by this queue");
}

function downstream(of: WorkerOf, facts: Facts): Evidence {
  const by = scaledBy(of, facts);
  const reserve = by?.target.downstream as { name: string; safePerSecond: number } | "none" | undefined;
  if (reserve === undefined) return unknown("services in the application", "none is scaled by this queue");
  if (reserve === "none") return unknown(`scaling of ${by!.service}`, 'downstream: "none"');
  const over = facts.findings.filter(
    ({ rule, name }) => rule === "downstream-oversubscribed" && name === reserve.name,
  );
  const found = `${reserve.safePerSecond} calls a second of ${reserve.name} reserved`;
  return over.length === 0
    ? met(`scaling of ${by!.service}`, found)
    : unmet("tuntas check: downstream-oversubscribed", over.map(({ message }) => message).join("; "));
}

export const worker: readonly Item<WorkerOf>[] = [
  {
    id: "idempotent",
    says: "twice is once",
    asks: "Why is it harmless that a message arrives twice?",
    look: ({ queue, options }, facts) =>
      byRules(facts, {
        name: queue.name,
        rules: ["no-idempotency", "key-same-for-all", "key-never-same", "effect-off-the-ledger"],
        found:
          options.idempotencyKey === "none"
            ? "no key; nothing is seen that it changes"
            : "a key out of the message",
      }),
  },
  { id: "visibility", says: "the visibility is sized", asks: "By which p99?", look: visibility },
  { id: "dead-letters", says: "dead letters have an owner", asks: "Whose are they?", look: deadLetters },
  {
    id: "poison",
    says: "a poison message was tried out",
    asks: "When?",
    look: (_of, facts) => byDrill(facts, ["poison"]),
  },
  {
    id: "age-alarm",
    says: "an alarm on the oldest message",
    asks: "Which?",
    look: ({ queue }, facts) =>
      byAlarm(facts, { metric: "tuntas_queue_oldest_age_seconds", subject: queue.name }),
  },
  {
    id: "dead-letter-alarm",
    says: "an alarm on dead letters",
    asks: "Which?",
    look: ({ queue }, facts) => byAlarm(facts, { metric: "tuntas_queue_dead_letters", subject: queue.name }),
  },
  {
    id: "scaling",
    says: "scaled by its backlog",
    asks: "What adds processes when the backlog grows, and why is that enough?",
    look: scaling,
  },
  {
    id: "downstream",
    says: "what stands behind it bears it",
    asks: "What stands behind it, how much does that bear, and what keeps the work below it?",
    look: downstream,
  },
  {
    id: "shutdown",
    says: "ends in order",
    asks: "What becomes of messages in hand?",
    look: ({ queue, options }, facts) =>
      byRules(facts, {
        name: queue.name,
        rules: ["drain-too-short", "ack-before-commit"],
        found: `an attempt of ${options.timeout} fits into the drain`,
      }),
  },
  {
    id: "versions",
    says: "messages have a version",
    asks: "How are messages of yesterday's form told from today's?",
    look: ({ queue }) =>
      queue.options.versions
        ? met("declaration", `versions ${queue.options.versions.join(", ")}`)
        : unknown("declaration", "no versions"),
  },
  {
    id: "replay",
    says: "replay and backfill are known",
    asks: "How are dead letters replayed and old records put right, and who was shown?",
  },
];
