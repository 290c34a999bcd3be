// What a revision changes, in words. Of the environment names alone: its values may be secrets.
import type { Revision } from "tuntas/service";

/** Every value below, by its path. */
function* leaves(value: unknown, path: string): Generator<[path: string, text: string]> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    for (const [name, each] of Object.entries(value)) yield* leaves(each, path ? `${path}.${name}` : name);
  else yield [path, JSON.stringify(value)];
}

const secret = (path: string): boolean => path.startsWith("environment.");

function changeOf(path: string, before: string | undefined, after: string | undefined): string {
  if (secret(path))
    return `${path} ${before === undefined ? "added" : after === undefined ? "removed" : "changed"}`;
  return `${path} ${before ?? "none"} → ${after ?? "none"}`;
}

export function changesBetween(before: Revision, after: Revision): string[] {
  const [old, fresh] = [new Map(leaves(before, "")), new Map(leaves(after, ""))];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .filter((path) => old.get(path) !== fresh.get(path))
    .map((path) => changeOf(path, old.get(path), fresh.get(path)));
}
