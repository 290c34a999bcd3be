// The recipe for services runs as it stands: its declaration, its server, and its commands by the built command.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import ts from "typescript";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("services.md", import.meta.url);
const bin = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));

let kitchen: Kitchen;
beforeAll(async () => void (kitchen = await openKitchen("services")));
afterAll(() => kitchen.close());

test("U-01 U-09 docs/recipes/services.md", async () => {
  const [declared, worker] = blocksOf(page, "ts");
  const [server] = blocksOf(page, "js");
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(declared!, { compilerOptions });
  writeFileSync(join(kitchen.folder, "services.mjs"), outputText);
  writeFileSync(
    join(kitchen.folder, "payments.mjs"),
    `${ts.transpileModule(worker!, { compilerOptions }).outputText}
import { capOf, ruleOf } from "tuntas/service";
console.log(capOf(ruleOf(paymentsWorker.options.scaling)));`,
  );
  writeFileSync(join(kitchen.folder, "hello.mjs"), server!);
  const env = { ...process.env, DATABASE_URL: kitchen.url, TUNTAS_DATA_DIR: kitchen.folder };
  const at = { cwd: kitchen.folder, env };
  const background: ReturnType<typeof spawn>[] = [];

  async function begin(words: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, [bin, ...words], { ...at, stdio: ["ignore", "pipe", "ignore"] });
    background.push(child);
    await once(child.stdout!, "data");
  }

  const capped = await promisify(execFile)(process.execPath, ["payments.mjs"], at);
  expect(capped.stdout).toBe("12\n");

  try {
    const printed: string[] = [];
    const [lines] = blocksOf(page, "sh");
    for (const line of lines!.trim().split("\n")) {
      const words = [
        ...line
          .replace(/ &$/, "")
          .replace("8080", "0")
          .matchAll(/"([^"]*)"|\S+/g),
      ].map(([word, quoted]) => quoted ?? word);
      if (line.endsWith("&")) await begin(words.slice(1));
      else printed.push((await promisify(execFile)(process.execPath, [bin, ...words.slice(1)], at)).stdout);
    }
    const [first, second, log] = printed;
    expect(first).toMatch(/instances +2 healthy of 2/);
    expect(second).toMatch(/batch[^]*health[^]*stopping[^]*completed/);
    expect(log!.match(/ completed /g)).toHaveLength(2);
  } finally {
    for (const child of background) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  }
}, 240_000);
