// The whole open corpus of the Amazon States Language, run by its own runner against a server process: every history,
// answer and error as it was recorded from AWS. It takes about a minute of real time.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Result {
  readonly id: string;
  readonly ok: boolean;
  readonly diffs: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

async function runCorpus(): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), "tuntas-asl-"));
  const file = join(folder, "results.json");
  try {
    await new Promise<void>((resolve) => {
      const args = ["--serve", "node lib/bin/tuntas.mjs serve", "--jobs", "6", "--report", file];
      const env = { ...process.env, TUNTAS_DATA_DIR: join(folder, "data") };
      // A failing scenario makes the runner exit with 1; what counts is what it wrote.
      execFile(process.execPath, ["conformance/asl/run.mjs", ...args], { cwd: root, env }, () => resolve());
    });
    return JSON.parse(await readFile(file, "utf8")) as Result[];
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

const newerApi = "recorded before DescribeStateMachine told of encryption, which later recordings show";
const newerSync = "recorded before DescribeExecution told of redrives, which later recordings show";
const newerContext = "recorded before the context object had RedriveCount, which later recordings show";

/** Where we do not do what was recorded, and why: docs/decisions/0006-step-functions-parity.md. */
const differences: Readonly<Record<string, string>> = {
  "api/create-duplicate-sm-name": newerApi,
  "api/create-update-state-machine-base-definition": newerApi,
  "api/create-update-state-machine-base-definition-and-role": newerApi,
  "api/create-update-state-machine-base-update-none": newerApi,
  "api/create-update-state-machine-same-parameters": newerApi,
  "api/describe-sm-arn-containing-punctuation": newerApi,
  "api/describe-state-machine-for-execution": newerApi,
  "api/express-create-describe-delete": newerApi,
  "api/logs-incomplete-logging-configuration-logging-configuration1": newerApi,
  "api/logs-logging-configuration-all-false": newerApi,
  "api/logs-logging-configuration-error-false": newerApi,
  "api/logs-logging-configuration-error-true": newerApi,
  "api/logs-logging-configuration-fatal-false": newerApi,
  "api/logs-logging-configuration-fatal-true": newerApi,
  "api/logs-logging-configuration-off-false": newerApi,
  "api/version-create-publish-describe-no-version-description": newerApi,
  "api/version-create-publish-describe-with-version-description": newerApi,
  "api/version-list-delete-version": newerApi,
  "api/version-publish-state-machine-version": newerApi,
  "api/alias-list-state-machine-aliases-pagination-max-results-1":
    "the token of the second page is missing from the recorded request",
  "api/logs-deleted-log-group": "log groups are not here, so none can be missing",
  "callback/start-execution-sync": newerSync,
  "callback/start-execution-sync2": newerSync,
  "callback/start-execution-sync-delegate-timeout": newerSync,
  "errors/lambda-invoke-with-retry-extended-input": newerContext,
  "errors/lambda-service-invoke-with-retry-extended-input": newerContext,
  "integrations/mocked-parallel-state-lambda": "the runner's function prints a list as JavaScript does",
  "map/max-concurrency-path-negative":
    "AWS leaves the execution hanging for ever; here it fails and says why",
  "teststate/sfn-start-execution-success": "the mock in the recorded request is not the one that was sent",
};

/** The runner has no answer for its task, so the execution may have ended before it is started again. */
const raced = "api/start-execution-idempotent";

test(
  "every scenario recorded from Step Functions is answered alike, save the differences that we argue for",
  { timeout: 400_000 },
  async () => {
    const results = await runCorpus();
    expect(results).toHaveLength(712);
    const failed = results.filter(({ id, ok }) => !ok && id !== raced);
    const surprising = failed.filter(({ id }) => differences[id] === undefined);
    expect(surprising.map(({ id, diffs }) => [id, diffs.slice(0, 3)])).toEqual([]);
    expect(failed.map(({ id }) => id).toSorted()).toEqual(Object.keys(differences).toSorted());
  },
);
