// Map: over an array in the state's input inside this execution, or as a map run of child executions, whose items may
// come from a reader and whose results may go to a writer.
import { unexpectedType } from "../choice.ts";
import type { Event, Failure, Json, JsonObject, Tolerance } from "../contract.ts";
import { queryFailure, runtimeFailure, StateFailure } from "../failure.ts";
import { asking, effectiveInput, leaveWithResult } from "../flow.ts";
import { batches, type BatchSizes, exceedsTolerance, resultFiles } from "../map-run.ts";
import type { ItemReader, MapSpec, StateSpec } from "../parse.ts";
import { isObject } from "../path/evaluate.ts";
import { type Asking, valueOf } from "../query/query.ts";
import { manifestFiles, manifestHeaders, parseItems, readerFailure } from "../reader.ts";
import { type DraftBranch, emit, type Run, scopeOf, serial, setWait } from "../run.ts";
import { integerOf, numberOf } from "../settings.ts";
import { endChildren, startIterations } from "./children.ts";

export function* enterMap(run: Run, branch: DraftBranch, spec: StateSpec): Asking<void> {
  const map = spec.map!;
  const input = effectiveInput(run, branch, spec);
  const maxConcurrency = yield* concurrencyOf(run, branch, map);
  if (map.reader) return yield* startReading(run, branch, spec, input);
  const items = yield* itemsOf(run, branch, spec, input);
  emit(run, branch, "MapStateStarted", { length: items.length });
  if (map.distributed) return yield* startDistributed(run, branch, spec, items);
  const inputs = yield* inputsOf(run, branch, map, input, items);
  if (items.length === 0) return yield* endChildren(run, branch, spec, []);
  const keepItems = run.machine.readsContext;
  startIterations(
    run,
    branch,
    inputs.map((each, i) => (keepItems ? { input: each, item: items[i]! } : { input: each })),
    maxConcurrency,
  );
}

function* concurrencyOf(run: Run, branch: DraftBranch, map: MapSpec): Asking<number> {
  if (!map.maxConcurrency) return 0;
  const value = yield* integerOf(map.maxConcurrency, scopeOf(run, branch, branch.input));
  if (value < 0) throw runtimeFailure("MaxConcurrency cannot be negative.");
  return value;
}

export function* itemsOf(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  input: Json,
): Asking<readonly Json[]> {
  const { items, itemsField } = spec.map!;
  const value = items ? yield* valueOf(items, scopeOf(run, branch, input)) : input;
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
function* inputsOf(
  run: Run,
  branch: DraftBranch,
  map: MapSpec,
  input: Json,
  items: readonly Json[],
): Asking<readonly Json[]> {
  if (!map.selector) return items;
  const inputs: Json[] = [];
  for (const [index, value] of items.entries())
    inputs.push(yield* valueOf(map.selector, scopeOf(run, branch, input, { item: { index, value } })));
  return inputs;
}

function* startReading(run: Run, branch: DraftBranch, spec: StateSpec, input: Json): Asking<void> {
  const { reader } = spec.map!;
  emit(run, branch, "MapStateStarted", { length: 0 });
  yield* toleranceOf(run, branch, spec.map!);
  yield* maxItemsOf(run, branch, spec.map!);
  const parameters = yield* valueOf(reader!.parameters, scopeOf(run, branch, input));
  const mapRunArn = beginMapRun(run, branch, spec);
  read(run, branch, { mapRunArn, pending: [parameters as JsonObject], items: [] }, reader!.resource);
}

interface Reading {
  readonly mapRunArn: string;
  readonly pending: readonly JsonObject[];
  readonly items: readonly Json[];
  readonly headers?: readonly string[];
}

function read(run: Run, branch: DraftBranch, reading: Reading, resource: string): void {
  const reader = serial(run);
  run.commands.push({ type: "readItems", reader, resource, parameters: reading.pending[0]! });
  setWait(branch, { for: "items", reader, ...reading });
}

function* maxItemsOf(run: Run, branch: DraftBranch, map: MapSpec): Asking<number> {
  const setting = map.reader?.maxItems;
  if (!setting) return Number.POSITIVE_INFINITY;
  const value = yield* integerOf(setting, scopeOf(run, branch, branch.input));
  if (value < 0) throw runtimeFailure(`The ${setting.field} field must be a positive integer: ${value}`);
  return value === 0 ? Number.POSITIVE_INFINITY : value;
}

function* toleranceOf(run: Run, branch: DraftBranch, map: MapSpec): Asking<Tolerance> {
  const scope = scopeOf(run, branch, branch.input);
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
function beginMapRun(run: Run, branch: DraftBranch, spec: StateSpec): string {
  const { machineId, machineName } = run.state.execution;
  const prefix = machineId.split(":").slice(0, 5).join(":");
  const mapRunArn = `${prefix}:mapRun:${machineName}/${spec.map!.label ?? run.random.uuid()}:${run.random.uuid()}`;
  emit(run, branch, "MapRunStarted", { mapRunArn });
  return mapRunArn;
}

function* startDistributed(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  items: readonly Json[],
): Asking<void> {
  yield* toleranceOf(run, branch, spec.map!);
  const mapRunArn = beginMapRun(run, branch, spec);
  yield* startChildren(run, branch, spec, { items, mapRunArn });
}

function* startChildren(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  { items, mapRunArn }: { items: readonly Json[]; mapRunArn: string },
): Asking<void> {
  const map = spec.map!;
  const input = effectiveInput(run, branch, spec);
  const selected = yield* inputsOf(run, branch, map, input, items);
  const inputs = map.batcher ? yield* batched(run, branch, map, selected) : selected;
  const tolerance = yield* toleranceOf(run, branch, map);
  const maxConcurrency = yield* concurrencyOf(run, branch, map);
  const mapRun = serial(run);
  setWait(branch, { for: "mapRun", mapRun, mapRunArn, children: inputs.length, tolerance });
  if (inputs.length === 0) return yield* endMapRun(run, branch, spec, []);
  run.commands.push({
    type: "startMapRun",
    mapRun,
    arn: mapRunArn,
    stateName: spec.name,
    executionType: map.executionType,
    inputs,
    itemCount: items.length,
    maxConcurrency,
    tolerance,
  });
}

function* batched(
  run: Run,
  branch: DraftBranch,
  map: MapSpec,
  items: readonly Json[],
): Asking<readonly Json[]> {
  const { batcher } = map;
  const scope = scopeOf(run, branch, branch.input);
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
export function* resumeMap(run: Run, branch: DraftBranch, spec: StateSpec, event: MapEvent): Asking<void> {
  try {
    yield* goOn(run, branch, spec, event);
  } catch (thrown) {
    const underWay =
      branch.wait?.for === "items" || branch.wait?.for === "mapRun" || branch.wait?.for === "results";
    if (thrown instanceof StateFailure && underWay) {
      setWait(branch, undefined);
      emit(run, branch, "MapRunFailed", thrown.failure);
    }
    throw thrown;
  }
}

function* goOn(run: Run, branch: DraftBranch, spec: StateSpec, event: MapEvent): Asking<void> {
  switch (event.type) {
    case "itemsRead":
      return yield* itemsRead(run, branch, spec, event.body);
    case "itemsFailed":
    case "resultsFailed":
      throw new StateFailure(
        failureOf(
          event,
          event.type === "itemsFailed" ? "States.ItemReaderFailed" : "States.ResultWriterFailed",
        ),
      );
    case "mapRunEnded":
      return yield* mapRunEnded(run, branch, spec, event);
    case "resultsWritten":
      return yield* resultsWritten(run, branch, spec);
  }
}

const failureOf = ({ error, cause }: Failure, fallback: string): Failure => ({
  error: error ?? fallback,
  ...(cause === undefined ? {} : { cause }),
});

function* itemsRead(run: Run, branch: DraftBranch, spec: StateSpec, body: string): Asking<void> {
  const { reader } = spec.map!;
  const { mapRunArn, ...wait } = branch.wait as Extract<typeof branch.wait, { for: "items" }>;
  if (reader!.inputType === "MANIFEST" && !wait.headers) {
    const reading = { mapRunArn, pending: manifestFiles(body), items: [], headers: manifestHeaders(body) };
    return read(run, branch, reading, reader!.resource);
  }
  const items = [...wait.items, ...parseBody(body, reader!, wait.headers)];
  const pending = wait.pending.slice(1);
  if (pending.length > 0) {
    const headers = wait.headers ? { headers: wait.headers } : {};
    return read(run, branch, { mapRunArn, pending, items, ...headers }, reader!.resource);
  }
  const maxItems = yield* maxItemsOf(run, branch, spec.map!);
  yield* startChildren(run, branch, spec, { items: items.slice(0, maxItems), mapRunArn });
}

/** A listing of objects is an array already; the files of an inventory are CSV without headers. */
function parseBody(
  body: string,
  reader: ItemReader,
  headers: readonly string[] | undefined,
): readonly Json[] {
  if (reader.resource.endsWith(":listObjectsV2")) return listing(body);
  if (headers) return parseItems(body, "CSV", { CSVHeaderLocation: "GIVEN", CSVHeaders: headers });
  return parseItems(body, reader.inputType || "JSON", reader.config);
}

function listing(body: string): readonly Json[] {
  const value = JSON.parse(body) as Json;
  const contents = isObject(value) ? value.Contents : value;
  if (!Array.isArray(contents)) throw readerFailure("Attempting to map over non-iterable node.");
  return contents as readonly Json[];
}

function* mapRunEnded(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  event: Extract<MapEvent, { type: "mapRunEnded" }>,
): Asking<void> {
  const wait = branch.wait as Extract<typeof branch.wait, { for: "mapRun" }>;
  const children = event.children.toSorted((left, right) => left.index - right.index);
  const failed = children.filter(({ status }) => status !== "SUCCEEDED").length;
  if (exceedsTolerance(wait.tolerance, wait.children, failed)) {
    throw new StateFailure({
      error: "States.ExceedToleratedFailureThreshold",
      cause: "The specified tolerated failure threshold was exceeded",
    });
  }
  if (!spec.map!.writer)
    return yield* endMapRun(
      run,
      branch,
      spec,
      children.flatMap(({ output }) => (output === undefined ? [] : [output])),
    );
  yield* writeResults(run, branch, spec, event, wait.mapRunArn);
}

function* writeResults(
  run: Run,
  branch: DraftBranch,
  spec: StateSpec,
  event: Extract<MapEvent, { type: "mapRunEnded" }>,
  mapRunArn: string,
): Asking<void> {
  const { writer } = spec.map!;
  const input = effectiveInput(run, branch, spec);
  const parameters =
    writer!.parameters && ((yield* valueOf(writer!.parameters, scopeOf(run, branch, input))) as JsonObject);
  const bucket = String(parameters?.Bucket ?? "");
  const folder = [String(parameters?.Prefix ?? ""), run.random.uuid()]
    .filter((part) => part !== "")
    .join("/");
  const written = resultFiles(event.children, { bucket, folder, mapRunArn, config: writer!.config });
  run.commands.push({ type: "writeResults", mapRun: event.mapRun, bucket, files: written.files });
  setWait(branch, { for: "results", mapRun: event.mapRun, output: written.output });
}

function* resultsWritten(run: Run, branch: DraftBranch, spec: StateSpec): Asking<void> {
  const { output } = branch.wait as Extract<typeof branch.wait, { for: "results" }>;
  yield* endMapRun(run, branch, spec, output);
}

function* endMapRun(run: Run, branch: DraftBranch, spec: StateSpec, output: Json): Asking<void> {
  setWait(branch, undefined);
  emit(run, branch, "MapRunSucceeded");
  emit(run, branch, "MapStateSucceeded");
  yield* asking(leaveWithResult(run, branch, spec, output));
}
