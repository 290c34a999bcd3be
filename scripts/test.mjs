// `npm test`: every test, and beside them format, lint and types. Closes with one line that counts them: 'N passed, N failed'.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tool = (...path) => join(root, "node_modules", ...path);
const scratch = mkdtempSync(join(tmpdir(), "tuntas-report-"));
const report = join(scratch, "report.json");

/** Runs a tool to its end; answers whether it liked what it saw, and what it said where that is kept for later. */
async function run([script, ...args], stdio) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio });
  const said = [];
  for (const output of [child.stdout, child.stderr]) output?.on("data", (chunk) => said.push(chunk));
  const [status] = await once(child, "close");
  return { passed: status === 0, said: Buffer.concat(said).toString() };
}

const checks = {
  format: [tool("prettier", "bin", "prettier.cjs"), "--check", "--log-level=warn", "."],
  lint: [tool("oxlint", "bin", "oxlint"), "--quiet"],
  types: [tool("typescript", "bin", "tsc"), "-p", "tsconfig.tests.json"],
  "types of the pages": [tool("typescript", "bin", "tsc"), "-p", "apps/console/src/web"],
};

async function runChecks() {
  const results = [];
  for (const [name, command] of Object.entries(checks))
    results.push({ name, ...(await run(command, ["ignore", "pipe", "pipe"])) });
  return results;
}

const vitest = [
  tool("vitest", "vitest.mjs"),
  "run",
  ...process.argv.slice(2),
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
];
// The checks go on beside the tests, which wait more than they work.
const [results, { passed: testsPassed }] = await Promise.all([runChecks(), run(vitest, "inherit")]);
for (const { name, passed, said } of results) console.log(`${said}${passed ? "✓" : "✗"} ${name}`);
const counted = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
rmSync(scratch, { recursive: true, force: true, maxRetries: 20 });

const failedChecks = results.filter(({ passed }) => !passed).length;
const passed = counted.numPassedTests + results.length - failedChecks;
// A test file that could not be loaded has no tests to count, and is a failure all the same.
const failed = counted.numFailedTests + failedChecks || (testsPassed ? 0 : 1);
const skipped = counted.numPendingTests + (counted.numTodoTests ?? 0);
const skipsAreFailures = process.env.TUNTAS_TEST_NO_SKIP === "1" && skipped > 0;
if (skipped > 0)
  console.log(`${skipped} skipped: a tool that they need is not installed here (their names stand above).`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || !testsPassed || skipsAreFailures ? 1 : 0);
