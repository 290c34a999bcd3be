// kill -9 in the middle of a partition, and a file with a bad line: whole or not at all.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { fileImport } from "./file-import.ts";

const main = new URL("./file-import.main.js", import.meta.url);
const by = { by: "ana", reason: "the file of today" };

test("an import whose worker is killed is there once and whole; one with a bad line not at all", async () => {
  await using database = await testDatabase();
  await using asking = await start(work, { databaseUrl: database.url, workers: false });
  const folder = await mkdtemp(join(tmpdir(), "file-import-"));
  const lines = Array.from({ length: 2500 }, (_, n) => `payment-${n},${n}`);
  const [good, bad] = [join(folder, "good.csv"), join(folder, "bad.csv")];
  await writeFile(good, lines.join("\n"));
  await writeFile(bad, lines.with(1500, "payment-1500,much").join("\n"));
  const total = async () =>
    (
      await database.query(
        "select count(*)::int as payments, sum(cents)::int as cents from file_import.payment",
      )
    )[0];

  const first = database.run(main);
  await first.line("service.ready");
  const holder = await database.connect();
  await holder.query("begin; lock table file_import.staging in share mode"); // so that the handlers wait
  const { jobId } = await fileImport.start({ file: good }, by);
  await first.line("partition.begun");
  await first.kill();
  await holder.end();
  assert.equal((await total()).payments, 0);

  database.run(main);
  const { batches } = asking.platform;
  assert.equal((await batches.settled(jobId)).state, "completed");
  assert.deepEqual(await total(), { payments: 2500, cents: (2499 * 2500) / 2 });
  assert.equal((await fileImport.start({ file: good }, by)).status, "duplicate"); // asked for twice, done once

  const wrong = await fileImport.start({ file: bad }, by);
  const { state, partitions } = await batches.settled(wrong.jobId);
  assert.deepEqual([state, partitions.done, partitions.failed], ["failed", 2, 1]);
  assert.equal((await total()).payments, 2500);
});
