// Message attributes that are text: as callers have them, and as SQS has them (JSON text of name to DataType and value).

/** Attributes of type String; undefined where there are none. */
export function attributesOf(texts: Readonly<Record<string, string>> | undefined): string | undefined {
  if (texts === undefined) return undefined;
  const entries = Object.entries(texts).map(([name, value]) => [
    name,
    { DataType: "String", StringValue: value },
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
