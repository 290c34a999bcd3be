// What a project that is there lacks for new work: its package.json is its owner's, so what it lacks is said, as lines to type.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Versions } from "./files.ts";

/** A line to type, and what it does. */
export type Line = readonly [line: string, meaning: string];

interface Manifest {
  readonly type?: string;
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
}

function readManifest(path: string): Manifest {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Manifest;
  } catch {
    return {}; // npm will refuse it, too, and says better why.
  }
}

/** Lines that bring the folder's package.json what work of these packages needs; undefined where there is none. */
export function lackingIn(folder: string, packages: Versions, tools: Versions): readonly Line[] | undefined {
  const path = join(folder, "package.json");
  if (!existsSync(path)) return undefined;
  const { type, dependencies, devDependencies } = readManifest(path);
  const has = { ...dependencies, ...devDependencies };
  const lacking = (wanted: Versions) =>
    Object.entries(wanted)
      .filter(([name]) => !Object.hasOwn(has, name))
      .map(([name, version]) => ` ${name}@${version}`)
      .join("");
  const compiler = lacking(tools);
  return [
    [`npm install${lacking(packages)}`, "once"],
    ...(compiler ? [[`npm install --save-dev${compiler}`, "the compiler"] as const] : []),
    ...(type === "module"
      ? []
      : [["npm pkg set type=module", "the code is ES modules, and package.json does not say so"] as const]),
  ];
}
