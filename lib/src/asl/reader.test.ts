// Items that lie in several files: those that a listing, an inventory or Athena's manifest names.
import { expect, it } from "vitest";
import type { Json, JsonObject } from "./contract.ts";
import { simulate } from "./simulate.ts";

const store: Readonly<Record<string, string>> = {
  "listObjectsV2 b/": JSON.stringify([{ Key: "one.jsonl" }, { Key: "two.jsonl" }]),
  "listObjectsV2 empty/": "[]",
  "getObject b/one.jsonl": '{"n":1}\n{"n":2}\n',
  "getObject b/two.jsonl": '{"n":3}',
  "getObject b/athena": "s3://b/one.jsonl\ns3://b/two.jsonl\n",
  "getObject b/odd": "https://b/one.jsonl\n",
  "getObject b/nested.json": '{"data":{"rows":[7,8]}}',
};

/** The items of a map run whose reader is this. */
async function itemsOf(action: string, Parameters: JsonObject, ReaderConfig: JsonObject) {
  const state = {
    Type: "Map",
    ItemReader: { Resource: `arn:aws:states:::s3:${action}`, Parameters, ReaderConfig },
    ItemProcessor: {
      ProcessorConfig: { Mode: "DISTRIBUTED", ExecutionType: "STANDARD" },
      StartAt: "P",
      States: { P: { Type: "Pass", End: true } },
    },
    End: true,
  };
  const machine = { StartAt: "M", States: { M: state } } as unknown as JsonObject;
  const objects = (resource: string, { Bucket, Key = "" }: JsonObject) =>
    store[`${resource.split(":").at(-1)} ${String(Bucket)}/${String(Key)}`] ?? { error: "S3.NoSuchKey" };
  const { status, output, error } = await simulate(machine, {}, { objects });
  return status === "SUCCEEDED" ? output : error;
}

const lines = { InputType: "JSONL" };
it.each<[string, string, JsonObject, JsonObject, Json]>([
  [
    "objects that are listed",
    "listObjectsV2",
    { Bucket: "b" },
    {},
    [{ Key: "one.jsonl" }, { Key: "two.jsonl" }],
  ],
  [
    "what is in the objects that are listed",
    "listObjectsV2",
    { Bucket: "b" },
    { ...lines, Transformation: "LOAD_AND_FLATTEN" },
    [{ n: 1 }, { n: 2 }, { n: 3 }],
  ],
  [
    "no more of it than is wanted",
    "listObjectsV2",
    { Bucket: "b" },
    { ...lines, Transformation: "LOAD_AND_FLATTEN", MaxItems: 2 },
    [{ n: 1 }, { n: 2 }],
  ],
  [
    "nothing in nothing",
    "listObjectsV2",
    { Bucket: "empty" },
    { ...lines, Transformation: "LOAD_AND_FLATTEN" },
    [],
  ],
  [
    "the files of a manifest of Athena",
    "getObject",
    { Bucket: "b", Key: "athena" },
    { ...lines, ManifestType: "ATHENA_DATA" },
    [{ n: 1 }, { n: 2 }, { n: 3 }],
  ],
  [
    "where a manifest names no object",
    "getObject",
    { Bucket: "b", Key: "odd" },
    { ...lines, ManifestType: "ATHENA_DATA" },
    "States.ItemReaderFailed",
  ],
  [
    "a list within a document",
    "getObject",
    { Bucket: "b", Key: "nested.json" },
    { InputType: "JSON", ItemsPointer: "/data/rows" },
    [7, 8],
  ],
])("reads %s", async (_what, action, parameters, config, expected) => {
  expect(await itemsOf(action, parameters, config)).toEqual(expected);
});
