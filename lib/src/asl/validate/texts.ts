// Whether the texts in a JSONPath state that are more than texts can be read: paths and intrinsic calls.
import type { Json, JsonObject } from "../contract.ts";
import { CallSyntaxError } from "../intrinsics.ts";
import { isObject } from "../path/evaluate.ts";
import { PathSyntaxError } from "../path/parse.ts";
import { compileReference } from "../query/jsonpath.ts";
import { namesOneNode } from "../result-path.ts";
import { fieldAt, itemsOf, type Report } from "./shape.ts";

const templates = [
  "Parameters",
  "ResultSelector",
  "ItemSelector",
  "Assign",
  "Credentials",
  "ItemReader/Parameters",
  "ResultWriter/Parameters",
  "ItemBatcher/BatchInput",
];

/** Fields whose path may find many values, or come out of a call. */
const paths = ["InputPath", "OutputPath", "ErrorPath", "CausePath"];
/** Those whose path names one value of the input. */
const onePath = ["ItemsPath", "SecondsPath", "TimestampPath", "TimeoutSecondsPath", "HeartbeatSecondsPath"];
/** Those that do not take it from the context object either. */
const inputPath = [
  "MaxConcurrencyPath",
  "ToleratedFailureCountPath",
  "ToleratedFailurePercentagePath",
  "ItemReader/ReaderConfig/MaxItemsPath",
  "ItemBatcher/MaxItemsPerBatchPath",
  "ItemBatcher/MaxInputBytesPerBatchPath",
];

/** Reports each path and intrinsic call of a JSONPath state that cannot be read. */
export function checkPaths(state: JsonObject, at: string, report: Report): void {
  for (const field of templates) checkTemplate(fieldAt(state, field), `${at}/${field}`, report);
  for (const field of paths) checkPath(state[field], `${at}/${field}`, report);
  for (const field of onePath) checkOnePath(state[field], `${at}/${field}`, report);
  for (const field of inputPath) checkInputPath(fieldAt(state, field), `${at}/${field}`, report);
  checkResultPath(state.ResultPath, `${at}/ResultPath`, report);
  for (const { part, location } of itemsOf(state, "Catch", at)) {
    checkTemplate(part.Assign, `${location}/Assign`, report);
    checkResultPath(part.ResultPath, `${location}/ResultPath`, report);
  }
  for (const { part, location } of itemsOf(state, "Choices", at))
    checkTemplate(part.Assign, `${location}/Assign`, report);
}

function checkTemplate(value: Json | undefined, at: string, report: Report): void {
  if (Array.isArray(value))
    return (value as readonly Json[]).forEach((each, i) => checkTemplate(each, `${at}[${i}]`, report));
  if (!isObject(value)) return;
  for (const [key, each] of Object.entries(value)) {
    if (!key.endsWith(".$")) checkTemplate(each, `${at}/${key}`, report);
    else if (typeof each !== "string" || !isReference(each)) {
      report(
        at,
        `The value for the field '${key}' must be a valid JSONPath or a valid intrinsic function call`,
      );
    }
  }
}

function checkPath(path: Json | undefined, at: string, report: Report): boolean {
  const isWrong = typeof path === "string" && !isReference(path);
  if (isWrong) report(at, "Value must be a valid JSONPath.");
  return !isWrong;
}

const notOne = "Value is not a Reference Path";

function checkOnePath(path: Json | undefined, at: string, report: Report): void {
  if (checkPath(path, at, report) && isPath(path) && !namesOneNode(path)) report(at, notOne);
}

function checkInputPath(path: Json | undefined, at: string, report: Report): void {
  if (isPath(path) && path.startsWith("$$")) report(at, notOne);
  else checkOnePath(path, at, report);
}

/** Where a result goes is a place in the input, which nothing but fields and indexes leads to. */
function checkResultPath(path: Json | undefined, at: string, report: Report): void {
  if (typeof path !== "string") return;
  if (!isPath(path)) report(at, "Value must be a valid JSONPath.");
  else if (/^\$[^.[]/.test(path) || !namesOneNode(path)) report(at, notOne);
}

/** The path that a rule of a Choice looks at. */
export function checkReferencePath(path: Json, at: string, report: Report): void {
  if (typeof path !== "string") report(at, "Expected value of type String");
  else if (!isPath(path)) report(at, `${notOne}: Reference path didn't start with '$'`);
  else if (!namesOneNode(path)) report(at, notOne);
}

const isPath = (value: Json | undefined): value is string =>
  typeof value === "string" && value.startsWith("$");

function isReference(text: string): boolean {
  try {
    compileReference(text);
    return true;
  } catch (error) {
    if (error instanceof PathSyntaxError || error instanceof CallSyntaxError) return false;
    throw error;
  }
}
