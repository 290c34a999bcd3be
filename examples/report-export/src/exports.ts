// A report of a million rows. The execution carries the export's id and the number of its chunks; where each begins, what came of
// it and what is true of the report stands in the database.
import { app, endpoint, rejected, task, workflow } from "tuntas";
import { add } from "tuntas/outbox";
import { executionInput, jsonata, machine, shape } from "tuntas/workflow";
import { z } from "zod";
import { getFile, putFile, removeFiles } from "./files.ts";
import {
  chunksOf,
  findChunk,
  findExport,
  insertExport,
  planChunks,
  readPayments,
  setChunk,
  setFailed,
  setReady,
  type Payment,
  type Tx,
} from "./store.ts";

const ids = z.object({ exportId: z.string() });
const idsPerChunk = 50_000;

/** Chunks at a time, of one report: as many as the database may be asked for beside its other work. */
const chunksAtOnce = 2;

/** Who hears of reports that are ready; while nothing says where they are, what they are to hear waits. */
export const requesters = endpoint("requesters", {
  url: () => process.env.REQUESTERS_URL,
  timeout: "5s",
  retry: { refusals: 10, base: "1s", max: "5m" },
  permanentStatus: [410, 422],
  owner: "reports-team",
  runbook: "runbooks/report-export.md",
});

export interface Manifest {
  readonly exportId: string;
  readonly rows: number;
  readonly files: readonly { readonly file: string; readonly rows: number }[];
}

const fileOf = (exportId: string, name: string | number): string => `${exportId}/${name}`;

const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const lineOf = ({ id, customer, cents }: Payment): string => `${id},${quoted(customer)},${cents}\n`;

const plan = task({
  input: ids,
  idempotent: true,
  handle: async ({ exportId }, { tx }) => ({ chunks: await planChunks(tx, exportId, idsPerChunk) }),
});

const exportChunk = task({
  input: z.object({ exportId: z.string(), chunk: z.number() }),
  idempotent: true,
  timeout: "5m",
  async handle({ exportId, chunk }, { tx, database, signal, log }) {
    // Read in a transaction that is over before the file is written.
    const payments = await database.transaction(async ({ client }) =>
      readPayments(client, await findChunk(client, exportId, chunk)),
    );
    // Wrong, whoever tries: the report fails at once, with the reason.
    const wrong = payments.find(({ cents }) => cents < 0);
    if (wrong) throw rejected({ code: "PAYMENT_BELOW_ZERO", message: `payment ${wrong.id}` });
    const file = fileOf(exportId, `${chunk}.csv`);
    await putFile(file, payments.map(lineOf).join(""), signal);
    await setChunk(tx, exportId, { chunk, file, rows: payments.length });
    log.info({ event: "chunk.exported", exportId, chunk, rows: payments.length }, "a chunk is exported");
    return null;
  },
});

/** The manifest is a file too; nothing points to it before the next step does. */
const mergeManifest = task({
  input: ids,
  idempotent: true,
  async handle({ exportId }, { tx, signal }) {
    const chunks = await chunksOf(tx, exportId);
    const missing = chunks.filter(({ file }) => file === null);
    if (missing.length > 0) throw new Error(`${missing.length} of ${chunks.length} chunks have no file`);
    const rows = chunks.reduce((sum, each) => sum + each.rows!, 0);
    const files = chunks.map(({ file, rows }) => ({ file: file!, rows: rows! }));
    const manifest: Manifest = { exportId, rows, files };
    await putFile(fileOf(exportId, "manifest.json"), JSON.stringify(manifest), signal);
    return { rows };
  },
});

/** For whoever fetches it. Errors: none such where the export is not ready. */
export const readManifest = async (name: string): Promise<Manifest> =>
  JSON.parse(await getFile(name)) as Manifest;

const markReady = task({
  input: ids,
  idempotent: true,
  handle: ({ exportId }, { tx }) =>
    setReady(tx, exportId, fileOf(exportId, "manifest.json")).then(() => null),
});

/** By the outbox: told after the commit, again until it is heard. */
const notify = task({
  input: ids,
  idempotent: true,
  async handle({ exportId }, { tx }) {
    const { requestedBy, status, rows } = (await findExport(tx, exportId))!;
    const payload = JSON.stringify({ exportId, requestedBy, status, rows });
    await add(tx, { target: requesters, key: exportId, type: "ExportEnded", payload });
    return null;
  },
});

const markFailed = task({
  input: z.object({ exportId: z.string(), failure: z.string() }),
  idempotent: true,
  async handle({ exportId, failure }, { tx }) {
    await setFailed(tx, exportId, failure);
    return { exportId };
  },
});

/** What was written is nobody's: no manifest names it. */
const cleanUp = task({ input: ids, idempotent: true, handle: ({ exportId }) => removeFiles(exportId) });

const again = [{ errors: ["States.TaskFailed", "States.Timeout"], interval: "1s", attempts: 5 }] as const;

export const reportExport = workflow("ReportExport", {
  accepts: { "workflow-unreconciled": "row, execution and steps are each one commit" },
  definition: machine({ input: ids })
    .aside(shape<{ readonly exportId: string; readonly failure: string }>(), (flow) =>
      flow
        .task("Mark failed", markFailed)
        // Other chunks that were being exported have been told to stop; by then they have.
        .wait("Let go", "3s")
        .task("Clean up", cleanUp, { input: executionInput })
        .task("Tell of the failure", notify, { input: executionInput })
        .fail("Failed", { error: "ExportFailed" }),
    )
    // One branch, so that one Catch is for all of it.
    .parallel("Export", [
      (flow) =>
        flow
          .task("Plan chunks", plan, { retry: again })
          .map(
            "Export chunks",
            {
              // Numbers, made where they are needed: what is handed on is how many there are.
              items: ($) => jsonata<readonly number[]>`[0..${$.input.chunks}-1]`,
              select: ($) => ({ exportId: $.context.Execution.Input.exportId, chunk: $.item }),
            },
            (chunk) => chunk.task("Export chunk", exportChunk, { retry: again }).end(),
            { concurrency: chunksAtOnce, output: () => ({}) },
          )
          .task("Merge manifest", mergeManifest, { input: executionInput, retry: again })
          .task("Mark ready", markReady, { input: executionInput, retry: again })
          .task("Notify", notify, { input: executionInput, retry: again })
          .end(),
    ])
    .catch(
      ["States.ALL"],
      { output: ($) => ({ exportId: $.context.Execution.Input.exportId, failure: $.error.Error }) },
      (flow) => flow.next("Mark failed"),
    )
    .end(),
});

/** The request and its process are one commit. */
export async function request(tx: Tx, exportId: string, requestedBy: string): Promise<void> {
  await insertExport(tx, exportId, requestedBy);
  await reportExport.start({ exportId }, { name: exportId, tx });
}

export default app(
  { reportExport, requesters },
  { migrations: { schema: "export", folder: new URL("../migrations/", import.meta.url) } },
);
