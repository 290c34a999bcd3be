// What the files room tells while content passes, so that a large file is seen to move before it is whole.
import { metrics, signals } from "../engine/signals.ts";
import type { FileName } from "./contract.ts";

export const filesSignals = signals({
  "file.passed": {
    meaning: "A part of a file was read or written; what is written is not there yet.",
    fields: {
      bucket: "of the file",
      key: "of the file",
      direction: "read or written",
      bytes: "how many since the last of these",
    },
  },
});

export const filesMetrics = metrics({
  tuntas_file_bytes_total: {
    kind: "counter",
    meaning:
      "Bytes of files that were read and written. It rises while a file is under way, at every MiB and at its end.",
    labels: ["bucket", "direction"],
    from: [{ signal: "file.passed", amount: "bytes" }],
    kept: true,
  },
});

const everyBytes = 1024 * 1024;

/** Passes the content on and tells how it goes: at every MiB, and what is left at its end, whichever that is. */
export async function* told(
  content: AsyncIterable<Uint8Array>,
  { bucket, key }: FileName,
  direction: "read" | "written",
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  const tell = (): void => {
    if (bytes > 0) filesSignals.publish("file.passed", { bucket, key, direction, bytes });
    bytes = 0;
  };
  try {
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes >= everyBytes) tell();
      yield chunk;
    }
  } finally {
    tell();
  }
}
