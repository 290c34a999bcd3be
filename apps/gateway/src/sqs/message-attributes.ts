// Message attributes: what may be sent, their size, the MD5 of their canonical form, and which of them a receive wants.
// Source: Developer Guide, sqs-message-metadata.
import { createHash } from "node:crypto";
import { isSqsText } from "tuntas/queue";
import type { WireError } from "../wire.ts";
import { sqsError } from "./errors.ts";

export interface AttributeValue {
  readonly DataType?: string | undefined;
  readonly StringValue?: string | undefined;
  readonly BinaryValue?: string | undefined;
  readonly StringListValues?: readonly string[] | undefined;
  readonly BinaryListValues?: readonly string[] | undefined;
}

export type AttributeMap = Readonly<Record<string, AttributeValue>>;

const countMax = 10;
const nameMax = 256;
const nameForm = /^[A-Za-z0-9_.-]+$/;
const reservedName = /^(?:aws|amazon)?\.|\.$/i;
const typeForm = /^(?:String|Number|Binary)(?:\.[^\s].*)?$/;
const numberMax = 1e126;
const numberMin = -1e128;
// One way only to read each text, so that a long one that is no number is found out in one pass.
const numberForm = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const refuse = (message: string): WireError => sqsError("invalidParameterValue", message);

const refuseValue = (name: string, what: string): WireError =>
  refuse(`Message (user) attribute '${name}' ${what}`);

/** What AWS says of a name that no attribute can have. */
function objectionToName(name: string): string | undefined {
  if (name === "") return "The request must contain non-empty message (user) attribute names.";
  if (name.length > nameMax) return `Message (user) attribute names must be shorter than ${nameMax} Bytes`;
  if (!nameForm.test(name))
    return "Message (user) attributes name can only contain upper and lower score characters, digits, periods, hyphens and underscores. ";
  if (reservedName.test(name))
    return "You can't use message attribute names beginning with 'AWS.' or 'Amazon.'. These strings are reserved for internal use. Additionally, they cannot start or end with '.'.";
  return name.includes("..")
    ? "Message (user) attribute name must not have successive '.' characters."
    : undefined;
}

function checkName(name: string): void {
  const objection = objectionToName(name);
  if (objection !== undefined) throw refuse(objection);
}

function checkType(name: string, type: string | undefined): string {
  if (!type) throw refuseValue(name, "must contain a non-empty message attribute type.");
  if (type.length <= nameMax && typeForm.test(type) && isSqsText(type)) return type;
  throw refuse(
    `The message attribute '${name}' has an invalid message attribute type, ` +
      "the set of supported type prefixes is Binary, Number, and String.",
  );
}

function checkNumber(name: string, text: string): void {
  if (!numberForm.test(text))
    throw refuse(`Can't cast the value of message (user) attribute '${name}' to a number.`);
  const value = Number(text);
  if (value < numberMin || value > numberMax)
    throw refuseValue(name, "has a number that is not between -10^128 and 10^126.");
}

const isBinary = (type: string): boolean => type.startsWith("Binary");

function checkValue(name: string, type: string, { StringValue, BinaryValue }: AttributeValue): void {
  const field = isBinary(type) ? "Binary" : "String";
  const [text, other] = isBinary(type) ? [BinaryValue, StringValue] : [StringValue, BinaryValue];
  if (other) throw refuse(`The message attribute '${name}' with type '${type}' must use field '${field}'.`);
  if (!text) throw refuseValue(name, `must contain a non-empty value of type '${field}'.`);
  if (isBinary(type)) return;
  if (!isSqsText(text)) throw refuseValue(name, "has a value with invalid characters.");
  if (type.startsWith("Number")) checkNumber(name, text);
}

/** Checks what was sent. Errors: InvalidParameterValue. */
export function checkAttributes(attributes: AttributeMap): void {
  const names = Object.keys(attributes);
  if (names.length > countMax) {
    throw refuse(`Number of message attributes [${names.length}] exceeds the allowed maximum [${countMax}].`);
  }
  for (const name of names) {
    const value = attributes[name]!;
    checkName(name);
    checkValue(name, checkType(name, value.DataType), value);
  }
}

/** Whether any has lists for values, which are reserved (API_MessageAttributeValue). */
export const haveLists = (attributes: AttributeMap): boolean =>
  Object.values(attributes).some(
    ({ StringListValues, BinaryListValues }) =>
      StringListValues !== undefined || BinaryListValues !== undefined,
  );

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
