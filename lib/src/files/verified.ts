// Reading so that a damaged file is an error and not a short one: bytes are counted and hashed as they pass.
import { createHash } from "node:crypto";
import { filesErrors, type FileFacts, type FileName } from "./contract.ts";

/** A file's name for people. */
export const nameText = ({ bucket, key, version }: FileName): string =>
  `${bucket}/${key}${version === undefined ? "" : ` (version ${version})`}`;

export interface Sum {
  readonly bytes: number;
  readonly sha256: string;
}

/** Passes the content on and tells at its end what it was. */
export async function* summed(
  content: AsyncIterable<Uint8Array>,
  tell: (sum: Sum) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    bytes += chunk.length;
    yield chunk;
  }
  tell({ bytes, sha256: hash.digest("hex") });
}

/** What a content comes to, read to its end. */
export async function sumOf(content: AsyncIterable<Uint8Array>): Promise<Sum> {
  let sum: Sum;
  for await (const _ of summed(content, (told) => (sum = told)));
  return sum!;
}

/**
 * Passes the content on and throws at its end where it is not what the facts say. Keep nothing of it before that: `put` does so, if
 * its content is made of this. Errors: TUNTAS_FILE_CHECKSUM.
 */
export const verified = (
  content: AsyncIterable<Uint8Array>,
  file: FileName,
  expected: Pick<FileFacts, "bytes" | "sha256">,
): AsyncGenerator<Uint8Array> =>
  summed(content, ({ bytes, sha256 }) => {
    if (bytes === expected.bytes && (expected.sha256 === null || sha256 === expected.sha256)) return;
    throw filesErrors.error(
      "TUNTAS_FILE_CHECKSUM",
      `${nameText(file)}: expected ${expected.bytes} bytes${expected.sha256 === null ? "" : ` of SHA-256 ${expected.sha256}`}, got ${bytes} of ${sha256}`,
    );
  });

/** What becomes of a write that found something there: the same is a duplicate. Errors: TUNTAS_FILE_CONFLICT. */
export async function same(file: FileName, written: Sum, there: AsyncIterable<Uint8Array>): Promise<void> {
  const { sha256, bytes } = await sumOf(there);
  if (sha256 === written.sha256) return;
  throw filesErrors.error(
    "TUNTAS_FILE_CONFLICT",
    `${nameText(file)} is there with ${bytes} bytes of SHA-256 ${sha256}; ${written.bytes} bytes of ${written.sha256} were to be written`,
  );
}
