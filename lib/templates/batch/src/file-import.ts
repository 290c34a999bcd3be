// A file of payments, in partitions: each is done once, and readers see the whole file or nothing of it.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { app, batch, rejected } from "tuntas";
import { z } from "zod";

const linesPerPartition = 1000;
const linesOf = (file: string, signal: AbortSignal) =>
  createInterface({ input: createReadStream(file, { signal }), crlfDelay: Infinity });

export const fileImport = batch("file-import", {
  input: z.object({ file: z.string() }),

  // The same list for the same input: it is made twice and compared.
  async partitions({ file }, { signal }) {
    let lines = 0;
    for await (const _ of linesOf(file, signal)) lines++;
    return Array.from({ length: Math.ceil(lines / linesPerPartition) }, (_, index) => {
      const from = index * linesPerPartition;
      return { key: `line ${from + 1}`, from, to: Math.min(from + linesPerPartition, lines) };
    });
  },

  // What it writes is there with the partition's end, or not at all.
  async handle({ from, to }, { job, number, signal, tx, log }) {
    log.info({ event: "partition.begun", from, to }, "lines are read");
    const rows: [reference: string, cents: number][] = [];
    let line = 0;
    for await (const text of linesOf(job.input.file, signal)) {
      if (line++ < from || line > to) continue;
      const [reference, cents] = text.split(",");
      if (!reference || !/^\d{1,9}$/.test(cents ?? ""))
        throw rejected({ code: "BAD_LINE", message: `line ${line}: ${text}` });
      rows.push([reference, Number(cents)]);
    }
    await tx.query("insert into file_import.staging select $1, $2, * from unnest($3::text[], $4::int[])", [
      job.id,
      number,
      rows.map(([reference]) => reference),
      rows.map(([, cents]) => cents),
    ]);
  },

  // Over all partitions together; where it finds something nothing is promoted.
  async validate({ job, tx }) {
    const { rows } = await tx.query(
      "select reference from file_import.staging where job = $1 group by reference having count(*) > 1 limit 5",
      [job.id],
    );
    return rows.map(({ reference }) => `the reference ${reference} is there twice`);
  },

  // In one commit with the manifest.
  async promote({ job, tx }) {
    await tx.query(
      `insert into file_import.payment select reference, cents from file_import.staging where job = $1
       on conflict (reference) do update set cents = excluded.cents`,
      [job.id],
    );
  },

  staging: { table: "file_import.staging", kept: "1d" },
  retry: { attempts: 3, base: "1s", max: "1m" }, // of a partition: the others are not touched
  timeout: "20s", // of an attempt
  concurrency: 4, // partitions at once, in all processes together
  priority: 0,
  runsOn: "anywhere",
  owner: "file-import-team",
  runbook: "runbooks/file-import.md",
});

export default app(
  { fileImport },
  { migrations: { schema: "file_import", folder: new URL("../migrations/file-import/", import.meta.url) } },
);
