// What instances print: a file each, appended to by the instance itself. A file that has grown too long is turned: its end
// becomes the earlier file and it begins anew, under the instance's own descriptor, which appends and so needs to know
// nothing of it. Of instances that ended, the last few files are kept.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Instance } from "./contract.ts";

/** A file is turned when it is longer, so that one instance has about twice as much on the disk. */
export const outputBytesMax = 10 << 20;
/** So many instances of a service that ended keep what they printed. */
export const outputsKept = 10;

export const outputsDefault = (): string => join(process.env.TUNTAS_DATA_DIR || ".tuntas", "services");

export const outputOf = (directory: string, { service, id }: Pick<Instance, "service" | "id">): string =>
  join(directory, service, `${id}.log`);

const earlierOf = (path: string): string => `${path}.1`;

export function openOutput(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  return openSync(path, "a");
}

const chunkBytes = 1 << 20;

/** Writes what is in the one from there on into the other, until there is no more of it, or of `bytes`. */
function pour(from: number, into: number, start: number, bytes: number): void {
  const chunk = Buffer.alloc(chunkBytes);
  for (let poured = 0; poured < bytes;) {
    const read = readSync(from, chunk, 0, chunkBytes, start + poured);
    if (read === 0) return;
    writeSync(into, chunk, 0, read);
    poured += read;
  }
}

/** Keeps the last `bytesMax` of the file as its earlier one. */
function keepEnd(path: string, file: number, bytesMax: number): void {
  const into = openSync(earlierOf(path), "w");
  try {
    pour(file, into, Math.max(0, fstatSync(file).size - bytesMax), 2 * bytesMax);
  } finally {
    closeSync(into);
  }
}

/**
 * Turns the file where it is too long. What is printed in the instant between the last read and the cut is lost; on a full
 * disk so is what should have been kept, since the cut is what makes room.
 */
export function turnOutput(path: string, bytesMax = outputBytesMax): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= bytesMax) return;
  const file = openSync(path, "r+");
  try {
    keepEnd(path, file, bytesMax);
  } catch {
    // It is cut all the same.
  } finally {
    ftruncateSync(file, 0);
    closeSync(file);
  }
}

/** The files in the folder of a service that nobody needs any more: of those that ended, all but the newest. */
export function staleOutputs(names: readonly string[], isLive: (id: string) => boolean): string[] {
  const ended = new Map<string, string[]>();
  for (const name of names) {
    const id = /^(\d+)\.log(\.1)?$/.exec(name)?.[1];
    if (id !== undefined && !isLive(id)) ended.set(id, [...(ended.get(id) ?? []), name]);
  }
  const newestFirst = [...ended].toSorted(([one], [other]) => Number(BigInt(other) - BigInt(one)));
  return newestFirst.slice(outputsKept).flatMap(([, files]) => files);
}

export async function forgetOutputs(folder: string, isLive: (id: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  // What cannot be removed now is tried again at the next end.
  await Promise.allSettled(
    staleOutputs(names, isLive).map((name) => rm(join(folder, name), { force: true })),
  );
}

/** The last bytes of a file; undefined where there is none. */
async function endOf(path: string, bytes: number): Promise<Buffer | undefined> {
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const length = Math.min(size, bytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export type Output =
  | {
      readonly status: "read";
      readonly text: string;
      /** Whether something was printed before it. */
      readonly more: boolean;
    }
  /** It is not on this machine, or was kept long enough. */
  | { readonly status: "missing"; readonly path: string };

/** The last that it printed, in whole lines where it is not all. */
export async function readOutput(path: string, bytesMax: number): Promise<Output> {
  const late = await endOf(path, bytesMax + 1);
  if (!late) return { status: "missing", path };
  const missing = bytesMax + 1 - late.length;
  const early = missing > 0 ? await endOf(earlierOf(path), missing) : undefined;
  const bytes = early ? Buffer.concat([early, late]) : late;
  if (bytes.length <= bytesMax) return { status: "read", text: bytes.toString(), more: false };
  const line = bytes.indexOf("\n") + 1;
  const text = bytes.subarray(line > 0 && line < bytes.length ? line : 1).toString();
  return { status: "read", text, more: true };
}
