// One file, stage by stage: checked, then parsed, transformed and staged as it streams by, validated, and only then promoted.
import { verified, type Arrival, type PutResult } from "tuntas/files";
import { checkFacts, checkSum } from "./check.ts";
import { parse } from "./parse.ts";
import { outputOf, type Places } from "./places.ts";
import { lineOf, toPayment } from "./transform.ts";
import { addTo, validate, type Totals } from "./validate.ts";

export interface Working {
  readonly places: Places;
  readonly signal: AbortSignal;
  /** Hears how many bytes have passed a stage. */
  readonly progress: (stage: "check" | "write", bytes: number) => Promise<void>;
}

export interface Made extends PutResult {
  readonly totals: Totals;
}

/** Often enough to be looked at, seldom enough to cost nothing. */
const progressBytes = 4 * 1024 * 1024;

async function* counted(content: AsyncIterable<Uint8Array>, tell: (bytes: number) => Promise<void>) {
  let [bytes, toldAt] = [0, 0];
  for await (const chunk of content) {
    yield chunk;
    bytes += chunk.length;
    if (bytes - toldAt < progressBytes) continue;
    toldAt = bytes;
    await tell(bytes);
  }
}

/** The output, and at its end the verdict on it: where that throws nothing of it is seen. */
async function* transformed(content: AsyncIterable<Uint8Array>, totals: Totals): AsyncGenerator<Uint8Array> {
  const rows = parse(content);
  for (;;) {
    const next = await rows.next();
    if (next.done) return validate(totals, next.value);
    const payments = next.value.map(toPayment);
    for (const payment of payments) addTo(totals, payment);
    yield Buffer.from(payments.map(lineOf).join(""));
  }
}

/** Errors: FileFault, of the stage that failed; all else is worth another try. */
export async function processFile(file: Arrival, { places, signal, progress }: Working): Promise<Made> {
  const { files } = places;
  const facts = checkFacts(file, await files.find(file, signal));
  const read = (stage: "check" | "write") =>
    counted(files.read(file, signal), (bytes) => progress(stage, bytes));
  await checkSum(file, facts, read("check"));
  const totals: Totals = new Map();
  const content = transformed(verified(read("write"), file, facts), totals);
  const made = await files.put(outputOf(places, file), content, { contentType: "application/jsonl", signal });
  return { ...made, totals };
}
