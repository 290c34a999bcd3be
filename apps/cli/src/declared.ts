// What an application's file declares of one kind, exported by itself or in an application.
import { resolve } from "node:path";
import type { Call } from "./command.ts";
import { loadModule } from "./dev/load.ts";

interface Exported {
  readonly kind?: unknown;
  readonly parts?: Readonly<Record<string, Exported>>;
}

const spread = (exported: Exported | null | undefined): (Exported | null | undefined)[] =>
  exported?.kind === "app" ? Object.values(exported.parts!) : [exported];

/** Each once. Errors: those of loading the file. */
export async function declaredIn<T extends { readonly kind: string }>(
  file: string,
  kind: T["kind"],
): Promise<T[]> {
  const module = await loadModule(resolve(file));
  const all = new Set((Object.values(module) as (Exported | undefined)[]).flatMap(spread));
  return [...all].filter((exported): exported is Exported & T => exported?.kind === kind);
}

/** The one of that name. Errors: TUNTAS_CLI_USAGE where the file does not declare it. */
export function named<T>(
  call: Call,
  list: readonly T[],
  {
    name,
    nameOf,
    what,
  }: { readonly name: string; readonly nameOf: (each: T) => string; readonly what: string },
): T {
  const found = list.find((each) => nameOf(each) === name);
  if (found) return found;
  const there = list.map(nameOf).join(", ") || "none";
  throw call.wrong(`expected the file to declare the ${what} ${name}; it declares ${there}`);
}
