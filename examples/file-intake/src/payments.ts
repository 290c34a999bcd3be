// Files to try it with, of any size, made as they are sent.
import { header } from "./parse.ts";

const rowsPerChunk = 2000;

/** So many payments of 12.30 each, and a trailer that is right. */
export async function* paymentsFile(payments: number): AsyncGenerator<Buffer> {
  yield Buffer.from(`${header}\n`);
  for (let from = 0; from < payments; from += rowsPerChunk) {
    const rows = Math.min(rowsPerChunk, payments - from);
    const line = (_: unknown, index: number) =>
      `payment-${String(from + index).padStart(10, "0")},account-${(from + index) % 977},IDR,12.30\n`;
    yield Buffer.from(Array.from({ length: rows }, line).join(""));
  }
  yield Buffer.from(`END,${payments},${payments * 1230}\n`);
}
