// The files of new work, from the templates that the package brings along: real files, which our own tests check and run.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readVersion } from "../commands/version.ts";
import { renamed } from "./name.ts";
import { shapes, type ShapeName } from "./shapes.ts";

// lib/templates, seen from lib/dist/apps/cli/scaffold and, in the tests, from apps/cli/src/scaffold.
const templates = fileURLToPath(
  new URL(
    import.meta.url.endsWith(".ts") ? "../../../../lib/templates/" : "../../../../templates/",
    import.meta.url,
  ),
);

export interface NewFile {
  /** From the project's folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

function read(folder: string): NewFile[] {
  const root = join(templates, folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return { path: file.slice(root.length + 1).replaceAll("\\", "/"), text: readFileSync(file, "utf8") };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const named = (files: readonly NewFile[], from: string, to: string): NewFile[] =>
  files.map(({ path, text }) => ({ path: renamed(path, from, to), text: renamed(text, from, to) }));

const isMain = ({ path }: NewFile): boolean => path.endsWith(".main.ts");
const hasOwnMain = (shape: ShapeName): boolean => read(shape).some(isMain);

/** The code of the template without the name that gives way. */
export const codeOf = (shape: ShapeName): string[] =>
  named(read(shape), shapes[shape].template, "")
    .filter(({ path }) => path.endsWith(".ts"))
    .map(({ text }) => text);

/** The files of the work itself. One without a process of its own has the worker's, which any work can run in. */
export function workFiles(shape: ShapeName, name: string): NewFile[] {
  const own = named(read(shape), shapes[shape].template, name);
  if (hasOwnMain(shape)) return own;
  return [...own, ...named(read("worker").filter(isMain), shapes.worker.template, name)];
}

/** Packages, each with its version. */
export type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
}

const projectManifest = (): Manifest =>
  JSON.parse(read("project").find(({ path }) => path === "package.json")!.text);

/** The packages that compile the files. */
export const toolsOf = (): Versions => projectManifest().devDependencies;

/** The packages that the files import, with the versions that they are tested with. */
export function dependenciesOf(files: readonly NewFile[]): Versions {
  const { dependencies } = projectManifest();
  const used = (dependency: string) =>
    files.some(({ text }) => new RegExp(`from "${dependency}["/]`).test(text));
  return Object.fromEntries(
    Object.entries(dependencies)
      .filter(([dependency]) => used(dependency))
      .map(([dependency, version]) => [dependency, dependency === "tuntas" ? readVersion() : version]),
  );
}

/** `tuntas dev` runs what is declared; where a process has more to it, it is started itself. */
function manifestOf(text: string, shape: ShapeName, files: readonly NewFile[]): string {
  const manifest = JSON.parse(text) as Manifest;
  const { dev, ...scripts } = manifest.scripts;
  const own = hasOwnMain(shape) && shape !== "worker";
  const made = {
    ...manifest,
    scripts: own ? scripts : { dev, ...scripts },
    dependencies: dependenciesOf(files),
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

/** What serves listens beyond the container, at its one port. */
function imageOf(text: string, files: readonly NewFile[]): string {
  if (!files.some(({ path }) => path.endsWith(".server.ts"))) return text;
  const listens = "ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080\nEXPOSE 8080";
  return text.replace("ENV NODE_ENV=production", listens);
}

/** The files that a project has once, whatever work is in it; those that are there are left as they are. */
export function projectFiles(shape: ShapeName, name: string): NewFile[] {
  const files = workFiles(shape, name);
  return named(read("project"), "first-work", name).map(({ path, text }) => {
    if (path === "package.json") return { path, text: manifestOf(text, shape, files) };
    if (path === "Dockerfile") return { path, text: imageOf(text, files) };
    // npm packs no file of that name.
    return path === "gitignore" ? { path: ".gitignore", text } : { path, text };
  });
}
