// The code in the README and in the lessons is code: it compiles as it stands.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const scratch = join(root, "node_modules", ".cache", "readme");

function problemsOf(path: string): string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.tests.json"), ts.sys.readFile) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [path] }, ts.sys, root);
  const program = ts.createProgram([path], { ...options, incremental: false, noUnusedLocals: false });
  const found = program.getSemanticDiagnostics(program.getSourceFile(path));
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

test("the README's example compiles", () => {
  const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, "README.md"), "utf8"))![1]!;
  mkdirSync(scratch, { recursive: true });
  const path = join(scratch, "example.ts");
  writeFileSync(path, example);
  const problems = problemsOf(path);
  rmSync(scratch, { recursive: true });
  expect(problems).toEqual([]);
});
