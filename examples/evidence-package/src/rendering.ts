// The document that people read, rendered by a process of its own: it is slow, needs what nobody else needs, and is killed now
// and then. Pages are partitions, so that what is rendered stays rendered.
import { batch, task } from "tuntas";
import { waitingStep } from "tuntas/workflow";
import { z } from "zod";
import { getFile, putFile } from "./files.ts";
import { pageOf, pdfOf } from "./pdf.ts";
import { ids, retry, team } from "./settings.ts";
import { filesOf, insertFile, setPagesJob, stagedPages, type Tx } from "./store.ts";

const linesPerPage = 60;
const pagesPerPartition = 2;

/** Everything that was gathered, line by line. */
async function linesOf(tx: Tx, packageId: string): Promise<string[]> {
  const lines: string[] = [];
  for (const { name, sha256 } of await filesOf(tx, packageId))
    lines.push(name, "", ...(await getFile(sha256)).toString().split("\n"), "");
  return lines;
}

export const evidencePages = batch("evidence-pages", {
  input: z.object({ packageId: z.string(), pages: z.number().int().positive() }),
  partitions: ({ pages }) =>
    Array.from({ length: Math.ceil(pages / pagesPerPartition) }, (_, index) => ({
      key: `from page ${index * pagesPerPartition + 1}`,
      from: index * pagesPerPartition,
      to: Math.min((index + 1) * pagesPerPartition, pages),
    })),
  async handle({ from, to }, { job, number, database, write }) {
    const lines = await linesOf(database, job.input.packageId);
    for (let page = from; page < to; page++) {
      const content = pageOf(lines.slice(page * linesPerPage, (page + 1) * linesPerPage));
      write("insert into evidence.page_staging (job, partition, number, content) values ($1, $2, $3, $4)", [
        job.id,
        number,
        page,
        content,
      ]);
    }
  },
  validate: ({ rows, job }) =>
    rows === job.input.pages ? [] : [`${rows} of ${job.input.pages} pages are rendered`],
  async promote({ job, tx }) {
    const pdf = await putFile(pdfOf(await stagedPages(tx, job.id)));
    await insertFile(tx, job.input.packageId, { kind: "pdf", name: "evidence.pdf", ...pdf });
  },
  staging: { table: "evidence.page_staging", kept: "0s" },
  announce: waitingStep,
  ...retry,
  timeout: "20s",
  concurrency: 2,
  priority: 0,
  runsOn: { service: "renderer" },
  ...team,
});

export const renderPdf = task({
  input: ids,
  idempotent: true,
  async handle({ packageId }, { tx, tokenReference, workflowName }) {
    const pages = Math.ceil((await linesOf(tx, packageId)).length / linesPerPage);
    const act = { by: workflowName, reason: packageId };
    const { jobId } = await evidencePages.start({ packageId, pages }, { tx, key: tokenReference, ...act });
    await setPagesJob(tx, packageId, jobId);
  },
});
