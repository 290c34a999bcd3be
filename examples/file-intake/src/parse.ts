// The second stage: bytes into rows. Few lines are in memory at a time, whatever the file.
import { FileFault } from "./fault.ts";

/** A row as it stands in the file. */
export interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

/** The last line: how many payments the sender wrote, and what they come to. */
export interface Trailer {
  readonly payments: string;
  readonly cents: string;
}

export const header = "reference,account,currency,amount";
const lineLengthMax = 4096;

const wrong = (line: number, what: string) => new FileFault("parse", "LINE", `line ${line}: ${what}`);

/** Whole lines, as many as a chunk brings. */
async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of content) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    if (rest.length > lineLengthMax) throw new FileFault("parse", "LENGTH", "a line has no end");
    if (lines.length > 0) yield lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield [rest];
}

/** A text that is no UTF-8 is the file's fault. */
async function* readable(content: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  try {
    yield* linesOf(content);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new FileFault("parse", "TEXT", "the text is not UTF-8");
  }
}

/** Rows, as many as a chunk brings, and at the end what the trailer says. */
export async function* parse(content: AsyncIterable<Uint8Array>): AsyncGenerator<Row[], Trailer> {
  let line = 0;
  let trailer: Trailer | undefined;
  function rowOf(text: string): Row[] {
    line += 1;
    const fields = text.replace(/\r$/, "").split(",");
    if (trailer) throw wrong(line, "something stands behind the trailer");
    if (line === 1 && fields.join(",") !== header) throw wrong(1, `expected the header ${header}`);
    if (line === 1) return [];
    if (fields[0] === "END" && fields.length === 3) {
      trailer = { payments: fields[1]!, cents: fields[2]! };
      return [];
    }
    if (fields.length !== 4) throw wrong(line, `expected 4 fields, got ${fields.length}`);
    return [{ line, fields }];
  }
  for await (const lines of readable(content)) yield lines.flatMap(rowOf);
  if (!trailer) throw wrong(line, "the file ends without its trailer: END,payments,cents");
  return trailer;
}
