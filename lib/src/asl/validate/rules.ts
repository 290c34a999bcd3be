// Rules of the language that go beyond one field: where States.ALL may stand, clocks that depend on each other, and what
// belongs to a distributed Map. Each is one that the specification makes a MUST.
import type { Json, JsonObject } from "../contract.ts";
import { isObject } from "../path/evaluate.ts";
import { itemsOf, type Report } from "./shape.ts";

type Rule = (state: JsonObject, at: string, report: Report) => void;

const statesAll: Rule = (state, at, report) => {
  for (const field of ["Retry", "Catch"]) {
    const items = itemsOf(state, field, at);
    items.forEach(({ part: { ErrorEquals: names }, location }, i) => {
      if (!Array.isArray(names) || !names.includes("States.ALL")) return;
      if (names.length > 1 || i < items.length - 1)
        report(`${location}/ErrorEquals`, "States.ALL must appear alone and at end of list");
    });
  }
};

const clocks: Rule = ({ TimeoutSeconds: timeout, HeartbeatSeconds: heartbeat }, at, report) => {
  if (typeof timeout === "number" && typeof heartbeat === "number" && heartbeat >= timeout)
    report(`${at}/HeartbeatSeconds`, "'HeartbeatSeconds' must be smaller than 'TimeoutSeconds'");
};

const oneOf = (values: readonly string[]): string =>
  `Value should be one of the following: [${values.join(", ")}]`;

const modes = ["INLINE", "DISTRIBUTED"];
const executionTypes = ["STANDARD", "EXPRESS"];
const onlyDistributed = ["ItemReader", "ItemBatcher", "ResultWriter", "Label"];

export const processorField = (state: JsonObject): string =>
  state.ItemProcessor === undefined && state.Iterator !== undefined ? "Iterator" : "ItemProcessor";

export function configOf(state: JsonObject): JsonObject {
  const processor = state[processorField(state)];
  return isObject(processor) && isObject(processor.ProcessorConfig) ? processor.ProcessorConfig : {};
}

const processors: Rule = (state, at, report) => {
  if (state.Type !== "Map") return;
  const { Mode: mode, ExecutionType: type } = configOf(state);
  const place = `${at}/${processorField(state)}/ProcessorConfig`;
  const isDistributed = mode === "DISTRIBUTED";
  if (mode !== undefined && !modes.includes(mode as string)) report(`${place}/Mode`, oneOf(modes));
  if (isDistributed && type === undefined) report(place, "These fields are required: [ExecutionType]");
  if (isDistributed && type !== undefined && !executionTypes.includes(type as string))
    report(`${place}/ExecutionType`, oneOf(executionTypes));
  if (!isDistributed && type !== undefined) report(place, "Field 'ExecutionType' is not supported");
  for (const field of isDistributed ? [] : onlyDistributed.filter((each) => state[each] !== undefined))
    report(`${at}/${field}`, `The field '${field}' is only supported when 'Mode' is 'DISTRIBUTED'`);
};

const readerResource = /^arn:[^:]+:states:::s3:(?:getObject|listObjectsV2)$/;

const reader: Rule = ({ ItemReader: item }, at, report) => {
  if (!isObject(item)) return;
  if (typeof item.Resource !== "string" || !readerResource.test(item.Resource))
    report(`${at}/ItemReader/Resource`, "The field 'Resource' does not match any of the allowed values");
  if (isObject(item.ReaderConfig)) headers(item.ReaderConfig, `${at}/ItemReader/ReaderConfig`, report);
};

const headers: Rule = ({ InputType: type, CSVHeaderLocation: location, CSVHeaders: names }, at, report) => {
  if (type === "CSV" && location === undefined) report(at, "The field 'CSVHeaderLocation' is required");
  if ((type === "JSON" || type === "JSONL") && location !== undefined)
    report(at, "Field 'CSVHeaderLocation' is not supported");
  if (location === "GIVEN" && !isList(names)) report(at, "These fields are required: [CSVHeaders]");
};

const isList = (value: Json | undefined): boolean => Array.isArray(value);

const writer: Rule = ({ ResultWriter: item }, at, report) => {
  if (!isObject(item) || !isObject(item.WriterConfig)) return;
  const missing = ["Transformation", "OutputType"].filter(
    (field) => (item.WriterConfig as JsonObject)[field] === undefined,
  );
  if (missing.length > 0)
    report(`${at}/ResultWriter/WriterConfig`, `These fields are required: [${missing.join(", ")}]`);
};

const rules: readonly Rule[] = [statesAll, clocks, processors, reader, writer];

export function checkRules(state: JsonObject, at: string, report: Report): void {
  for (const rule of rules) rule(state, at, report);
}
