// The recipe as it stands: its application in a folder of its own, its migration, its kill.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blocksOf, openKitchen, type Kitchen } from "./kitchen.fixture.ts";

const page = new URL("testing.md", import.meta.url);

let kitchen: Kitchen;
beforeAll(async () => {
  kitchen = await openKitchen("testing");
});
afterAll(() => kitchen.close());

test("docs/recipes/testing.md: a worker that is killed while it packs leaves one parcel", async () => {
  const { survivesAKill } = await kitchen.recipe("testing");
  mkdirSync(join(kitchen.folder, "migrations"));
  writeFileSync(join(kitchen.folder, "migrations/0001-shop.sql"), blocksOf(page, "sql")[0]!);
  const shop = join(kitchen.folder, "shop.mjs");
  writeFileSync(shop, blocksOf(page, "js")[0]!);
  expect(await survivesAKill!(pathToFileURL(shop))).toEqual([{ order_id: "o1" }]);
});
