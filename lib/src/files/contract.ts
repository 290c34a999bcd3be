// What a caller of the files room sees: names of files, what is known of one, the port that a store of files fills, and the error
// codes. A file is whole or not there, and what stands under a name stays as it is: whoever writes it again finds it there.
import { catalogue } from "../core/error.ts";

/** Names one content: bucket and key as in S3, and the version where the store keeps several under one key. */
export interface FileName {
  readonly bucket: string;
  readonly key: string;
  readonly version?: string | undefined;
}

/** A file that has come, as its store told of it. */
export interface Arrival extends FileName {
  /** S3's version id; of a bucket without versions `etag:` and the object's ETag. */
  readonly version: string;
  readonly bytes: number;
}

/** What is known of a file before it is read. */
export interface FileFacts {
  readonly bytes: number;
  /** As whoever wrote it said; null where nobody did. */
  readonly contentType: string | null;
  /** What its SHA-256 is to be, in hexadecimal; null where the store does not know. */
  readonly sha256: string | null;
}

export interface PutOptions {
  readonly contentType: string;
  /** What the sender says that its SHA-256 is: kept beside it for whoever reads it, and not looked at here. */
  readonly sha256?: string | undefined;
  /** Once it aborts nothing appears any more. */
  readonly signal: AbortSignal;
}

/** `duplicate`: the same content stood there already. */
export interface PutResult {
  readonly status: "created" | "duplicate";
  readonly bytes: number;
  readonly sha256: string;
}

/** Where files are: a folder (`folderFiles`), or S3 (`s3Files` of `@tuntas/aws`). */
export interface Files {
  /** Undefined where there is no such file, or its key has another version by now. */
  find(file: FileName, signal: AbortSignal): Promise<FileFacts | undefined>;
  /** Its bytes, as they come; few of them are in memory at a time. Errors, at the first: TUNTAS_FILE_GONE. */
  read(file: FileName, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Writes a file: staged where nobody sees it, then there at once, whole, and only if nothing stood there. Where `content` throws
   * nothing appears. Errors: TUNTAS_FILE_CONFLICT, TUNTAS_FILE_NAME.
   */
  put(file: FileName, content: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PutResult>;
  /** Removes what attempts that were killed have staged under the name; what stands there stays. */
  discard(file: FileName, signal: AbortSignal): Promise<void>;
}

export const filesErrors = catalogue({
  TUNTAS_FILE_NAME: {
    meaning: "A name is none that a store of files can keep.",
    remedy: "Do what the message says: a folder takes fewer names than S3.",
  },
  TUNTAS_FILE_GONE: {
    meaning: "There is no file of that name and version.",
    remedy: "It was removed, or replaced in a bucket without versions: its successor has told of itself.",
  },
  TUNTAS_FILE_CHECKSUM: {
    meaning: "The bytes of a file are not those that its size and SHA-256 say.",
    remedy: "Ask its sender for it again; what was made of it until then must not be kept.",
  },
  TUNTAS_FILE_CONFLICT: {
    meaning: "Another content stands under the name that is to be written.",
    remedy:
      "What makes the file gave something else before, another release perhaps. Look at what stands there, then remove it or write under another name.",
  },
});
