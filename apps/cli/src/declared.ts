// What an application's files declare: of one kind, exported by itself or in an application, or all of it together.
import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { Declared } from "tuntas/check";
import type { Call } from "./command.ts";
import { loadModule, requireFile } from "./dev/load.ts";

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

const isDocument = (file: string): boolean => file.endsWith(".json");

/** All that modules export and JSON documents are, together, for `tuntas check`. Errors: those of loading a file. */
export async function gatherFiles(files: readonly string[]): Promise<Declared> {
  const modules = files.filter((file) => !isDocument(file)).map((file) => resolve(file));
  const documents = files.filter(isDocument).map((file) => resolve(file));
  for (const file of documents) requireFile(file);
  const { gather } = await import("tuntas/check");
  return gather(
    await Promise.all(modules.map(async (file) => ({ file, exports: await loadModule(file) }))),
    documents.map((file) => ({
      name: basename(file).replace(/(\.asl)?\.json$/, ""),
      place: file,
      text: readFileSync(file, "utf8"),
    })),
  );
}
