// Declaring changes. A change whose messages would become poison is refused here, where a test or `tuntas check` sees it.
import { toMs } from "../core/duration.ts";
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { declaring, placeOfCaller } from "../core/place.ts";
import { jsonSchemaOf, type JsonSchema, type Schema } from "../core/schema.ts";
import { dayMs, got, wrongName, wrongTime, type Finding } from "../engine/findings.ts";
import {
  changeErrors,
  releases,
  type ChangeDefinition,
  type ChangeOptions,
  type ChangeSpec,
  type ColumnChangeOptions,
  type MessageChangeOptions,
} from "./contract.ts";
import { unfit } from "./shape.ts";

const nameForm = /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,59}$/;
const tableForm = /^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$/;
const columnForm = /^[a-z_][a-z0-9_]*$/;

const wrong = (name: string, message: string) =>
  changeErrors.error("TUNTAS_CHANGE_OPTIONS", `change ${JSON.stringify(name)}: ${message}`);

function* wrongColumn({ column, backfill }: ColumnChangeOptions): Generator<Finding> {
  const { table, from, to, same } = column;
  yield (
    !tableForm.test(table) &&
    `column.table: expected a table with its schema such as shop.item, ${got(table)}`
  );
  for (const [field, value] of Object.entries({ from, to }))
    yield !columnForm.test(value) && `column.${field}: expected a column in lower case, ${got(value)}`;
  yield from === to && `column: expected another column as to, ${got(to)}`;
  yield (
    same !== undefined && typeof same !== "string" && `column.same: expected a condition in SQL, ${got(same)}`
  );
  yield (
    backfill !== "none" &&
    backfill?.kind !== "backfill" &&
    `backfill: expected a backfill or "none", ${got(backfill)}`
  );
}

function* wrongMessage({ message, watch }: MessageChangeOptions): Generator<Finding> {
  yield message.queue?.kind !== "queue" && `message.queue: expected a queue, ${got(message.queue)}`;
  for (const field of ["from", "to"] as const)
    yield !message[field]?.["~standard"] && `message.${field}: expected a schema, ${got(message[field])}`;
  yield wrongTime("watch", watch, [1000, 14 * dayMs], "1h");
}

const isOfColumn = (options: ChangeOptions): options is ColumnChangeOptions => "column" in options;

const optionNames: NamesOf<ChangeOptions> = {
  column: { table: true, from: true, to: true, same: true },
  backfill: true,
  message: true,
  watch: true,
  release: true,
};

function checkOptions(name: string, options: ChangeOptions): void {
  refuseUnknown("change", options, optionNames);
  const form = wrongName(name, nameForm, "up to 60 letters, digits, hyphens and underscores");
  if (form) throw wrong(name, form);
  if ("column" in options === "message" in options)
    throw wrong(name, "expected either column or message, of which it is a change");
  const findings = isOfColumn(options) ? wrongColumn(options) : wrongMessage(options);
  for (const finding of findings) if (finding) throw wrong(name, finding);
  if (!releases.includes(options.release))
    throw wrong(name, `release: expected one of ${releases.join(", ")}, ${got(options.release)}`);
}

function schemaOf(name: string, what: string, schema: Schema<any, any>): JsonSchema {
  const described = jsonSchemaOf(schema);
  if (described) return described;
  throw changeErrors.error(
    "TUNTAS_CHANGE_SHAPE",
    `change ${name}: ${what} cannot be described as JSON Schema`,
  );
}

/** Errors: TUNTAS_CHANGE_SHAPE where the queue does not take what this release and those beside it send. */
function checkShapes(name: string, options: MessageChangeOptions): { from: JsonSchema; to: JsonSchema } {
  const { message, release } = options;
  const taken = schemaOf(name, `queue ${message.queue.name}`, message.queue.options.message);
  const sent = { from: schemaOf(name, "from", message.from), to: schemaOf(name, "to", message.to) };
  for (const [which, schema] of Object.entries(sent)) {
    const mustTake = which === "from" ? release !== "new" : release !== "old";
    const [fault] = mustTake ? unfit(taken, schema) : [];
    if (fault !== undefined)
      throw changeErrors.error(
        "TUNTAS_CHANGE_SHAPE",
        `change ${name}: queue ${message.queue.name} does not take ${which === "from" ? "the old" : "the new"} message: ${fault}`,
      );
  }
  return sent;
}

function specOf(name: string, options: ChangeOptions): ChangeSpec {
  if (!isOfColumn(options))
    return {
      kind: "message",
      queue: options.message.queue.name,
      ...checkShapes(name, options),
      watchMs: toMs(options.watch),
    };
  const { table, from, to, same = `${to} is not distinct from ${from}` } = options.column;
  const { backfill } = options;
  return { kind: "column", table, from, to, same, backfill: backfill === "none" ? null : backfill.name };
}

function declareChange(name: string, options: ChangeOptions): ChangeDefinition {
  checkOptions(name, options);
  return { kind: "change", name, options, spec: specOf(name, options), place: placeOfCaller() };
}

/**
 * Declares a change of a column or of a message's shape on a live system, and what this release does of it. Errors:
 * TUNTAS_CHANGE_OPTIONS, TUNTAS_CHANGE_SHAPE.
 */
export const change = declaring(declareChange);

/** What this release may send to a queue while a change of its messages is under way; undefined where nothing is said. */
export function sentOf(changes: readonly ChangeDefinition[], queue: string): Schema<any, any> | undefined {
  for (const { options } of changes) {
    if (isOfColumn(options) || options.message.queue.name !== queue) continue;
    const { message, release } = options;
    return release === "old" || release === "both" ? message.from : message.to;
  }
  return undefined;
}
