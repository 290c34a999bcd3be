// The commands of the page run as they stand, on the pages that it shows.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { blocksOf } from "../recipes/kitchen.fixture.ts";

const page = new URL("review.md", import.meta.url);
const command = fileURLToPath(new URL("../../lib/bin/tuntas.mjs", import.meta.url));
const [begin, look, findIt] = blocksOf(page, "sh");
const [enrichment, report] = blocksOf(page, "md");

async function shell(block: string, cwd: string): Promise<string> {
  const npx = `npx() { shift; ${JSON.stringify(process.execPath)} ${JSON.stringify(command)} "$@"; }`;
  return (await promisify(execFile)("bash", ["-ec", `${npx}\n${block}`], { cwd })).stdout;
}

test("docs/learn/review.md", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "review-page-"));
  const shown = blocksOf(page, "text");
  expect(await shell(begin!, folder)).toMatch(
    /NOT approved[\s\S]*## Who operates it at 03:00\?[\s\S]*not yet/,
  );
  writeFileSync(join(folder, "enrichment.md"), enrichment!);
  expect(await shell(look!, folder)).toBe(shown[0]);
  writeFileSync(join(folder, "report.md"), report!);
  const found = await shell(findIt!, folder);
  const [first, ...rest] = shown[1]!.trimEnd().split("\n");
  for (const line of [first!.replace(" …", ""), ...rest, "not like that"]) expect(found).toContain(line);
  rmSync(folder, { recursive: true });
});

test("T-39 the reviews of the reference applications are approved: no question is open, no cell is empty", async () => {
  const examples = fileURLToPath(new URL("../../examples/", import.meta.url));
  const records = JSON.parse(await shell("npx tuntas review */review*.md --json", examples)) as {
    name: string;
    approved: boolean;
    failures: Record<string, string | null>;
  }[];
  expect(records.map(({ name }) => name)).toEqual(["case-activation", "order-intake", "order-work"]);
  for (const { approved, failures } of records) {
    expect(approved).toBe(true);
    expect(Object.values(failures)).not.toContain(null);
  }
});

test("every finding of the page's table is one, and each has its row", async () => {
  const { smells } = await import("../../apps/cli/src/review/smells.ts");
  const rows = [...readFileSync(page, "utf8").matchAll(/^\| `([a-z-]+)`/gm)].map(([, id]) => id);
  expect(rows).toEqual(Object.keys(smells));
});
