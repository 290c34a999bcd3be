// Files in a folder: on one machine, or on a file system that all of them share. A file is staged beside the others, flushed to the
// disk, and linked to its name: a link is made at once or refused where the name is taken.
import { randomUUID, createHash } from "node:crypto";
import { link, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filesErrors, type FileFacts, type FileName, type Files, type PutOptions } from "./contract.ts";
import { nameText, same, summed, type Sum } from "./verified.ts";

// What bucket and file systems allow; no bucket begins with a dot, so that our own folders are in nobody's way.
const isBucket = /^[a-z0-9][a-z0-9.-]{1,62}$/;
const segmentBytesMax = 255;

const refuse = (file: FileName, why: string): Error =>
  filesErrors.error("TUNTAS_FILE_NAME", `${JSON.stringify(nameText(file))}: ${why}`);

/** Where a file stands below the root. What could lead elsewhere is encoded or refused. */
export function pathOf(file: FileName): string {
  const { bucket, key, version } = file;
  if (!isBucket.test(bucket)) throw refuse(file, "expected a bucket of 3 to 63 of a-z, 0-9, dot and hyphen");
  const segments = `${key}${version === undefined ? "" : `@${version}`}`.split("/");
  for (const segment of segments)
    if (segment === "" || segment === "." || segment === "..")
      throw refuse(file, "a folder takes no key with an empty, `.` or `..` part");
  const path = segments.map(encodeURIComponent);
  if (path.some((segment) => segment.length > segmentBytesMax))
    throw refuse(file, `a part of the key is longer than the ${segmentBytesMax} bytes of a file's name`);
  return join(bucket, ...path);
}

const isCode = (cause: unknown, ...codes: string[]): boolean =>
  codes.includes(String((cause as NodeJS.ErrnoException)?.code));

/** Undefined where there is nothing. */
const unlessMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((cause: unknown) => {
    if (isCode(cause, "ENOENT", "ENOTDIR")) return undefined;
    throw cause;
  });

/** A rename or a link outlasts a power failure once its folder is on the disk. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}

async function writeAll(path: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const target = await open(path, "wx", 0o640);
  let sum: Sum;
  try {
    for await (const chunk of summed(content, (told) => (sum = told))) {
      signal.throwIfAborted();
      await target.writeFile(chunk);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return sum!;
}

/** Whether the name was free. */
async function take(staged: string, path: string): Promise<boolean> {
  try {
    await link(staged, path);
    return true;
  } catch (cause) {
    if (isCode(cause, "EEXIST")) return false;
    throw cause;
  }
}

/** Files below a folder; it is made at the first write. */
export function folderFiles(root: string): Files {
  const at = (file: FileName): string => join(root, pathOf(file));
  const factsAt = (file: FileName): string => join(root, ".facts", `${pathOf(file)}.json`);
  const staging = join(root, ".staging");
  const beginningOf = (file: FileName): string =>
    `${createHash("sha256").update(pathOf(file)).digest("hex").slice(0, 32)}.`;

  async function keepFacts(file: FileName, facts: Omit<FileFacts, "bytes">, staged: string): Promise<void> {
    await writeFile(`${staged}.json`, JSON.stringify(facts), { flush: true });
    await mkdir(dirname(factsAt(file)), { recursive: true });
    await rename(`${staged}.json`, factsAt(file));
  }

  async function* read(file: FileName, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const source = await unlessMissing(open(at(file)));
    if (!source) throw filesErrors.error("TUNTAS_FILE_GONE", `${nameText(file)} is not in ${root}`);
    yield* source.createReadStream({ signal }) as AsyncIterable<Uint8Array>;
  }

  async function discard(file: FileName): Promise<void> {
    const left = (await unlessMissing(readdir(staging))) ?? [];
    const ours = left.filter((name) => name.startsWith(beginningOf(file)));
    await Promise.all(ours.map((name) => rm(join(staging, name), { force: true })));
  }

  /** Answers whether the name was free. What the facts say is there before the file is, so that nobody finds it without. */
  async function promote(file: FileName, staged: string, facts: Omit<FileFacts, "bytes">) {
    const path = at(file);
    const isThere = async () => (await unlessMissing(stat(path))) !== undefined;
    if (await isThere()) return false;
    await mkdir(dirname(path), { recursive: true });
    try {
      await keepFacts(file, facts, staged);
      const free = await take(staged, path);
      if (free) await flushFolder(dirname(path));
      return free;
    } catch (cause) {
      // Somebody else was first, and has removed what others had staged.
      if (isCode(cause, "ENOENT") && (await isThere())) return false;
      throw cause;
    }
  }

  async function put(file: FileName, content: AsyncIterable<Uint8Array>, options: PutOptions) {
    const { signal, contentType, sha256 } = options;
    const staged = join(staging, beginningOf(file) + randomUUID());
    await mkdir(staging, { recursive: true });
    try {
      const sum = await writeAll(staged, content, signal);
      signal.throwIfAborted();
      const free = await promote(file, staged, { contentType, sha256: sha256 ?? sum.sha256 });
      if (!free) await same(file, sum, read(file, signal));
      await discard(file);
      return { status: free ? "created" : "duplicate", ...sum } as const;
    } finally {
      await rm(staged, { force: true });
    }
  }

  async function find(file: FileName): Promise<FileFacts | undefined> {
    const there = await unlessMissing(stat(at(file)));
    if (!there?.isFile()) return undefined;
    const kept = await unlessMissing(readFile(factsAt(file), "utf8"));
    return { contentType: null, sha256: null, ...(kept && JSON.parse(kept)), bytes: there.size };
  }

  return { find, read, put, discard };
}
