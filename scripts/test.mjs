// `npm test`: format, lint, types, then every test. Closes with one line that counts them: 'N passed, N failed'.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const tool = (...path) => join(root, "node_modules", ...path);
const scratch = mkdtempSync(join(tmpdir(), "tuntas-report-"));
const report = join(scratch, "report.json");

const run = (script, ...args) =>
  spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: "inherit" }).status === 0;

const checks = [
  ["format", () => run(tool("prettier", "bin", "prettier.cjs"), "--check", "--log-level=warn", ".")],
  ["lint", () => run(tool("oxlint", "bin", "oxlint"), "--quiet")],
  ["types", () => run(tool("typescript", "bin", "tsc"), "-p", "tsconfig.tests.json")],
  ["types of the pages", () => run(tool("typescript", "bin", "tsc"), "-p", "apps/console/src/web")],
];

const results = checks.map(([name, check]) => {
  const passed = check();
  console.log(`${passed ? "✓" : "✗"} ${name}`);
  return passed;
});

const vitest = [
  "run",
  ...process.argv.slice(2),
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
];
const testsPassed = run(tool("vitest", "vitest.mjs"), ...vitest);
const counted = existsSync(report)
  ? JSON.parse(readFileSync(report, "utf8"))
  : { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
rmSync(scratch, { recursive: true, force: true });

const failedChecks = results.filter((passed) => !passed).length;
const passed = counted.numPassedTests + results.length - failedChecks;
// A test file that could not be loaded has no tests to count, and is a failure all the same.
const failed = counted.numFailedTests + failedChecks || (testsPassed ? 0 : 1);
const skipped = counted.numPendingTests + (counted.numTodoTests ?? 0);
const skipsAreFailures = process.env.TUNTAS_TEST_NO_SKIP === "1" && skipped > 0;
if (skipped > 0)
  console.log(`${skipped} skipped: a tool that they need is not installed here (their names stand above).`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 || !testsPassed || skipsAreFailures ? 1 : 0);
