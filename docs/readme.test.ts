// The code in the README and in the lessons is code: it compiles as it stands.
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import ts from "typescript";
import { expect, test } from "vitest";
import { blocksOf } from "./recipes/kitchen.fixture.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = join(root, "node_modules", ".cache", "readme");

function problemsOf(...paths: readonly string[]): string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.tests.json"), ts.sys.readFile) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: paths }, ts.sys, root);
  const program = ts.createProgram(paths, { ...options, incremental: false, noUnusedLocals: false });
  const found = paths.flatMap((path) => program.getSemanticDiagnostics(program.getSourceFile(path)));
  return found.map(
    ({ file, messageText }) =>
      `${basename(file!.fileName)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
  );
}

async function connect(url: URL): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return client;
}

const codeOf = (page: string): string => blocksOf(pathToFileURL(join(root, page)), "ts").join("\n");
const example = codeOf("README.md");

test("the README's example, the lessons' and those of the workflow recipes compile", () => {
  const recipes = [
    "backfill",
    "batch",
    "builder",
    "calls",
    "change",
    "limits",
    "callbacks",
    "distributed-map",
    "schedules",
    "streams",
  ].map((name) => `docs/recipes/${name}.md`);
  mkdirSync(scratch, { recursive: true });
  const paths = ["README.md", "docs/learn/queues.md", "docs/learn/workflows.md", ...recipes].map((page) => {
    const path = join(scratch, `${basename(page, ".md")}.ts`);
    writeFileSync(path, codeOf(page));
    return path;
  });
  const problems = problemsOf(...paths);
  rmSync(scratch, { recursive: true });
  expect(problems).toEqual([]);
});

test("the README's example runs: the message that it sends is handled, and its row is there", async () => {
  const url = new URL(process.env.DATABASE_URL!);
  const admin = await connect(url);
  await admin.query("create database readme template template0 encoding 'UTF8'");
  url.pathname = "/readme";
  mkdirSync(scratch, { recursive: true });
  const path = join(scratch, "example.mjs");
  const module = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  writeFileSync(path, ts.transpileModule(example, { compilerOptions: module }).outputText);
  const child = spawn(process.execPath, [path], { env: { ...process.env, DATABASE_URL: url.href } });
  let trouble = "";
  child.stderr.on("data", (chunk) => (trouble += String(chunk)));
  const database = await connect(url);
  const shipped = async () =>
    (await database.query("select order_id from shipment").catch(() => ({ rows: [] }))).rows;
  try {
    await expect.poll(shipped).toEqual([{ order_id: "ord_1" }]);
  } finally {
    child.kill("SIGKILL");
    await database.end();
    await admin.query("drop database readme with (force)");
    await admin.end();
    rmSync(path);
  }
  expect(trouble).toBe("");
});
