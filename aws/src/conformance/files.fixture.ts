// What a store of files promises, wherever it keeps them: in a folder, in S3.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { verified, type FileName, type Files } from "tuntas/files";

const { signal } = new AbortController();
const csv = { contentType: "text/csv", signal };

export const sha256 = (text: string | Buffer): string => createHash("sha256").update(text).digest("hex");

export async function* chunks(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

export async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** More than one part of S3's, and not a multiple of it. */
const long = Buffer.alloc(17 * 1024 * 1024 + 3, "payments ");

export interface Place {
  readonly files: Files;
  /** What is visible, and what lies staged. */
  readonly visible: () => Promise<readonly string[]>;
  readonly staged: () => Promise<number>;
}

export function storeKeepsItsPromises(place: () => Place): void {
  const at = (key: string): FileName => ({ bucket: "results", key });

  test("F-05 F-08: what is written is there once and whole, under its name, with what is known of it", async () => {
    const { files, visible, staged } = place();
    expect(await files.find(at("a/day 1.csv"), signal)).toBeUndefined();
    const first = await files.put(at("a/day 1.csv"), chunks("x,", "1\n"), csv);
    expect(first).toEqual({ status: "created", bytes: 4, sha256: sha256("x,1\n") });
    expect(await files.find(at("a/day 1.csv"), signal)).toEqual({
      bytes: 4,
      contentType: "text/csv",
      sha256: sha256("x,1\n"),
    });
    const again = await files.put(at("a/day 1.csv"), chunks("x,1", "\n"), csv);
    expect(again).toEqual({ ...first, status: "duplicate" });
    await expect(files.put(at("a/day 1.csv"), chunks("x,2\n"), csv)).rejects.toMatchObject({
      code: "TUNTAS_FILE_CONFLICT",
    });
    expect(await textOf(files.read(at("a/day 1.csv"), signal))).toBe("x,1\n");
    expect(await visible()).toEqual(["results/a/day 1.csv"]);
    expect(await staged()).toBe(0);
    await files.put(at("empty"), chunks(), csv);
    expect(await textOf(files.read(at("empty"), signal))).toBe("");
  });

  test("F-02 F-08: a file of many parts, one that breaks off and one that is aborted: nothing of it is seen", async () => {
    const { files, visible, staged } = place();
    const before = await visible();
    async function* breaking() {
      yield long;
      expect(await visible()).toEqual(before);
      throw new Error("broken off");
    }
    await expect(files.put(at("long"), breaking(), csv)).rejects.toThrow("broken off");
    const stop = new AbortController();
    async function* stopping() {
      yield long;
      stop.abort(new Error("stopped"));
      yield long;
    }
    await expect(files.put(at("long"), stopping(), { ...csv, signal: stop.signal })).rejects.toThrow();
    expect([await visible(), await staged()]).toEqual([before, 0]);
    const made = await files.put(at("long"), chunks(long), csv);
    expect(made).toEqual({ status: "created", bytes: long.length, sha256: sha256(long) });
    expect((await files.put(at("long"), chunks(long), csv)).status).toBe("duplicate");
    expect(sha256(await textOf(files.read(at("long"), signal)))).toBe(sha256(long));
    expect(await staged()).toBe(0);
  });

  test("of two that write at once one is first, and the other finds the same there", async () => {
    const { files, staged } = place();
    const both = await Promise.all([1, 2].map(() => files.put(at("both"), chunks("same"), csv)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(["created", "duplicate"]);
    expect(await staged()).toBe(0);
  });

  test("F-03: a file that is not what its sender said is an error at its end, and what is made of it is not seen", async () => {
    const { files, visible } = place();
    await files.put(at("damaged"), chunks("x,1\n"), { ...csv, sha256: sha256("x,2\n") });
    const before = await visible();
    const facts = (await files.find(at("damaged"), signal))!;
    expect(facts.sha256).toBe(sha256("x,2\n"));
    const copying = verified(files.read(at("damaged"), signal), at("damaged"), facts);
    await expect(files.put(at("copy"), copying, csv)).rejects.toMatchObject({ code: "TUNTAS_FILE_CHECKSUM" });
    const cut = verified(files.read(at("damaged"), signal), at("damaged"), { bytes: 5, sha256: null });
    await expect(textOf(cut)).rejects.toThrow(/expected 5 bytes, got 4/);
    await expect(textOf(files.read(at("nowhere"), signal))).rejects.toMatchObject({
      code: "TUNTAS_FILE_GONE",
    });
    expect(await visible()).toEqual(before);
  });
}
