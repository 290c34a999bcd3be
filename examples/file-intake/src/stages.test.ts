// Each stage by itself, and which one a bad file fails in.
import { expect, test } from "vitest";
import type { Arrival } from "tuntas/files";
import { checkFacts, checkSum } from "./check.ts";
import { FileFault } from "./fault.ts";
import { queueFor, smallBytesMax } from "./intake.ts";
import { header, parse } from "./parse.ts";
import { lineOf, toPayment } from "./transform.ts";
import { addTo, validate, type Totals } from "./validate.ts";

const file: Arrival = { bucket: "inbox", key: "day.csv", version: "v1", bytes: 4 };
const facts = { bytes: 4, contentType: "text/csv; charset=utf-8", sha256: null };

async function* bytes(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function parsed(...parts: (string | Buffer)[]) {
  const rows = parse(bytes(...parts));
  const found = [];
  for (;;) {
    const next = await rows.next();
    if (next.done) return { rows: found, trailer: next.value };
    found.push(...next.value);
  }
}

/** The code with its stage, and the text. */
async function fault(work: () => unknown): Promise<string> {
  try {
    await work();
    return "none";
  } catch (cause) {
    if (!(cause instanceof FileFault)) throw cause;
    return `${cause.stage} ${cause.code}: ${cause.message}`;
  }
}

test("F-03 F-06: check refuses what is not there, is of another type or size, or is damaged", async () => {
  expect(checkFacts(file, facts)).toBe(facts);
  expect(await fault(() => checkFacts(file, undefined))).toMatch(/^check CHECK_MISSING: inbox\/day.csv/);
  expect(await fault(() => checkFacts(file, { ...facts, contentType: "image/png" }))).toMatch(
    /^check CHECK_TYPE: .*got image\/png/,
  );
  expect(await fault(() => checkFacts(file, { ...facts, contentType: null }))).toMatch(/got \(none\)/);
  expect(await fault(() => checkFacts(file, { ...facts, bytes: 5 }))).toMatch(/^check CHECK_SIZE/);
  expect(await fault(() => checkSum(file, { ...facts, sha256: "00" }, bytes("text")))).toMatch(
    /^check CHECK_SUM/,
  );
  expect(await fault(() => checkSum(file, facts, bytes("tex")))).toMatch(/^check CHECK_SUM/);
  expect(await fault(() => checkSum(file, facts, bytes("te", "xt")))).toBe("none");
});

test("F-06: parse makes rows of lines, wherever the chunks are cut", async () => {
  const text = Buffer.from(`${header}\r\nr1,ä,IDR,12\r\nr2,b,IDR,1.50\nEND,2,1350`);
  const whole = await parsed(text);
  expect(whole).toEqual({
    rows: [
      { line: 2, fields: ["r1", "ä", "IDR", "12"] },
      { line: 3, fields: ["r2", "b", "IDR", "1.50"] },
    ],
    trailer: { payments: "2", cents: "1350" },
  });
  expect(await parsed(...[...text].map((byte) => Buffer.of(byte)))).toEqual(whole);
});

test.each([
  ["a,b\n", "PARSE_LINE: line 1: expected the header"],
  [`${header}\nr1,a,IDR\nEND,0,0\n`, "PARSE_LINE: line 2: expected 4 fields, got 3"],
  [`${header}\nr1,a,IDR,1\n`, "PARSE_LINE: line 2: the file ends without its trailer"],
  [`${header}\nEND,0,0\nr1,a,IDR,1\n`, "PARSE_LINE: line 3: something stands behind the trailer"],
  ["", "PARSE_LINE: line 0: the file ends without"],
  ["x".repeat(5000), "PARSE_LENGTH"],
  [Buffer.of(0xff, 0x0a), "PARSE_TEXT"],
  [Buffer.of(0xc3), "PARSE_TEXT"],
])("F-06: parse refuses %j", async (text, expected) => {
  expect(await fault(() => parsed(text))).toContain(`parse ${expected}`);
});

test("F-06: transform makes payments, and names the line of one that is none", async () => {
  const row = (amount: string, currency = "IDR") => ({ line: 7, fields: ["r1", "a", currency, amount] });
  expect(lineOf(toPayment(row("12.30")))).toBe(
    '{"reference":"r1","account":"a","currency":"IDR","cents":1230}\n',
  );
  expect(toPayment(row("12")).cents).toBe(1200);
  for (const amount of ["", "-1", "1.2", "1,20", "1e3", "much"])
    expect(await fault(() => toPayment(row(amount)))).toMatch(
      /^transform TRANSFORM_FIELD: line 7: expected an amount/,
    );
  expect(await fault(() => toPayment(row("1", "idr")))).toMatch(/line 7: expected a currency/);
});

test("F-06: validate holds the whole against the trailer, beyond 2^53 as well", async () => {
  const totals: Totals = new Map();
  for (const cents of [9_007_199_254_740_991, 2])
    addTo(totals, { reference: "r", account: "a", currency: "IDR", cents });
  const trailer = (cents: string) => ({ payments: "2", cents });
  expect(await fault(() => validate(totals, trailer("9007199254740993")))).toBe("none");
  expect(await fault(() => validate(totals, trailer("9007199254740992")))).toMatch(
    /^validate VALIDATE_TOTAL/,
  );
});

test("F-09: what is large goes to the processes for what is large", () => {
  expect([0, smallBytesMax].map((size) => queueFor(size).name)).toEqual(["file-work", "file-work"]);
  expect(queueFor(smallBytesMax + 1).name).toBe("large-file-work");
});
