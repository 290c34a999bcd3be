// What every operation checks of its input: what the model says of each member, ARNs, names, pages, JSON texts.
import { parseArn, parseMachineArn, type MachineAddress, type Page } from "tuntas/workflow";
import { isStorable } from "tuntas/queue";
import { limits, readJson } from "tuntas/asl";
import { validate } from "../constraints.ts";
import type { Structure, ValueOf } from "../shape.ts";
import { roleArnError, sfnError } from "./errors.ts";
import type { shapes } from "./shapes.ts";

/** Errors: ValidationException, which names all that is wrong. */
export function checkMembers(shape: Structure, input: Readonly<Record<string, unknown>>): void {
  const wrong = validate(shape, input);
  if (wrong !== undefined) throw sfnError("ValidationException", wrong);
}

/** The ARN, if it is one of the kind; an Express execution's is one, yet of the wrong kind for most operations. */
export function checkArn(arn: string, kind: string): string {
  const parsed = parseArn(arn);
  if (!parsed) throw sfnError("InvalidArn", `Invalid ARN prefix: ${arn}`);
  if (parsed.kind !== kind)
    throw sfnError("InvalidArn", `Resource type not valid in this context: ${parsed.kind}`);
  return arn;
}

/** Of a machine, a version or an alias; what a distributed Map goes by is refused, as the API reference says of StartExecution. */
export function checkMachineArn(arn: string): MachineAddress {
  const address = parseMachineArn(checkArn(arn, "stateMachine"))!;
  if (!address.name.includes("/")) return address;
  throw sfnError(
    "ValidationException",
    `The ARN must be that of a state machine, and is that of a Map state in one: ${arn}`,
  );
}

/** Partition, service, region and account without a colon, then what it is of; the last is free, and so are region and account. */
const arnForm = /^arn:[^:\s]+:[^:\s]+:[^:\s]*:[^:\s]*:\S+$/;

/** Roles are nobody's here, so any ARN is taken, and nothing else. */
export function checkRoleArn(arn: string): string {
  if (!arnForm.test(arn)) throw roleArnError(arn);
  return arn;
}

const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;

/** A name of a machine, an execution or an activity. Source: API_CreateStateMachine, `name`. */
export function checkName(name: string): string {
  if (forbidden.test(name) || !isStorable(name)) throw sfnError("InvalidName", name);
  return name;
}

/** Whether what flows through an execution, or how it is defined, is wanted too. */
export const wantsData = ({ includedData }: { readonly includedData?: string | undefined }): boolean =>
  includedData !== "METADATA_ONLY";

/** An error and its cause, as far as they were told. */
export const failureOf = ({
  error,
  cause,
}: {
  readonly error?: string | undefined;
  readonly cause?: string | undefined;
}) => ({ ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) });

const pageDefault = 100;

export interface PageInput {
  readonly maxResults?: number | undefined;
  readonly nextToken?: string | undefined;
}

/** A token is the place where the next page begins. */
const encodeToken = (offset: number): string => Buffer.from(`page:${offset}`).toString("base64");

function decodeToken(token: string | undefined): number {
  if (token === undefined) return 0;
  const offset = /^page:(\d{1,15})$/.exec(Buffer.from(token, "base64").toString())?.[1];
  if (offset === undefined) throw sfnError("InvalidToken", "Invalid token");
  return Number(offset);
}

/** One more than asked for, so that the end is seen. */
export const pageOf = ({ maxResults = 0, nextToken }: PageInput): Page => ({
  limit: (maxResults || pageDefault) + 1,
  offset: decodeToken(nextToken),
});

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
    throw sfnError("InvalidExecutionInput", `Input exceeds the size limit of ${limits.dataBytes} bytes`);
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
    if (!isStorable(value))
      throw sfnError(
        "ValidationException",
        `The value at '${member}' has a character that no text can hold.`,
      );
  } else if (typeof value === "object" && value !== null)
    for (const [key, each] of Object.entries(value)) if (!checkedApart.has(key)) checkTexts(each, key);
}

/** Times travel as seconds. */
export const seconds = (ms: number): number => Math.round(ms) / 1000;

/** The configuration as text. Source: API_CreateStateMachine, InvalidEncryptionConfiguration. */
export function checkEncryption(
  encryption: ValueOf<(typeof shapes)["createActivity"]>["encryptionConfiguration"],
): string | undefined {
  if (encryption === undefined) return undefined;
  if (encryption.type === "CUSTOMER_MANAGED_KMS_KEY" && encryption.kmsKeyId === undefined)
    throw sfnError(
      "InvalidEncryptionConfiguration",
      "Invalid Encryption Configuration: CUSTOMER_MANAGED_KMS_KEY needs a kmsKeyId.",
    );
  return JSON.stringify(encryption);
}
