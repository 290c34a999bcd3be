// The whole open SQS corpus, run by its own runner against a gateway on a real PostgreSQL. The slow scenarios wait for
// minutes of real time; `node conformance/sqs/run.mjs --slow` runs them by hand.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startTestGateway } from "./gateway.fixture.ts";

interface Result {
  readonly id: string;
  readonly result: "pass" | "fail" | "skip";
  readonly reason?: string;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));

async function runCorpus(endpoint: string): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), "tuntas-corpus-"));
  const file = join(folder, "results.json");
  try {
    await new Promise<void>((resolve) => {
      // A failing scenario makes the runner exit with 1; what counts is what it wrote.
      const args = ["conformance/sqs/run.mjs", "--endpoint", endpoint, "--json", file];
      execFile(process.execPath, args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }, () => resolve());
    });
    return JSON.parse(await readFile(file, "utf8")) as Result[];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test(
  "every scenario of the SQS corpus passes over AWS JSON 1.0 and the Query protocol",
  { timeout: 300_000 },
  async () => {
    await using gateway = await startTestGateway();
    const results = await runCorpus(gateway.url);
    expect(
      results.filter(({ result }) => result === "fail").map(({ id, reason }) => `${id}: ${reason}`),
    ).toEqual([]);
    expect(results.filter(({ result }) => result === "pass").length).toBeGreaterThanOrEqual(287);
  },
);
