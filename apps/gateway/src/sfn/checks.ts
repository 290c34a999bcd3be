// What every operation checks of its input: ARNs, names, pages, JSON texts.
import { parseArn, parseMachineArn, type MachineAddress, type Page } from "tuntas/workflow";
import { isStorable } from "tuntas/queue";
import { limits, readJson } from "tuntas/asl";
import { constraint, required, sfnError } from "./errors.ts";

/** The ARN, if it is one of the kind; an Express execution's is one, yet of the wrong kind for most operations. */
export function checkArn(arn: string | undefined, member: string, kind: string): string {
  const text = required(arn, member);
  const parsed = parseArn(text);
  if (!parsed) throw sfnError("InvalidArn", `Invalid ARN prefix: ${text}`);
  if (parsed.kind !== kind)
    throw sfnError("InvalidArn", `Resource type not valid in this context: ${parsed.kind}`);
  return text;
}

export function checkMachineArn(arn: string | undefined, member = "stateMachineArn"): MachineAddress {
  return parseMachineArn(checkArn(arn, member, "stateMachine"))!;
}

const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;
const nameMax = 80;

/** A name of a machine, an execution or an activity. Source: API_CreateStateMachine, `name`. */
export function checkName(name: string | undefined, member = "name"): string {
  const text = required(name, member);
  if (text.length < 1) throw constraint(text, member, "Member must have length greater than or equal to 1");
  if (text.length > nameMax)
    throw constraint(text, member, `Member must have length less than or equal to ${nameMax}`);
  if (forbidden.test(text) || !isStorable(text)) throw sfnError("InvalidName", text);
  return text;
}

/** What makes a redrive the same redrive. Source: API_RedriveExecution, `clientToken`. */
export function checkClientToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[!-~]{1,64}$/.test(token)) return token;
  const isLong = token.length > 64 && "Member must have length less than or equal to 64";
  const isShort = token === "" && "Member must have length greater than or equal to 1";
  throw constraint(
    token,
    "clientToken",
    isLong || isShort || "Member must satisfy regular expression pattern: [!-~]+",
  );
}

const included = ["METADATA_ONLY", "ALL_DATA"];

/** Whether what flows through an execution, or how it is defined, is wanted too. */
export function wantsData({
  includedData = "ALL_DATA",
}: {
  readonly includedData?: string | undefined;
}): boolean {
  if (included.includes(includedData)) return includedData === "ALL_DATA";
  const rule = `Member must satisfy enum value set: [${included.join(", ")}]`;
  throw constraint(includedData, "includedData", rule);
}

const failureMax = { error: 256, cause: 32_768 } as const;

/** An error and its cause, as far as they were told. Source: API_SendTaskFailure, API_StopExecution. */
export function checkFailure(given: {
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}) {
  const { error, cause } = given;
  for (const member of ["error", "cause"] as const)
    if ((given[member]?.length ?? 0) > failureMax[member])
      throw constraint(
        given[member],
        member,
        `Member must have length less than or equal to ${failureMax[member]}`,
      );
  return { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
}

const resultsMax = 1000;
const pageDefault = 100;

export interface PageInput {
  readonly maxResults?: number | undefined;
  readonly nextToken?: string | undefined;
}

/** A token is the place where the next page begins. */
const encodeToken = (offset: number): string => Buffer.from(`page:${offset}`).toString("base64");

function decodeToken(token: string | undefined, lengthMax: number): number {
  if (token === undefined) return 0;
  if (token.length > lengthMax)
    throw constraint(token, "nextToken", `Member must have length less than or equal to ${lengthMax}`);
  const offset = /^page:(\d{1,15})$/.exec(Buffer.from(token, "base64").toString())?.[1];
  if (offset === undefined) throw sfnError("InvalidToken", "Invalid token");
  return Number(offset);
}

/** One more than asked for, so that the end is seen. */
export function pageOf({ maxResults = 0, nextToken }: PageInput, tokenMax = 1024): Page {
  if (maxResults > resultsMax)
    throw constraint(maxResults, "maxResults", `Member must have value less than or equal to ${resultsMax}`);
  if (maxResults < 0)
    throw constraint(maxResults, "maxResults", "Member must have value greater than or equal to 0");
  return { limit: (maxResults || pageDefault) + 1, offset: decodeToken(nextToken, tokenMax) };
}

/** The items of the page, and the token of the next one if there is more. */
export function cut<T>(
  items: readonly T[],
  { limit, offset }: Page,
): { items: readonly T[]; nextToken?: string } {
  const size = limit - 1;
  if (items.length <= size) return { items };
  return { items: items.slice(0, size), nextToken: encodeToken(offset + size) };
}

/** Jackson's words for a text that is no JSON: it names the token or the character at which it stopped. */
function jsonFault(text: string): string {
  const token = /^\s*([A-Za-z_]\w*)/.exec(text)?.[1];
  if (token !== undefined)
    return `Unrecognized token '${token}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')`;
  const key = /^\s*\{\s*([^"\s}])/.exec(text)?.[1];
  if (key !== undefined)
    return `Unexpected character ('${key}' (code ${key.charCodeAt(0)})): was expecting double-quote to start field name`;
  return "Invalid execution input.";
}

/** The text, if it is JSON within the service's limit. */
export function checkInput(text: string): string {
  if (Buffer.byteLength(text) > limits.dataBytes)
    throw constraint("", "input", `Member must have length less than or equal to ${limits.dataBytes}`);
  try {
    readJson(text);
  } catch {
    throw sfnError("InvalidExecutionInput", jsonFault(text));
  }
  if (!isStorable(text)) throw sfnError("InvalidExecutionInput", "Invalid execution input.");
  return text;
}

/** Members that have an error of their own for what they may not hold. */
const checkedApart = new Set(["definition", "input", "output", "name", "error", "cause"]);

/** Refuses the characters that no text of the database can hold, in whatever member. */
export function checkTexts(value: unknown, member = ""): void {
  if (typeof value === "string") {
    if (!isStorable(value)) throw constraint("", member, "Member must not hold NUL or half of a character");
  } else if (typeof value === "object" && value !== null)
    for (const [key, each] of Object.entries(value)) if (!checkedApart.has(key)) checkTexts(each, key);
}

/** Times travel as seconds. */
export const seconds = (ms: number): number => Math.round(ms) / 1000;
