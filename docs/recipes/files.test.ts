// The recipe for files runs as it stands.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("files.md", import.meta.url);
let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("files");
  process.env.FILES_DIR = join(kitchen.folder, "files");
  await kitchen.client.query(blocksOf(page, "sql")[0]!);
});
afterAll(() => kitchen.close());

test("F-01 F-04 docs/recipes/files.md: told of twice, a file comes out once, with its row", async () => {
  const { folderFiles } = await import("tuntas/files");
  const { default: work, notices, start } = await kitchen.recipe("files");
  const files = folderFiles(process.env.FILES_DIR!);
  const { signal } = new AbortController();
  async function* content() {
    yield Buffer.from("ana,1\nben,2\n");
  }
  const file = { bucket: "inbox", key: "day.csv", version: "v1" };
  await files.put(file, content(), { contentType: "text/csv", signal });
  const running = await start(work, { databaseUrl: kitchen.url });
  try {
    const object = { key: file.key, size: 12, versionId: file.version };
    const notice = {
      Records: [{ eventName: "ObjectCreated:Put", s3: { bucket: { name: file.bucket }, object } }],
    };
    await notices.send({ Event: "s3:TestEvent" });
    await notices.send(notice);
    await notices.send(notice);
    const taken = async () =>
      (await kitchen.client.query("select key, lines::int, output from taken_in")).rows;
    await expect.poll(taken).toEqual([{ key: "day.csv", lines: 2, output: "inbox/day.csv/v1.csv" }]);
    expect(readdirSync(join(process.env.FILES_DIR!, "results/inbox/day.csv"))).toEqual(["v1.csv"]);
  } finally {
    await running.stop();
  }
});
