// From facts to lines: what a machine saw decides; where it cannot tell, what a person has answered lately.
import type {
  CommandOf,
  Checklist,
  Evidence,
  Facts,
  Item,
  Line,
  ListName,
  PersonsAnswer,
} from "./contract.ts";
import { api, commandLines, platform, worker, workflow } from "./lists/index.ts";

const nothing: Evidence = { verdict: "unknown", looked: "", found: "" };

function lineOf(
  { id, says, asks }: Pick<Item<unknown>, "id" | "says" | "asks">,
  { verdict, looked, found }: Evidence,
  { answer, since }: { readonly answer: PersonsAnswer | undefined; readonly since: string },
): Line {
  if (verdict !== "unknown") return { id, says, status: verdict, looked, found, asks: null };
  if (answer === undefined) return { id, says, status: "open", looked, found, asks };
  const said = { id, says, looked: `${answer.by}, ${answer.on}`, found: answer.answer };
  return answer.on < since
    ? { ...said, status: "open", asks: `${asks} (answered more than half a year ago)` }
    : { ...said, status: "answered", asks: null };
}

const checklist = (list: ListName, of: string, lines: readonly Line[]): Checklist => ({
  list,
  of,
  ready: lines.every(({ status }) => status === "met" || status === "answered"),
  lines,
});

interface Subject<Of> {
  readonly list: ListName;
  readonly name: string;
  readonly of: Of;
}

function go<Of>(facts: Facts, { list, name, of }: Subject<Of>, items: readonly Item<Of>[]): Checklist {
  const answers = facts.answers.filter((each) => each.list === list && each.of === name);
  const lines = items.map((item) => {
    const answer = answers.map((each) => each.answers[item.id]).findLast((each) => each !== undefined);
    return lineOf(item, item.look?.(of, facts) ?? nothing, { answer, since: facts.answeredSince });
  });
  return checklist(list, name, lines);
}

const isApi = (kind: string): boolean => ["rest", "grpc", "websocket"].includes(kind);

/** The checklists of all that the application declares, one for each thing, and the platform's. */
export function checklists(facts: Facts): readonly Checklist[] {
  const { services, workers, workflows, commands } = facts.declared;
  return [
    ...services
      .filter(({ options }) => isApi(options.kind))
      .map((of) => go(facts, { list: "api", name: of.name, of }, api)),
    ...workers.map((of) => go(facts, { list: "worker", name: of.queue.name, of }, worker)),
    ...workflows.map((of) => go(facts, { list: "workflow", name: of.name, of }, workflow)),
    ...(commands as readonly CommandOf[]).map((of) =>
      checklist("command", of.name, commandLines(of, facts.commands.get(of.name))),
    ),
    go(facts, { list: "platform", name: "", of: undefined }, platform),
  ];
}
