// AWS's REST JSON: method and path say the operation, and carry members of its input beside the body. Source: Smithy, "AWS
// restJson1 protocol".
import type { Shape, Structure } from "../shape.ts";
import type { Operation, Route, WireError } from "../wire.ts";
import { decodeJson } from "./json.ts";

export const restType = "application/json";

type Members = Readonly<Record<string, unknown>>;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The members in the path; undefined where it is another path. */
export function readPath(route: Route, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [route.path.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const labels: [string, string][] = [];
  for (const [index, part] of wanted.entries()) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined ? part !== given[index] : given[index] === "") return undefined;
    if (name !== undefined) labels.push([name, decode(given[index]!)]);
  }
  return Object.fromEntries(labels);
}

/** A text of the query as what its member is; what cannot be that stays a text, and is refused with its name. */
function valueOf(shape: Shape, texts: readonly string[]): unknown {
  if (shape.kind === "list") return texts;
  const [text] = texts;
  return shape.kind === "integer" && /^-?\d{1,15}$/.test(text!) ? Number(text) : text;
}

function readQuery({ query: names = {} }: Route, { members }: Structure, text: string): Members {
  const given = new URLSearchParams(text);
  const present = Object.entries(names).filter(([name]) => given.has(name));
  return Object.fromEntries(
    present.map(([name, member]) => [member, valueOf(members[member]!, given.getAll(name))]),
  );
}

export interface RestRequest {
  readonly labels: Members;
  readonly query: string;
  readonly body: Buffer;
}

/** The input of an operation. Errors: SerializationException. */
export const decodeRest = (
  { input, route }: Operation & { readonly route: Route },
  { labels, query, body }: RestRequest,
): Record<string, unknown> => decodeJson(input, body, { ...readQuery(route, input, query), ...labels });

export const renderRestError = ({ message }: WireError): string => JSON.stringify({ Message: message });
