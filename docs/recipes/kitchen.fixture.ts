// Runs the code of recipes as it stands: against the built package, in a database of its own.
import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import ts from "typescript";

const bin = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const cache = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));

/** The page's blocks of that language, as they stand. */
export const blocksOf = (page: URL, language: string): string[] =>
  [...readFileSync(page, "utf8").matchAll(/```(\w+)\n([\s\S]*?)```/g)]
    .filter(([, kind]) => kind === language)
    .map(([, , text]) => text!);

/** Whether the command runs here. */
export const present = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

export interface Kitchen {
  readonly url: string;
  /** Gone with the kitchen; what stands in it finds the packages. */
  readonly folder: string;
  readonly client: pg.Client;
  /** All code of one recipe as one module, which exports `start` and such further names of tuntas too. */
  recipe(page: string, more?: readonly string[]): Promise<Record<string, any>>;
  /** Runs a line that begins with `tuntas`, as one would type it, on the database. */
  type(line: string): Promise<{ readonly out: string; readonly code: number }>;
  close(): Promise<void>;
}

async function onServer(text: string): Promise<void> {
  const admin = new pg.Client(process.env.DATABASE_URL);
  await admin.connect();
  await admin.query(text);
  await admin.end();
}

/** The module that the page's blocks make together, and what else is to be exported from it. */
function compile(page: string, more: readonly string[]): string {
  const code = blocksOf(new URL(`${page}.md`, import.meta.url), "ts").join("\n");
  return ts.transpileModule(`${code}\nexport { ${["start", ...more].join(", ")} } from "tuntas";`, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  }).outputText;
}

/** A database for some recipes. */
export async function openKitchen(name: string): Promise<Kitchen> {
  const database = `${name}_${randomBytes(4).toString("hex")}`;
  await onServer(`create database ${database}`);
  const url = new URL(process.env.DATABASE_URL!);
  url.pathname = `/${database}`;
  const client = new pg.Client(url.href);
  await client.connect();
  const folder = join(cache, database);
  mkdirSync(folder, { recursive: true });
  return {
    url: url.href,
    folder,
    client,
    recipe(page, more = []) {
      const path = join(folder, `${page}.mjs`);
      writeFileSync(path, compile(page, more));
      return import(/* @vite-ignore */ pathToFileURL(path).href);
    },
    type(line) {
      const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|\S+/g)].map(
        ([word, one, two]) => one ?? two ?? word,
      );
      const env = { ...process.env, DATABASE_URL: url.href };
      return promisify(execFile)(process.execPath, [bin, ...words.slice(1)], { env }).then(
        ({ stdout }) => ({ out: stdout, code: 0 }),
        ({ stdout, code }: { stdout: string; code: number }) => ({ out: stdout, code }),
      );
    },
    async close() {
      await client.end();
      await onServer(`drop database ${database} with (force)`);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
