// Two gigabytes through processes of 256 MB each, by real processes on a database that is thrown away: `node dist/two-gigabytes.js`,
// or fewer by `node dist/two-gigabytes.js 0.1`. Says how much memory they took at most, and fails where that is more. (Linux.)
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { testDatabase, type TestProcess } from "tuntas/testing";
import { paymentsFile } from "./payments.ts";
import type { FileRow } from "./store.ts";

const bytesWanted = Number(process.argv[2] ?? 2) * 1024 ** 3;
const memoryMax = 256 * 1024 ** 2;
const bytesPerPayment = Buffer.byteLength("payment-0000000000,account-100,IDR,12.30\n");

const env = { NODE_OPTIONS: "--max-old-space-size=96 --max-semi-space-size=4" };

/** The most that the process has ever had in memory, as the kernel counts it. */
async function peakBytes({ child }: TestProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

async function bytesBelow(folder: string): Promise<number> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    found.filter((each) => each.isFile()).map((each) => stat(join(each.parentPath, each.name))),
  );
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

const megabytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);

/** Only as fast as it is taken: what fetch is given it would hold in memory. */
async function upload(url: string, content: AsyncIterable<Buffer>): Promise<void> {
  const sending = request(url, { method: "PUT", headers: { "content-type": "text/csv" } });
  const answered = once(sending, "response");
  await pipeline(content, sending);
  const [{ statusCode }] = (await answered) as [IncomingMessage];
  if (statusCode !== 201) throw new Error(`the upload was answered with ${statusCode}`);
}

async function follow(url: string): Promise<FileRow> {
  for (let shown = ""; ; await new Promise((resolve) => void setTimeout(resolve, 1000))) {
    const [row] = (await (await fetch(`${url}/files`)).json()) as FileRow[];
    if (row?.state === "DONE" || row?.state === "QUARANTINED") return row;
    const line = `${row?.state} ${row?.stage ?? ""} ${megabytes(row?.bytesDone ?? 0)} of ${megabytes(row?.bytes ?? 0)} MB`;
    if (line !== shown) process.stdout.write(`${line}\n`);
    shown = line;
  }
}

const folder = await mkdtemp(join(tmpdir(), "two-gigabytes-"));
await using database = await testDatabase();
try {
  const settings = { ...env, INTAKE_DIR: folder };
  const main = database.run(new URL("./main.js", import.meta.url), settings);
  const large = database.run(new URL("./large.js", import.meta.url), settings);
  const { port } = await main.line("service.ready");
  const url = `http://127.0.0.1:${port as number}`;
  const begunMs = Date.now();
  const payments = paymentsFile(Math.ceil(bytesWanted / bytesPerPayment));
  await upload(`${url}/uploads/large.csv`, payments);
  const uploadedMs = Date.now();
  const row = await follow(url);
  const peaks = { main: await peakBytes(main), large: await peakBytes(large) };
  const report = {
    state: row.state,
    payments: row.payments,
    megabytes: megabytes(row.bytes),
    uploadSeconds: (uploadedMs - begunMs) / 1000,
    workSeconds: (Date.now() - uploadedMs) / 1000,
    peakMegabytes: { main: megabytes(peaks.main), large: megabytes(peaks.large) },
    onDiskMegabytes: megabytes(await bytesBelow(folder)),
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  if (row.state !== "DONE" || Math.max(peaks.main, peaks.large) > memoryMax) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}
