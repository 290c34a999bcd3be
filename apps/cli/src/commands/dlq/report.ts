// What an operation upon dead letters would come to, and what it came to, for a person.
import type { Operation, Survey } from "tuntas/operation";
import type { Answer } from "../../command.ts";
import { plural } from "../../render.ts";

export function planned({ count, forbidden, sample }: Survey<unknown>, done: string): Answer {
  const lines = [
    `would have ${done} ${plural(count, "message")}`,
    ...forbidden.map((each) => `forbidden: ${each.count} (rule: ${each.rule})`),
  ];
  return {
    document: {
      status: "planned",
      operationId: null,
      selected: count,
      moved: 0,
      skipped: 0,
      forbidden,
      sample,
    },
    text: lines.join("\n"),
    status: count === 0 || forbidden.length > 0 ? 1 : 0,
  };
}

export function ended(operation: Operation, word: string): Answer {
  const { id, state, selected, done, refused, skipped, failure } = operation;
  const lines = [
    `${state}: ${word} ${done} of ${plural(selected, "message")}`,
    ...(skipped > 0 ? [`${skipped} were moved or received by somebody else meanwhile`] : []),
    ...(refused > 0 ? [`${refused} were refused; why: tuntas operation show ${id} --outcome refused`] : []),
    ...(failure === null ? [] : [failure]),
    `on the record as operation ${id}`,
  ];
  return {
    document: { status: state, operationId: id, selected, moved: done, skipped, refused },
    text: lines.join("\n"),
    status: state === "completed" ? 0 : 1,
  };
}
