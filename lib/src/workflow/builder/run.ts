// The fields of a Map that say what its items are, what becomes of them and of their results; and items that lie in S3.
import type { JsonObject } from "../../asl/contract.ts";
import { given } from "./draft.ts";
import { type Expression, written } from "./expression.ts";
import type { Reader, Tolerated, Written } from "./items.ts";
import { itemScope, made, type Making } from "./scope.ts";

type Count = number | Making;

/** Everything that a run may say of itself; items.ts has its types. */
export interface RunOptions {
  readonly items: Making | Reader<unknown>;
  readonly select?: Making;
  readonly tolerate?: Tolerated;
  readonly batch?: { readonly items?: Count; readonly bytes?: Count; readonly input?: Making };
  readonly results?: Written | "flattened";
}

export const isReader = (run: object): run is Reader<unknown> => "reader" in run;

const toleranceOf = (tolerate: RunOptions["tolerate"]): JsonObject => {
  if (typeof tolerate === "number") return { ToleratedFailureCount: tolerate };
  if (typeof tolerate === "string") return { ToleratedFailurePercentage: Number.parseFloat(tolerate) };
  return given({
    ToleratedFailureCount: written(tolerate?.count),
    ToleratedFailurePercentage: written(tolerate?.percentage),
  });
};

const batcherOf = ({ items, bytes, input }: NonNullable<RunOptions["batch"]>): JsonObject =>
  given({
    MaxItemsPerBatch: made(items),
    MaxInputBytesPerBatch: made(bytes),
    BatchInput: made(input),
  });

function writerOf(results: NonNullable<RunOptions["results"]>): JsonObject {
  if (results === "flattened") return { WriterConfig: { Transformation: "FLATTEN", OutputType: "JSON" } };
  const { bucket, prefix, transformation, type } = results;
  const isPlain = transformation === undefined && type === undefined;
  return given({
    Resource: "arn:aws:states:::s3:putObject",
    Arguments: given({ Bucket: written(bucket), Prefix: written(prefix) }),
    WriterConfig: isPlain
      ? undefined
      : { Transformation: transformation ?? "NONE", OutputType: type ?? "JSON" },
  });
}

export function runFields({ items, select, tolerate, batch, results }: RunOptions): JsonObject {
  return given({
    ...(typeof items === "function" ? { Items: made(items) } : { ItemReader: items.reader }),
    ItemSelector: made(select, itemScope),
    ItemBatcher: batch && batcherOf(batch),
    ResultWriter: results && writerOf(results),
    ...toleranceOf(tolerate),
  });
}

interface S3Object {
  readonly bucket: string | Expression<string>;
  readonly key: string | Expression<string>;
  /** So many of the items and no more. */
  readonly itemsMax?: number | Expression<number>;
}

const reader = (action: string, config: object, parameters: object): Reader<never> => ({
  reader: given({
    Resource: `arn:aws:states:::s3:${action}`,
    ReaderConfig: given(config as JsonObject),
    Arguments: given(written(parameters) as JsonObject),
  }),
});

/** Items for `distributedMap` out of an object of S3; every column of a CSV file is a text. */
export const s3Items = <Item>({
  type,
  bucket,
  key,
  itemsMax,
  columns,
  delimiter,
  pointer,
}: S3Object & {
  readonly type: "CSV" | "JSON" | "JSONL";
  /** Of a CSV file: its columns, where its first row does not name them. */
  readonly columns?: readonly string[];
  readonly delimiter?: "COMMA" | "PIPE" | "SEMICOLON" | "SPACE" | "TAB";
  /** Of a JSON file: where in it the list is, as a JSON Pointer (`/orders`). */
  readonly pointer?: string;
}): Reader<Item> => {
  const header = columns
    ? { CSVHeaderLocation: "GIVEN", CSVHeaders: columns }
    : { CSVHeaderLocation: "FIRST_ROW" };
  const config = {
    InputType: type,
    MaxItems: written(itemsMax),
    ItemsPointer: pointer,
    ...(type === "CSV" ? { ...header, CSVDelimiter: delimiter } : {}),
  };
  return reader("getObject", config, { Bucket: bucket, Key: key });
};

/** An object of S3 in a listing. */
export interface ListedObject {
  readonly Etag: string;
  readonly Key: string;
  readonly LastModified: number;
  readonly Size: number;
  readonly StorageClass: string;
}

/** The objects of a bucket below a prefix, as items. */
export const s3Objects = ({
  bucket,
  prefix,
  itemsMax,
}: Omit<S3Object, "key"> & { readonly prefix?: string | Expression<string> }): Reader<ListedObject> =>
  reader("listObjectsV2", { MaxItems: written(itemsMax) }, { Bucket: bucket, Prefix: prefix });

/** The objects that an S3 inventory lists; the key is that of its manifest.json. */
export const s3Inventory = <Item = { readonly Bucket: string; readonly Key: string }>({
  bucket,
  key,
  itemsMax,
}: S3Object): Reader<Item> =>
  reader("getObject", { InputType: "MANIFEST", MaxItems: written(itemsMax) }, { Bucket: bucket, Key: key });
