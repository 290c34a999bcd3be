// Files in a folder: on one machine, or on a file system that all of them share. A file is staged beside the others, flushed to the
// disk, and linked to its name: a link is made at once or refused where the name is taken.
import { randomUUID, createHash } from "node:crypto";
import { link, mkdir, open, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isStorable } from "../core/text.ts";
import { filesErrors, type FileFacts, type FileName, type Files, type PutOptions } from "./contract.ts";
import { told } from "./signals.ts";
import { nameText, same, summed, type Sum } from "./verified.ts";

// What bucket and file systems allow; no bucket begins with a dot, so that our own folders are in nobody's way.
const isBucket = /^[a-z0-9][a-z0-9.-]{1,62}$/;
const segmentBytesMax = 255;
/** As S3's; encoded it may be three times as long. */
const keyBytesMax = 1024;

const refuse = (file: FileName, why: string): Error =>
  filesErrors.error("TUNTAS_FILE_NAME", `${JSON.stringify(nameText(file))}: ${why}`);

/**
 * Where a file stands below the root, another for each name: no part of a key has an `@` of its own once it is encoded. What could lead
 * elsewhere is encoded or refused.
 */
export function pathOf(file: FileName): string {
  const { bucket, key, version } = file;
  if (!isBucket.test(bucket)) throw refuse(file, "expected a bucket of 3 to 63 of a-z, 0-9, dot and hyphen");
  if (!isStorable(key + (version ?? ""))) throw refuse(file, "expected text without NUL or lone surrogates");
  if (Buffer.byteLength(key) > keyBytesMax)
    throw refuse(file, `expected a key of at most ${keyBytesMax} bytes`);
  const segments = key.split("/");
  for (const segment of segments)
    if (segment === "" || segment === "." || segment === "..")
      throw refuse(file, "a folder takes no key with an empty, `.` or `..` part");
  const path = `${segments.map(encodeURIComponent).join("/")}${version === undefined ? "" : `@${encodeURIComponent(version)}`}`;
  if (path.split("/").some((segment) => segment.length > segmentBytesMax))
    throw refuse(file, `a part of the key is longer than the ${segmentBytesMax} bytes of a file's name`);
  return join(bucket, path);
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

/** All folders from one up to the root: whoever made one of them may have died before it was on the disk. */
async function flushUp(path: string, root: string): Promise<void> {
  await flushFolder(path);
  if (resolve(path) !== resolve(root)) await flushUp(dirname(path), root);
}

/** What is written where nobody sees it. */
interface Staged {
  readonly path: string;
  /** The file's number on its disk, which it keeps under any name. */
  readonly inode: bigint;
  readonly sum: Sum;
}

const inodeOf = async (path: string): Promise<bigint | undefined> =>
  (await unlessMissing(stat(path, { bigint: true })))?.ino;

async function writeAll(path: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const target = await open(path, "wx", 0o640);
  let [sum, inode]: [Sum?, bigint?] = [];
  try {
    for await (const chunk of summed(content, (of) => (sum = of))) {
      signal.throwIfAborted();
      await target.writeFile(chunk);
    }
    await target.sync();
    inode = (await target.stat({ bigint: true })).ino;
  } finally {
    await target.close();
  }
  return { path, inode, sum: sum! };
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
  const staging = join(root, ".staging");
  const markOf = (file: FileName): string =>
    createHash("sha256").update(pathOf(file)).digest("hex").slice(0, 32);
  // By the number of the file that they belong to: of two who write at once the one that comes second says nothing of the first's.
  const factsOf = (file: FileName): string => join(root, ".facts", markOf(file));
  const factsAt = (file: FileName, inode: bigint): string => join(factsOf(file), `${inode}.json`);

  async function keepFacts(file: FileName, facts: Omit<FileFacts, "bytes">, { path, inode }: Staged) {
    await writeFile(`${path}.json`, JSON.stringify(facts), { flush: true });
    await mkdir(factsOf(file), { recursive: true });
    await rename(`${path}.json`, factsAt(file, inode));
    await flushUp(factsOf(file), root);
  }

  async function* read(file: FileName, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const source = await unlessMissing(open(at(file)));
    const isFile = (await source?.stat())?.isFile();
    if (!isFile) await source?.close();
    if (!source || !isFile)
      throw filesErrors.error("TUNTAS_FILE_GONE", `${nameText(file)} is not in ${root}`);
    yield* told(source.createReadStream({ signal }) as AsyncIterable<Uint8Array>, file, "read");
  }

  /** First what is staged, so that nobody promotes it any more; then the facts that were there by then and are not of what stands. */
  async function discard(file: FileName): Promise<void> {
    const facts = (await unlessMissing(readdir(factsOf(file)))) ?? [];
    const left = (await unlessMissing(readdir(staging))) ?? [];
    const ours = left.filter((name) => name.startsWith(`${markOf(file)}.`));
    await Promise.all(ours.map((name) => rm(join(staging, name), { force: true })));
    const kept = `${await inodeOf(at(file))}.json`;
    const others = facts.filter((name) => name !== kept);
    await Promise.all(others.map((name) => rm(join(factsOf(file), name), { force: true })));
  }

  async function isThere(file: FileName): Promise<boolean> {
    const there = await unlessMissing(stat(at(file)));
    if (there && !there.isFile()) throw refuse(file, "a folder of longer keys stands there");
    return there !== undefined;
  }

  /** Answers whether the name was free. What the facts say is there before the file is, so that nobody finds it without. */
  async function promote(file: FileName, staged: Staged, facts: Omit<FileFacts, "bytes">): Promise<boolean> {
    if (await isThere(file)) return false;
    let free = false;
    try {
      await mkdir(dirname(at(file)), { recursive: true });
      await keepFacts(file, facts, staged);
      // A link whose answer a network lost was made: then it is ours that stands there.
      free = (await take(staged.path, at(file))) || (await inodeOf(at(file))) === staged.inode;
      return free;
    } catch (cause) {
      // Somebody else was first, and has removed what others had staged.
      if (isCode(cause, "ENOENT") && (await isThere(file))) return false;
      if (isCode(cause, "EEXIST", "ENOTDIR"))
        throw refuse(file, "a file stands where its key needs a folder");
      throw cause;
    } finally {
      if (!free) await rm(factsAt(file, staged.inode), { force: true });
    }
  }

  async function put(file: FileName, content: AsyncIterable<Uint8Array>, options: PutOptions) {
    const { signal, contentType, sha256 } = options;
    const path = join(staging, `${markOf(file)}.${randomUUID()}`);
    await mkdir(staging, { recursive: true });
    try {
      const staged = await writeAll(path, told(content, file, "written"), signal);
      const { sum } = staged;
      signal.throwIfAborted();
      const free = await promote(file, staged, { contentType, sha256: sha256 ?? sum.sha256 });
      if (!free) await same(file, sum, read(file, signal));
      await flushUp(dirname(at(file)), root);
      await discard(file);
      return { status: free ? "created" : "duplicate", ...sum } as const;
    } finally {
      await rm(path, { force: true });
    }
  }

  async function find(file: FileName): Promise<FileFacts | undefined> {
    const there = await unlessMissing(stat(at(file), { bigint: true }));
    if (!there?.isFile()) return undefined;
    const kept = await unlessMissing(readFile(factsAt(file, there.ino), "utf8"));
    return { contentType: null, sha256: null, ...(kept && JSON.parse(kept)), bytes: Number(there.size) };
  }

  return { find, read, put, discard };
}
