// Message attributes: as callers have them, and as SQS has them (JSON text of name to DataType and value).
import { queueErrors } from "./contract.ts";

/** An attribute with its type. */
export interface Attribute {
  /** String, Number or Binary, with a dot and a word of one's own behind it where one likes. */
  readonly DataType: string;
  readonly StringValue?: string;
  /** In base64, of type Binary. */
  readonly BinaryValue?: string;
}

type Given = Readonly<Record<string, string | Attribute>> | undefined;

const typeForm = /^(String|Number|Binary)(\..+)?$/s;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** What is wrong with it; undefined where it fits its type. */
function wrongOf(attribute: Partial<Attribute> | null): string | undefined {
  const { DataType, StringValue, BinaryValue } = attribute ?? {};
  const [, type] = typeForm.exec(String(DataType)) ?? [];
  if (type === undefined)
    return `expected DataType String, Number or Binary, got ${JSON.stringify(DataType) ?? "none"}`;
  if (type === "Binary")
    return isText(BinaryValue) && base64.test(BinaryValue) ? undefined : "expected BinaryValue in base64";
  if (!isText(StringValue)) return "expected StringValue with at least a character";
  return type === "Number" && !Number.isFinite(Number(StringValue))
    ? "expected a number as StringValue"
    : undefined;
}

/** Errors: TUNTAS_MESSAGE_ATTRIBUTE. */
export function checkAttributes(queue: string, given: Given): void {
  for (const [name, value] of Object.entries(given ?? {})) {
    const wrong = typeof value === "string" ? undefined : wrongOf(value);
    if (wrong !== undefined)
      throw queueErrors.error("TUNTAS_MESSAGE_ATTRIBUTE", `message to ${queue}: attribute ${name}: ${wrong}`);
  }
}

/** As SQS has them; undefined where there are none. */
export function attributesOf(given: Given): string | undefined {
  const entries = Object.entries(given ?? {}).map(([name, value]) => [
    name,
    typeof value === "string" ? { DataType: "String", StringValue: value } : value,
  ]);
  return entries.length === 0 ? undefined : JSON.stringify(Object.fromEntries(entries));
}

/** The attributes that are text; whoever writes in SQL may have given anything. */
export function textsOf(attributes: string | null): Record<string, string> {
  try {
    const all = Object.entries(JSON.parse(attributes ?? "{}") as Record<string, { StringValue?: unknown }>);
    return Object.fromEntries(
      all.flatMap(([name, value]) =>
        typeof value?.StringValue === "string" ? [[name, value.StringValue]] : [],
      ),
    );
  } catch {
    return {};
  }
}
