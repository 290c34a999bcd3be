// Map: over an array in the state's input inside this execution, or as a map run of child executions, whose items may
// come from a reader and whose results may go to a writer.
import { unexpectedType } from "../choice.ts";
import type { Event, Failure, Json, JsonObject, MapRun, ReaderFiles, Tolerance, Wait } from "../contract.ts";
import { queryFailure, runtimeFailure, StateFailure } from "../failure.ts";
import { asking, effectiveInput, leaveWithResult } from "../flow.ts";
import { type Batch, batches, type BatchSizes, exceedsTolerance } from "../map-run.ts";
import type { ItemReader, MapSpec } from "../parse.ts";
import { isObject } from "../path/evaluate.ts";
import { type Asking, valueOf } from "../query/query.ts";
import {
  athenaFiles,
  manifestFiles,
  manifestHeaders,
  parseItems,
  parseJson,
  readerFailure,
} from "../reader.ts";
import { previewed, resultFiles } from "./results.ts";
import { emit, keepMapRun, type Place, scopeOf, serial, setWait, type Visit } from "../run.ts";
import { integerOf, numberOf } from "../settings.ts";
import { endChildren, startIterations } from "./children.ts";

export function* enterMap(visit: Visit): Asking<void> {
  const { run, spec } = visit;
  const map = spec.map!;
  const input = effectiveInput(visit);
  const maxConcurrency = yield* concurrencyOf(visit);
  if (map.reader) return yield* startReading(visit, input);
  const items = yield* itemsOf(visit, input);
  emit(visit, "MapStateStarted", { length: items.length });
  if (map.distributed) return yield* startDistributed(visit, items);
  const inputs = yield* inputsOf(visit, input, items);
  if (items.length === 0) return yield* endChildren(visit, []);
  const keepItems = run.machine.readsContext;
  startIterations(
    visit,
    inputs.map((each, i) => (keepItems ? { input: each, item: items[i]! } : { input: each })),
    maxConcurrency,
  );
}

function* concurrencyOf(visit: Visit): Asking<number> {
  const { branch, spec } = visit;
  const map = spec.map!;
  if (!map.maxConcurrency) return 0;
  const value = yield* integerOf(map.maxConcurrency, scopeOf(visit, branch.input));
  if (value < 0) throw runtimeFailure("MaxConcurrency cannot be negative.");
  return value;
}

export function* itemsOf(visit: Visit, input: Json): Asking<readonly Json[]> {
  const { spec } = visit;
  const { items, itemsField } = spec.map!;
  const value = items ? yield* valueOf(items, scopeOf(visit, input)) : input;
  if (Array.isArray(value)) return value as readonly Json[];
  if (itemsField !== undefined)
    throw queryFailure(unexpectedType(itemsField, "Items", "array", value), "Items");
  if (spec.language === "JSONata")
    throw queryFailure(`Map state input must be an array but was: ${JSON.stringify(value)}`);
  throw runtimeFailure(
    `Reference path "${String(spec.definition.ItemsPath ?? "$")}" must point to array.`.replace('"$$', '"$'),
  );
}

/** The input of each iteration: the item, or what ItemSelector makes of it. */
export function* inputsOf(visit: Visit, input: Json, items: readonly Json[]): Asking<readonly Json[]> {
  const map = visit.spec.map!;
  if (!map.selector) return items;
  const inputs: Json[] = [];
  for (const [index, value] of items.entries())
    inputs.push(yield* valueOf(map.selector, scopeOf(visit, input, { item: { index, value } })));
  return inputs;
}

function* startReading(visit: Visit, input: Json): Asking<void> {
  const { spec } = visit;
  const { reader } = spec.map!;
  emit(visit, "MapStateStarted", { length: 0 });
  yield* toleranceOf(visit);
  yield* maxItemsOf(visit);
  const parameters = yield* valueOf(reader!.parameters, scopeOf(visit, input));
  const mapRunArn = beginMapRun(visit);
  read(visit, { mapRunArn, pending: [parameters as JsonObject], items: [] }, reader!);
}

type Reading = Omit<Extract<Wait, { for: "items" }>, "for" | "reader">;

/** Files that were named are objects, however they were found. */
function read(place: Place, reading: Reading, { resource }: ItemReader): void {
  const { run, branch } = place;
  const reader = serial(run);
  const parameters = reading.pending[0]!;
  const of = reading.files ? resource.replace(/:listObjectsV2$/, ":getObject") : resource;
  run.commands.push({ type: "readItems", reader, resource: of, parameters });
  setWait(branch, { for: "items", reader, ...reading });
}

function* maxItemsOf(visit: Visit): Asking<number> {
  const { branch, spec } = visit;
  const map = spec.map!;
  const setting = map.reader?.maxItems;
  if (!setting) return Number.POSITIVE_INFINITY;
  const value = yield* integerOf(setting, scopeOf(visit, branch.input));
  if (value < 0) throw runtimeFailure(`The ${setting.field} field must be a positive integer: ${value}`);
  return value === 0 ? Number.POSITIVE_INFINITY : value;
}

function* toleranceOf(visit: Visit): Asking<Tolerance> {
  const { branch, spec } = visit;
  const map = spec.map!;
  const scope = scopeOf(visit, branch.input);
  const count = map.toleratedCount && (yield* integerOf(map.toleratedCount, scope));
  if (count !== undefined && count < 0) throw runtimeFailure("ToleratedFailureCount cannot be negative.");
  const percentage = map.toleratedPercentage && (yield* numberOf(map.toleratedPercentage, scope));
  if (percentage !== undefined && (percentage < 0 || percentage > 100))
    throw runtimeFailure("ToleratedFailurePercentage must be between 0 and 100.");
  return {
    ...(count === undefined ? {} : { failureCount: count }),
    ...(percentage === undefined ? {} : { failurePercentage: percentage }),
  };
}

/** `arn:…:mapRun:MachineName/Label:UUID`; without a Label a UUID stands in. */
function beginMapRun(visit: Visit): string {
  const { run, spec } = visit;
  const { machineId, machineName } = run.state.execution;
  const prefix = machineId.split(":").slice(0, 5).join(":");
  const mapRunArn = `${prefix}:mapRun:${machineName}/${spec.map!.label ?? run.random.uuid()}:${run.random.uuid()}`;
  emit(visit, "MapRunStarted", { mapRunArn });
  return mapRunArn;
}

function* startDistributed(visit: Visit, items: readonly Json[]): Asking<void> {
  yield* toleranceOf(visit);
  const mapRunArn = beginMapRun(visit);
  yield* startChildren(visit, { items, mapRunArn });
}

function* startChildren(
  visit: Visit,
  { items, mapRunArn }: { items: readonly Json[]; mapRunArn: string },
): Asking<void> {
  const { run, branch, spec } = visit;
  const map = spec.map!;
  const input = effectiveInput(visit);
  const selected = yield* inputsOf(visit, input, items);
  const batch = map.batcher && (yield* batched(visit, map, selected));
  const inputs = batch ?? selected;
  const tolerance = yield* toleranceOf(visit);
  const maxConcurrency = yield* concurrencyOf(visit);
  const mapRun = serial(run);
  setWait(branch, { for: "mapRun", mapRun, mapRunArn, children: inputs.length, tolerance });
  if (inputs.length === 0) return yield* endMapRun(visit, []);
  run.commands.push({
    type: "startMapRun",
    mapRun,
    arn: mapRunArn,
    stateName: spec.name,
    executionType: map.executionType,
    inputs,
    itemCount: items.length,
    ...(batch ? { batchSizes: batch.map(({ Items }) => Items.length) } : {}),
    maxConcurrency,
    tolerance,
  });
}

/** The map run that failed or was stopped goes on: what did not succeed runs again, what never ran begins. */
export function redriveMap(visit: Visit, kept: MapRun): void {
  const { run, branch } = visit;
  const redriveCount = (kept.redrives ?? 0) + 1;
  branch.mapRun = undefined;
  emit(visit, "MapRunRedriven", { mapRunArn: kept.mapRunArn, redriveCount });
  const mapRun = serial(run);
  setWait(branch, { for: "mapRun", mapRun, ...kept, redrives: redriveCount });
  run.commands.push({ type: "redriveMapRun", mapRun, arn: kept.mapRunArn, redriveCount });
}

export function* batched(place: Place, map: MapSpec, items: readonly Json[]): Asking<readonly Batch[]> {
  const { branch } = place;
  const { batcher } = map;
  const scope = scopeOf(place, branch.input);
  const maxItems = batcher!.maxItems && (yield* integerOf(batcher!.maxItems, scope));
  const maxBytes = batcher!.maxInputBytes && (yield* integerOf(batcher!.maxInputBytes, scope));
  const batchInput = batcher!.batchInput && (yield* valueOf(batcher!.batchInput, scope));
  const sizes: BatchSizes = {
    ...(maxItems === undefined ? {} : { maxItems }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  };
  return batches(items, sizes, batchInput);
}

type MapEvent = Extract<Event, { readonly reader: number } | { readonly mapRun: number }>;

/** Takes what the engine tells about the reader, the map run or the writer that the state waits for. */
export function* resumeMap(visit: Visit, event: MapEvent): Asking<void> {
  const { branch } = visit;
  try {
    yield* goOn(visit, event);
  } catch (thrown) {
    const { wait } = branch;
    const underWay = wait?.for === "items" || wait?.for === "mapRun" || wait?.for === "results";
    if (thrown instanceof StateFailure && underWay) {
      if (wait.for !== "items") keepMapRun(branch, wait);
      setWait(branch, undefined);
      emit(visit, "MapRunFailed", thrown.failure);
    }
    throw thrown;
  }
}

function* goOn(visit: Visit, event: MapEvent): Asking<void> {
  switch (event.type) {
    case "itemsRead":
      return yield* itemsRead(visit, event.body);
    case "itemsFailed":
    case "resultsFailed":
      throw new StateFailure(
        failureOf(
          event,
          event.type === "itemsFailed" ? "States.ItemReaderFailed" : "States.ResultWriterFailed",
        ),
      );
    case "mapRunEnded":
      return yield* mapRunEnded(visit, event);
    case "resultsWritten":
      return yield* resultsWritten(visit);
  }
}

const failureOf = ({ error, cause }: Failure, fallback: string): Failure => ({
  error: error ?? fallback,
  ...(cause === undefined ? {} : { cause }),
});

function* itemsRead(visit: Visit, body: string): Asking<void> {
  const { branch, spec } = visit;
  const reader = spec.map!.reader!;
  const {
    for: _for,
    reader: _number,
    ...wait
  } = branch.wait as Extract<typeof branch.wait, { for: "items" }>;
  const named = wait.files ? undefined : filesIn(body, reader, wait.pending[0]!);
  if (named && named.pending.length > 0) return read(visit, { ...wait, ...named }, reader);
  const items = named ? [] : [...wait.items, ...parseBody(body, reader, wait.files)];
  const pending = wait.pending.slice(1);
  if (pending.length > 0) return read(visit, { ...wait, pending, items }, reader);
  const maxItems = yield* maxItemsOf(visit);
  yield* startChildren(visit, { items: items.slice(0, maxItems), mapRunArn: wait.mapRunArn });
}

/** The files that hold the items, where what was read only names them: a manifest, or a listing whose objects are loaded. */
function filesIn(
  body: string,
  { resource, inputType, config }: ItemReader,
  { Bucket = "" }: JsonObject,
): Pick<Reading, "pending" | "files"> | undefined {
  if (config.ManifestType === "ATHENA_DATA") return { pending: athenaFiles(body), files: {} };
  if (inputType === "MANIFEST")
    return { pending: manifestFiles(body), files: { headers: manifestHeaders(body) } };
  if (!isListing(resource) || config.Transformation !== "LOAD_AND_FLATTEN") return undefined;
  const pending = listing(body).map((entry) => ({ Bucket, Key: (entry as JsonObject).Key ?? "" }));
  return { pending, files: {} };
}

const isListing = (resource: string): boolean => resource.endsWith(":listObjectsV2");

/** A listing of objects is an array already; the files of an inventory are CSV without headers. */
export function parseBody(
  body: string,
  { resource, inputType, config }: ItemReader,
  files?: ReaderFiles,
): readonly Json[] {
  if (isListing(resource) && !files) return listing(body);
  if (files?.headers)
    return parseItems(body, "CSV", { CSVHeaderLocation: "GIVEN", CSVHeaders: files.headers });
  return parseItems(body, inputType || "JSON", config);
}

function listing(body: string): readonly Json[] {
  const value = parseJson(body);
  const contents = isObject(value) ? value.Contents : value;
  if (!Array.isArray(contents)) throw readerFailure("Attempting to map over non-iterable node.");
  return contents as readonly Json[];
}

type MapRunEnded = Extract<MapEvent, { type: "mapRunEnded" }>;

function* mapRunEnded(visit: Visit, event: MapRunEnded): Asking<void> {
  const { branch, spec } = visit;
  const wait = branch.wait as Extract<typeof branch.wait, { for: "mapRun" }>;
  const children = event.children.toSorted((left, right) => left.index - right.index);
  const failed = children.filter(({ status }) => status !== "SUCCEEDED").length;
  const isFailed = exceedsTolerance(event.tolerance ?? wait.tolerance, wait.children, failed);
  const { writer } = spec.map!;
  if (writer?.parameters) return yield* writeResults(visit, { ...event, children }, isFailed);
  if (isFailed) throw new StateFailure(thresholdExceeded);
  yield* endMapRun(visit, previewed(children, writer?.config ?? {}));
}

const thresholdExceeded: Failure = {
  error: "States.ExceedToleratedFailureThreshold",
  cause: "The specified tolerated failure threshold was exceeded",
};

/** Of a run that failed too: what there is can be looked at then. */
function* writeResults(
  visit: Visit,
  { children, pending = [] }: MapRunEnded,
  isFailed: boolean,
): Asking<void> {
  const { run, branch, spec } = visit;
  const { parameters, config } = spec.map!.writer!;
  const { for: _for, mapRun, ...kept } = branch.wait as Extract<Wait, { for: "mapRun" }>;
  const { Bucket, Prefix } = (yield* valueOf(
    parameters!,
    scopeOf(visit, effectiveInput(visit)),
  )) as JsonObject;
  const bucket = String(Bucket ?? "");
  const folder = [String(Prefix ?? ""), run.random.uuid()].filter((part) => part !== "").join("/");
  const destination = { bucket, folder, mapRunArn: kept.mapRunArn, config };
  const { files, output } = resultFiles(children, pending, destination);
  run.commands.push({ type: "writeResults", mapRun, bucket, files });
  setWait(branch, {
    for: "results",
    mapRun,
    output,
    ...(isFailed ? { failure: thresholdExceeded } : {}),
    ...kept,
  });
}

function* resultsWritten(visit: Visit): Asking<void> {
  const { branch } = visit;
  const { output, failure } = branch.wait as Extract<typeof branch.wait, { for: "results" }>;
  if (failure) throw new StateFailure(failure);
  yield* endMapRun(visit, output);
}

function* endMapRun(visit: Visit, output: Json): Asking<void> {
  const { branch } = visit;
  setWait(branch, undefined);
  emit(visit, "MapRunSucceeded");
  emit(visit, "MapStateSucceeded");
  yield* asking(leaveWithResult(visit, output));
}
