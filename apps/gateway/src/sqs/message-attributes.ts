// Message attributes: what may be sent, their size, the MD5 of their canonical form, and which of them a receive wants.
// Source: Developer Guide, sqs-message-metadata.
import { createHash } from "node:crypto";
import { isSqsText } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { invalid, sqsError } from "./errors.ts";

export interface AttributeValue {
  readonly DataType?: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: string | undefined;
}

export type AttributeMap = Readonly<Record<string, AttributeValue>>;

const countMax = 10;
const nameMax = 256;
const nameForm = /^(?!\.)(?!.*\.\.)[A-Za-z0-9_.-]+(?<!\.)$/;
const reservedPrefix = /^(?:aws|amazon)\./i;
const typeForm = /^(?:String|Number|Binary)(?:\.[^\s].*)?$/;
// One way only to read each text, so that a long one that is no number is found out in one pass.
const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const refuse = (name: string, what: string): WireError =>
  sqsError("invalidParameterValue", `Message (user) attribute '${name}' ${what}`);

function checkName(name: string): void {
  if (name.length > nameMax || !nameForm.test(name) || reservedPrefix.test(name)) {
    throw invalid(
      name.slice(0, nameMax),
      "MessageAttributeName",
      "It can contain up to 256 letters, digits, hyphens, underscores and single periods, " +
        "does not begin or end with a period and does not begin with AWS. or Amazon.",
    );
  }
}

function checkType(name: string, type: string | undefined): string {
  if (!type) throw refuse(name, "must contain a non-empty message attribute type.");
  if (type.length <= nameMax && typeForm.test(type) && isSqsText(type)) return type;
  throw sqsError(
    "invalidParameterValue",
    `The message attribute '${name}' has an invalid message attribute type, ` +
      "the set of supported type prefixes is Binary, Number, and String.",
  );
}

const isBinary = (type: string): boolean => type.startsWith("Binary");

function checkValue(name: string, type: string, value: AttributeValue): void {
  const text = isBinary(type) ? value.BinaryValue : value.StringValue;
  if (!text)
    throw refuse(name, `must contain a non-empty value of type '${isBinary(type) ? "Binary" : "String"}'.`);
  if (isBinary(type)) return;
  if (!isSqsText(text)) throw refuse(name, "has a value with invalid characters.");
  if (type.startsWith("Number") && !numberForm.test(text)) throw refuse(name, "cannot be cast to a number.");
}

/** Checks what was sent. Errors: InvalidParameterValue. */
export function checkAttributes(attributes: AttributeMap): void {
  const names = Object.keys(attributes);
  if (names.length > countMax) {
    throw sqsError(
      "invalidParameterValue",
      `Number of message attributes [${names.length}] exceeds the allowed maximum [${countMax}].`,
    );
  }
  for (const name of names) {
    const value = attributes[name]!;
    checkName(name);
    checkValue(name, checkType(name, value.DataType), value);
  }
}

const bytesOf = ({ DataType, StringValue, BinaryValue }: AttributeValue): Buffer =>
  isBinary(DataType!) ? Buffer.from(BinaryValue!, "base64") : Buffer.from(StringValue!);

const valueSize = ({ DataType = "", StringValue = "", BinaryValue = "" }: AttributeValue): number =>
  isBinary(DataType) ? Buffer.byteLength(BinaryValue, "base64") : Buffer.byteLength(StringValue);

/** The bytes that attributes count for: name, type and value of each; also of attributes that are not checked yet. */
export function attributesSize(attributes: AttributeMap): number {
  let size = 0;
  for (const [name, value] of Object.entries(attributes)) {
    size += Buffer.byteLength(name) + Buffer.byteLength(value.DataType ?? "") + valueSize(value);
  }
  return size;
}

/** The text that is stored: name to type and value, in the order in which they were sent. */
export const attributesText = (attributes: AttributeMap): string => JSON.stringify(attributes);

/** What was stored. Whoever sends in SQL may leave out a type, or give what is no attribute; that is none. */
export function parseAttributes(text: string): AttributeMap {
  const entries = Object.entries(JSON.parse(text) as Record<string, AttributeValue | null>).flatMap(
    ([name, value]) => {
      const { DataType: given, StringValue, BinaryValue } = value ?? {};
      const DataType = typeof given === "string" ? given : "String";
      const content = isBinary(DataType) ? BinaryValue : StringValue;
      return typeof content === "string" ? [[name, { ...value, DataType }] as const] : [];
    },
  );
  return Object.fromEntries(entries);
}

function* lengthPrefixed(bytes: Buffer): Generator<Buffer> {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  yield length;
  yield bytes;
}

/** MD5 over the sorted names, each with its type and value, all with their lengths; undefined where there are none. */
export function attributesMd5(attributes: AttributeMap): string | undefined {
  const names = Object.keys(attributes).toSorted();
  if (names.length === 0) return undefined;
  const hash = createHash("md5");
  for (const name of names) {
    const value = attributes[name]!;
    for (const part of lengthPrefixed(Buffer.from(name))) hash.update(part);
    for (const part of lengthPrefixed(Buffer.from(value.DataType!))) hash.update(part);
    hash.update(isBinary(value.DataType!) ? "\x02" : "\x01");
    for (const part of lengthPrefixed(bytesOf(value))) hash.update(part);
  }
  return hash.digest("hex");
}

const everything = new Set(["All", ".*", "*"]);

function isWanted(name: string, filters: readonly string[]): boolean {
  return filters.some(
    (filter) => filter === name || (filter.endsWith(".*") && name.startsWith(filter.slice(0, -2))),
  );
}

/** Those attributes that a receive asks for: `All`, names, or `prefix.*`; unknown names ask for nothing. */
export function selectAttributes(attributes: AttributeMap, filters: readonly string[]): AttributeMap {
  if (filters.some((filter) => everything.has(filter))) return attributes;
  const selected = Object.create(null) as Record<string, AttributeValue>;
  for (const [name, value] of Object.entries(attributes)) if (isWanted(name, filters)) selected[name] = value;
  return selected;
}
