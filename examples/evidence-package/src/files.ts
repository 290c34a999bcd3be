// Files by their hash, in a folder that stands for the object store: writing one twice is writing it once, and a file is whole or
// not there.
import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const folder = () => process.env.EVIDENCE_DIR || ".evidence";

export interface StoredFile {
  readonly sha256: string;
  readonly bytes: number;
}

export async function putFile(content: Buffer): Promise<StoredFile> {
  const sha256 = createHash("sha256").update(content).digest("hex");
  await mkdir(folder(), { recursive: true });
  const attempt = join(folder(), `${sha256}.${randomUUID()}`);
  await writeFile(attempt, content);
  await rename(attempt, join(folder(), sha256));
  return { sha256, bytes: content.length };
}

export const getFile = (sha256: string): Promise<Buffer> => readFile(join(folder(), sha256));
