// Items out of the text that an ItemReader fetched: JSON, JSON Lines, CSV; and the files that manifests name.
import type { Json, JsonObject } from "./contract.ts";
import { StateFailure } from "./failure.ts";
import { readJson } from "./limits.ts";
import { setField } from "./json.ts";

export const readerFailure = (cause: string): StateFailure =>
  new StateFailure({ error: "States.ItemReaderFailed", cause });

/** Parses what was read, in the format of `ReaderConfig.InputType`. */
export function parseItems(body: string, inputType: string, config: JsonObject): readonly Json[] {
  if (inputType === "CSV") return parseCsvItems(body, config);
  if (inputType === "JSONL") return parseJsonLines(body);
  return itemsOf(parseJson(body), config);
}

/** Errors: States.ItemReaderFailed. */
export function parseJson(body: string): Json {
  try {
    return readJson(body);
  } catch {
    throw readerFailure("Attempting to map over non-iterable node.");
  }
}

/** An array as it is, an object as its entries; ItemsPointer looks inside first. */
function itemsOf(value: Json, config: JsonObject): readonly Json[] {
  const pointed = typeof config.ItemsPointer === "string" ? byPointer(value, config.ItemsPointer) : value;
  if (Array.isArray(pointed)) return pointed as readonly Json[];
  throw readerFailure("Attempting to map over non-iterable node.");
}

function byPointer(value: Json, pointer: string): Json | undefined {
  let at: Json | undefined = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }
  return at;
}

const parseJsonLines = (body: string): readonly Json[] =>
  body
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .map((line) => parseJson(line));

const delimiters: Readonly<Record<string, string>> = {
  COMMA: ",",
  PIPE: "|",
  SEMICOLON: ";",
  SPACE: " ",
  TAB: "\t",
};

function parseCsvItems(body: string, config: JsonObject): readonly Json[] {
  const rows = parseCsv(body, delimiters[config.CSVDelimiter as string] ?? ",");
  const given = config.CSVHeaderLocation === "GIVEN";
  const headers = given ? (config.CSVHeaders as readonly string[]) : (rows[0] ?? []);
  if (new Set(headers).size < headers.length) throw readerFailure("CSV headers cannot contain duplicates.");
  return (given ? rows : rows.slice(1)).map((row) => record(headers, row));
}

/** A row that is too short has empty fields, one that is too long loses the rest. */
function record(headers: readonly string[], row: readonly string[]): Json {
  const fields: Record<string, Json> = {};
  headers.forEach((header, i) => setField(fields, header, row[i] ?? ""));
  return fields;
}

/** RFC 4180: quoted fields may hold delimiters, line ends and doubled quotes. */
export function parseCsv(text: string, delimiter: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at, delimiter);
    row.push(field.value);
    at = field.end;
    if (text[at] === delimiter) {
      at++;
      if (at < text.length) continue;
      row.push("");
    }
    at = afterLineEnd(text, at);
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

function plainField(text: string, start: number, delimiter: string): { value: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== delimiter && text[end] !== "\n" && text[end] !== "\r") end++;
  return { value: text.slice(start, end), end };
}

function quotedField(text: string, start: number): { value: string; end: number } {
  let value = "";
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === '"' && text[at + 1] !== '"') break;
    if (text[at] === '"') at++;
    value += text[at++];
  }
  return { value, end: at + 1 };
}

function afterLineEnd(text: string, at: number): number {
  if (text[at] === "\r" && text[at + 1] === "\n") return at + 2;
  return at + 1;
}

/** The files that an S3 inventory's manifest.json lists, as parameters of further reads. */
export function manifestFiles(body: string): readonly JsonObject[] {
  const manifest = parseJson(body) as JsonObject;
  const bucket = String(manifest.destinationBucket ?? manifest.sourceBucket ?? "").replace(
    /^arn:[^:]*:s3:::/,
    "",
  );
  if (!Array.isArray(manifest.files) || manifest.files.length === 0)
    throw readerFailure("The manifest lists no files.");
  return (manifest.files as readonly JsonObject[]).map((file) => ({ Bucket: bucket, Key: file.key ?? "" }));
}

/** The files of a manifest that Athena's UNLOAD writes: a line with an S3 URI for each. */
export const athenaFiles = (body: string): readonly JsonObject[] =>
  body
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^"(.*)"$/, "$1"))
    .filter((line) => line !== "")
    .map((uri) => {
      const [, Bucket, Key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(uri) ?? [];
      if (Bucket === undefined || Key === undefined)
        throw readerFailure(`The manifest names no S3 object: ${uri.slice(0, 200)}`);
      return { Bucket, Key };
    });

/** The columns of an inventory file, which has no header row. */
export const manifestHeaders = (body: string): readonly string[] =>
  String((parseJson(body) as JsonObject).fileSchema ?? "Bucket, Key")
    .split(",")
    .map((name) => name.trim());
