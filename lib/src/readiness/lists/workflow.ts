// The workflow checklist: fourteen items.
import { tasksOf } from "../../workflow/definition/functions.ts";
import type { Evidence, Facts, Item, WorkflowOf } from "../contract.ts";
import { byAlarm, byRules, met, unknown, unmet } from "../evidence.ts";

const callback = ".waitForTaskToken";

function keys({ tasks }: WorkflowOf): Evidence {
  const silent = [...tasks].filter(([, { options }]) => options.idempotent !== true).map(([name]) => name);
  const looked = `idempotent of ${tasks.size} tasks`;
  if (tasks.size === 0) return unknown(looked, "it has no handlers here");
  return silent.length === 0
    ? met(looked, "declared of each")
    : unknown(looked, `not declared of ${silent.join(", ")}`);
}

function reconciled({ name }: WorkflowOf, facts: Facts): Evidence {
  const of = facts.declared.reconciliations.filter(
    ({ options }) => options.of.kind === "workflow" && options.of.name === name,
  );
  return byRules(facts, {
    name,
    rules: ["workflow-unreconciled"],
    found: of.map(({ options }) => options.name).join(", ") || "none needed: it is EXPRESS",
  });
}

const domain = ({ options }: WorkflowOf, found: string): Evidence =>
  options.domain
    ? met("domain of the declaration", found)
    : unknown("domain of the declaration", "none: an inspection shows the execution alone");

function tokens({ definition }: WorkflowOf): Evidence {
  const waiting = tasksOf(definition).filter(({ state }) => String(state.Resource).endsWith(callback));
  const looked = "states that wait for a token";
  return waiting.length === 0
    ? met(looked, "none")
    : unknown(looked, waiting.map(({ name }) => name).join(", "));
}

function inputs({ options }: WorkflowOf): Evidence {
  return options.input
    ? unknown("its input", "checked by a schema")
    : unmet("its input", "no schema: anything may go in");
}

export const workflow: readonly Item<WorkflowOf>[] = [
  {
    id: "keys",
    says: "every task that changes something has a key",
    asks: "By which key is a repeat of each task told?",
    look: keys,
  },
  {
    id: "expected-state",
    says: "every change names the state it expects",
    asks: "Where do the tasks' statements say which state they expect of the row?",
  },
  {
    id: "no-waiting",
    says: "nobody waits inside a transaction",
    asks: "What is open while it waits?",
    look: ({ name }, facts) =>
      byRules(facts, {
        name,
        rules: ["wait-in-transaction", "outside-call-in-transaction"],
        found: "no handler waits or calls out in its transaction",
      }),
  },
  {
    id: "reservations",
    says: "what is held long is a reservation",
    asks: "What does it hold while it waits, and when does that expire?",
  },
  {
    id: "ledger",
    says: "calls to the outside are on the ledger",
    asks: "Which tasks change something outside, and is each of these calls an effect(…) of a provider?",
  },
  {
    id: "identifiers",
    says: "identifiers go in, no copies of rows",
    asks: "What goes in besides identifiers, and why?",
    look: inputs,
  },
  {
    id: "truth",
    says: "its output is not the only truth",
    asks: "Where is what came of it, besides in its output?",
    look: (of) => domain(of, "the row that it works on"),
  },
  {
    id: "tokens",
    says: "tokens are kept safe",
    asks: "Who holds the tokens of these states, and who may answer them?",
    look: tokens,
  },
  {
    id: "times",
    says: "times stand in order",
    asks: "What is the order of its timeouts?",
    look: ({ name }, facts) =>
      byRules(facts, {
        name,
        rules: ["time-ladder", "task-without-timeout", "task-near-timeout"],
        found: "lease < heartbeat < task < business, and each wait has an end",
      }),
  },
  {
    id: "redrive",
    says: "a redrive looks at the domain first",
    asks: "What does who redrives it look at first?",
    look: (of) => domain(of, "tuntas workflow inspect shows the row and a verdict"),
  },
  {
    id: "outbox-alarm",
    says: "alarms on the age of outbox and inbox",
    asks: "Which?",
    look: (_of, facts) => byAlarm(facts, { metric: "tuntas_outbox_oldest_age_seconds", subject: "" }),
  },
  { id: "reconciliation", says: "is reconciled", asks: "By what?", look: reconciled },
  {
    id: "sensitive",
    says: "nothing sensitive in its history",
    asks: "What of a person or a secret stands in inputs and outputs, and who may see it?",
  },
  {
    id: "versions",
    says: "versions and aliases are part of a deployment",
    asks: "How does a new version take over, and what becomes of executions of the old one?",
  },
];
