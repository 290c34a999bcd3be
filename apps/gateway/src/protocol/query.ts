// The Query protocol, SQS's older one: parameters in the query string or a form, answers in XML. Structures, lists and
// maps are flattened into names with dots: `Attribute.1.Name`.
import { isUtf8 } from "node:buffer";
import type { ListShape, MapShape, Shape, Structure } from "../shape.ts";
import { isBase64 } from "../shape.ts";
import { genericErrors, WireError } from "../wire.ts";
import { fault } from "./json.ts";

export const formType = "application/x-www-form-urlencoded";
export const xmlType = "text/xml";

const parametersMax = 10_000;
// The deepest name of the API has six parts: SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue.
const partsMax = 8;

interface Node {
  value?: string;
  readonly children: Map<string, Node>;
}

const refuse = (message: string): WireError => new WireError(genericErrors.serialization, message);

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw refuse("A parameter is not percent-encoded UTF-8.");
  }
}

/** The parameters by name; of one that is given twice the first counts. */
function readParameters(parameters: Map<string, string>, text: string): void {
  if (text === "") return;
  for (const pair of text.split("&", parametersMax + 1)) {
    const at = pair.indexOf("=");
    const name = decodeText(at < 0 ? pair : pair.slice(0, at));
    if (!parameters.has(name)) parameters.set(name, at < 0 ? "" : decodeText(pair.slice(at + 1)));
  }
  if (parameters.size > parametersMax) throw refuse(`A request has at most ${parametersMax} parameters.`);
}

/** Reads query string and form. Errors: MalformedInput. */
export function parseParameters(queryString: string, form: Buffer): ReadonlyMap<string, string> {
  if (!isUtf8(form)) throw refuse("The request body is not valid UTF-8.");
  const parameters = new Map<string, string>();
  readParameters(parameters, queryString);
  readParameters(parameters, form.toString());
  return parameters;
}

function makeTree(parameters: ReadonlyMap<string, string>): Node {
  const root: Node = { children: new Map() };
  for (const [name, value] of parameters) {
    let node = root;
    for (const part of name.split(".", partsMax)) {
      const child = node.children.get(part) ?? { children: new Map() };
      node.children.set(part, child);
      node = child;
    }
    node.value = value;
  }
  return root;
}

function toInteger(text: string, name: string): number {
  const value = Number(text);
  if (!/^[+-]?\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
    throw refuse(`${name} must be an integer, got ${text.slice(0, 100)}.`);
  }
  return value;
}

function toBoolean(text: string, name: string): boolean {
  if (text !== "true" && text !== "false")
    throw refuse(`${name} must be true or false, got ${text.slice(0, 100)}.`);
  return text === "true";
}

function toBlob(text: string, name: string): string {
  if (!isBase64(text)) throw refuse(`${name} must be base64 text.`);
  return text;
}

/** The numbered children in the order of their numbers; a single one may also stand without a number (API_SetQueueAttributes). */
function elements(node: Node, { element }: ListShape | MapShape): Node[] {
  const named = node.children.get(element);
  if (!named) return [];
  const numbered = [...named.children].filter(([key]) => /^\d{1,9}$/.test(key));
  if (named.value !== undefined || (numbered.length === 0 && named.children.size > 0)) return [named];
  return numbered.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, child]) => child);
}

function decodeMap(shape: MapShape, node: Node): Record<string, unknown> | undefined {
  const entries = elements(node, shape);
  if (entries.length === 0) return undefined;
  const made = Object.create(null) as Record<string, unknown>;
  for (const entry of entries) {
    const key = entry.children.get(shape.key)?.value;
    const value = entry.children.get(shape.value);
    if (key === undefined || value === undefined)
      throw refuse(`${shape.element}.N needs ${shape.key} and ${shape.value}.`);
    made[key] = decodeScalarOrStructure(shape.of, value, key);
  }
  return made;
}

function decodeList(shape: ListShape, node: Node): unknown[] | undefined {
  const entries = elements(node, shape);
  return entries.length === 0
    ? undefined
    : entries.map((entry) => decodeScalarOrStructure(shape.of, entry, shape.element));
}

function decodeScalarOrStructure(shape: Shape, node: Node, name: string): unknown {
  if (shape.kind === "structure") return decodeStructure(shape, node);
  const { value } = node;
  if (value === undefined) return undefined;
  switch (shape.kind) {
    case "integer":
      return toInteger(value, name);
    case "boolean":
      return toBoolean(value, name);
    case "blob":
      return toBlob(value, name);
    default:
      return value;
  }
}

function decodeStructure(shape: Structure, node: Node): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(shape.members)) {
    const child = node.children.get(name);
    const value =
      member.kind === "list"
        ? decodeList(member, node)
        : member.kind === "map"
          ? decodeMap(member, node)
          : child && decodeScalarOrStructure(member, child, name);
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** The input of an operation. Errors: MalformedInput. */
export function decodeQuery(
  shape: Structure,
  parameters: ReadonlyMap<string, string>,
): Record<string, unknown> {
  return decodeStructure(shape, makeTree(parameters));
}

// A carriage return would come back as a line feed from any XML parser.
const escapes: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};
// eslint-disable-next-line no-control-regex
const outsideXml = /[^\u0009\u000A\u000D\u0020-\uFFFD]/g;

const escape = (text: string): string =>
  text.replaceAll(outsideXml, "\uFFFD").replaceAll(/[&<>"\r]/g, (character) => escapes[character]!);

const tag = (name: string, content: string): string => `<${name}>${content}</${name}>`;

function renderMember(name: string, shape: Shape, value: unknown): string {
  if (value === undefined) return "";
  if (shape.kind === "list") {
    return (value as unknown[]).map((entry) => tag(shape.element, renderValue(shape.of, entry))).join("");
  }
  if (shape.kind !== "map") return tag(name, renderValue(shape, value));
  return Object.entries(value as object)
    .map(([key, entry]) =>
      tag(shape.element, tag(shape.key, escape(key)) + tag(shape.value, renderValue(shape.of, entry))),
    )
    .join("");
}

function renderValue(shape: Shape, value: unknown): string {
  if (shape.kind !== "structure") return escape(String(value));
  return Object.entries(shape.members)
    .map(([name, member]) => renderMember(name, member, (value as Record<string, unknown>)[name]))
    .join("");
}

export interface QueryAnswer {
  readonly action: string;
  readonly namespace: string;
  readonly requestId: string;
  readonly output: Structure | undefined;
  readonly result: object | void;
}

/** The answer as XML. */
export function renderXml({ action, namespace, requestId, output, result }: QueryAnswer): string {
  const content = output ? tag(`${action}Result`, renderValue(output, result ?? {})) : "";
  const metadata = tag("ResponseMetadata", tag("RequestId", requestId));
  return `<?xml version="1.0"?><${action}Response xmlns="${namespace}">${content}${metadata}</${action}Response>`;
}

/** The answer as JSON, for who asks for it with Accept. */
export const renderXmlAsJson = ({ action, requestId, output, result }: QueryAnswer): string =>
  JSON.stringify({
    [`${action}Response`]: {
      ...(output && { [`${action}Result`]: result ?? {} }),
      ResponseMetadata: { RequestId: requestId },
    },
  });

/** An error as JSON, for who asks for it with Accept. */
export const renderXmlErrorAsJson = ({ kind, message }: WireError, requestId: string): string =>
  JSON.stringify({
    Error: {
      Code: kind.queryCode,
      Detail: null,
      Message: kind.queryMessage ?? message,
      Type: fault(kind.status),
    },
    RequestId: requestId,
  });

export function renderXmlError({ kind, message }: WireError, namespace: string, requestId: string): string {
  if (kind === genericErrors.unknownOperation) return "<UnknownOperationException/>";
  const error =
    tag("Type", fault(kind.status)) +
    tag("Code", kind.queryCode) +
    tag("Message", escape(kind.queryMessage ?? message)) +
    "<Detail/>";
  return `<?xml version="1.0"?><ErrorResponse xmlns="${namespace}">${tag("Error", error)}${tag("RequestId", requestId)}</ErrorResponse>`;
}
