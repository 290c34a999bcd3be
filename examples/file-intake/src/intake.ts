// Files come in, are told of, and are worked on by size: small ones by the process that also listens, large ones by processes of
// their own, which need other memory, other time and another roll-out.
import { createHash } from "node:crypto";
import { app, endpoint, poison, queue, worker, type Context } from "tuntas";
import { s3Notice, type Arrival } from "tuntas/files";
import { add } from "tuntas/outbox";
import { z } from "zod";
import { FileFault } from "./fault.ts";
import { outputOf, places } from "./places.ts";
import { insertFile, setDone, setProgress, setQuarantined, type Tx } from "./store.ts";
import { processFile } from "./work.ts";

const deadLetter = {
  after: 5,
  retention: "14d",
  owner: "intake-team",
  runbook: "runbooks/file-intake.md",
} as const;

const arrival = z.object({ bucket: z.string(), key: z.string(), version: z.string(), bytes: z.number() });

/** What S3 tells, direct or by EventBridge. */
export const fileNotices = queue("file-notices", {
  message: s3Notice,
  visibilityTimeout: "60s",
  poison: "quarantine",
  deadLetter,
});

export const fileWork = queue("file-work", {
  message: arrival,
  visibilityTimeout: "5m",
  poison: "quarantine",
  deadLetter,
});

export const largeFileWork = queue("large-file-work", {
  message: arrival,
  visibilityTimeout: "2h",
  poison: "quarantine",
  deadLetter,
});

/** Who hears of files that have ended; while nothing says where they are, what they are to hear waits. */
export const listeners = endpoint("file-listeners", {
  url: () => process.env.LISTENERS_URL,
  timeout: "5s",
  retry: { refusals: 10, base: "1s", max: "5m" },
  permanentStatus: [410, 422],
  owner: deadLetter.owner,
  runbook: deadLetter.runbook,
});

/** A second or two of work; what takes longer would hold up what is small. */
export const smallBytesMax = 64 * 1024 * 1024;

export const queueFor = (bytes: number) => (bytes <= smallBytesMax ? fileWork : largeFileWork);

/** Told of twice, a file is sent on twice and worked on once. */
export const noticeWorker = worker(fileNotices, {
  idempotencyKey: "none",
  timeout: "20s",
  async handle(arrivals, { tx, log }) {
    for (const file of arrivals) {
      await insertFile(tx, file);
      await queueFor(file.bytes).send(file, { tx });
    }
    log.info({ event: "file.noticed", files: arrivals.length }, "files have come");
  },
});

/** Bucket, key and version: as a hash, since a key alone may be as long as an idempotency key. */
const idempotencyKey = ({ bucket, key, version }: Arrival): string =>
  createHash("sha256")
    .update(JSON.stringify([bucket, key, version]))
    .digest("hex");

const announce = (tx: Tx, type: string, file: Arrival, more: object) =>
  add(tx, {
    target: listeners,
    key: `${file.bucket}/${file.key}`.slice(0, 200),
    type,
    payload: JSON.stringify({ ...file, ...more }),
  });

/** Kept in commits of their own, so that everybody sees them meanwhile. */
function progressOf(file: Arrival, { database, log }: Context) {
  return async (stage: "check" | "write", bytes: number): Promise<void> => {
    await database.transaction(({ client }) => setProgress(client, file, { stage, bytes }));
    log.info({ event: "file.progress", key: file.key, stage, bytes, of: file.bytes }, "a file is worked on");
  };
}

/**
 * What is wrong with the file is on record with its stage and told, once, and put aside with the message; nothing is left of it. In a
 * commit of its own, since what an attempt wrote that is not done is undone.
 */
async function giveUp(file: Arrival, { stage, code, message }: FileFault, { database, signal }: Context) {
  await places.files.discard(outputOf(places, file), signal);
  await database.transaction(async ({ client }) => {
    if (await setQuarantined(client, file, { stage, failure: `${code}: ${message}` }))
      await announce(client, "FileQuarantined", file, { stage, code, message });
  });
  return poison({ code, message });
}

async function handle(file: Arrival, context: Context) {
  const { tx, signal, log } = context;
  log.info({ event: "file.begun", key: file.key, bytes: file.bytes }, "a file is begun");
  try {
    const progress = progressOf(file, context);
    const made = await processFile(file, { places, signal, progress });
    const output = outputOf(places, file);
    await setDone(tx, file, output, made);
    await announce(tx, "FileProcessed", file, {
      output: `${output.bucket}/${output.key}`,
      sha256: made.sha256,
    });
    return undefined;
  } catch (fault) {
    if (!(fault instanceof FileFault)) throw fault;
    return giveUp(file, fault, context);
  }
}

export const fileWorker = worker(fileWork, { idempotencyKey, timeout: "5m", concurrency: 2, handle });
export const largeFileWorker = worker(largeFileWork, {
  idempotencyKey,
  timeout: "2h",
  concurrency: 1,
  handle,
});

const migrations = { schema: "intake", folder: new URL("../migrations/", import.meta.url) };

export default app(
  { fileNotices, noticeWorker, fileWork, fileWorker, largeFileWork, listeners },
  { migrations },
);

/** The processes for large files: as a service of ECS, a task with more memory and its own number. */
export const largeFiles = app({ largeFileWork, largeFileWorker, listeners }, { migrations });
