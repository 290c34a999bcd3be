// Payload schemas are anyone's: whatever speaks Standard Schema (zod, valibot, arktype …). Only the two members that
// Tuntas calls are described here, so that no schema library is a dependency. Source: standardschema.dev, version 1.

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type InputOf<S> = S extends Schema<infer Input, unknown> ? Input : never;
export type OutputOf<S> =
  S extends Schema<never, infer Output> ? Output : S extends Schema<infer _, infer Output> ? Output : never;

/** JSON Schema, as far as anything here reads it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface DescribesItself {
  readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => JsonSchema };
}

/** What is to be given, as JSON Schema, where the schema can say it (Standard JSON Schema, as zod 4.2 does). */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  try {
    return (schema["~standard"] as DescribesItself).jsonSchema?.input({ target: "draft-2020-12" });
  } catch {
    return undefined; // a transform, a date: there is no JSON Schema for it
  }
}

/** The issues as one line a person can act on: `customerId: expected string, received undefined`. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues
    .map((issue) => {
      const path = (issue.path ?? [])
        .map((step) => String(typeof step === "object" ? step.key : step))
        .join(".");
      return path ? `${path}: ${issue.message}` : issue.message;
    })
    .join("; ");
}
