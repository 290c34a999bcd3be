import { afterAll, beforeAll, expect, test } from "vitest";
import { testPlatform, type TestPlatform } from "../testing/index.ts";
import type { Sample } from "./contract.ts";
import { forgetOld } from "./store.ts";

let kit: TestPlatform;
beforeAll(async () => {
  // Nobody samples beside it: a figure that no room knows is gone for a sampler, and 0 from then on.
  kit = await testPlatform({ watches: false });
});
afterAll(() => kit[Symbol.asyncDispose]());

const gauge = (value: number, queue: string): Sample => ({
  name: "depth",
  labels: { queue },
  kind: "gauge",
  value,
});
const counter = (value: number, queue: string): Sample => ({
  name: "sent",
  labels: { state: "x", queue },
  kind: "counter",
  value,
});

async function lastMinutes(name: string, queue: string, minutes: number, stepMs = 60_000) {
  const toMs = (await kit.platform.series.nowMs()) + 1;
  return kit.platform.series.read({ name, labels: { queue }, fromMs: toMs - minutes * 60_000, toMs, stepMs });
}

test("a gauge holds until it changes; a counter adds up", async () => {
  const { series } = kit.platform;
  await series.add([gauge(3, "a"), counter(2, "a")]);
  await series.add([gauge(5, "a"), counter(4, "a")]);
  await kit.advance(180_000);
  const [depth] = await lastMinutes("depth", "a", 5);
  expect(depth).toMatchObject({ kind: "gauge", labels: { queue: "a" } });
  expect(depth!.points[0]).toMatchObject({ samples: 2, min: 3, max: 5, last: 5, sum: 8 });
  expect(depth!.points.slice(1).map(({ last, samples }) => [last, samples])).toEqual([
    [5, 0],
    [5, 0],
    [5, 0],
  ]);
  const [sent] = await lastMinutes("sent", "a", 5);
  expect(sent!.points).toEqual([expect.objectContaining({ sum: 6, samples: 2 })]);
});

test("what was long ago is still known by the coarse buckets after the fine ones are forgotten", async () => {
  const { series, database } = kit.platform;
  await series.add([gauge(7, "b")]);
  await kit.advance(2 * 3600_000);
  await forgetOld(database);
  const [fine] = await lastMinutes("depth", "b", 10, 10_000);
  expect(fine!.points.length).toBeGreaterThan(55);
  expect(new Set(fine!.points.map(({ last }) => last))).toEqual(new Set([7]));
  const [coarse] = await lastMinutes("depth", "b", 26 * 60, 10_000);
  expect(coarse!.points.filter(({ samples }) => samples > 0)).toHaveLength(1);
  const { rows } = await database.transaction((tx) =>
    tx.client.query(
      `select count(*)::int as count from ${kit.schema}.series_point where width_seconds = 10 and at < ${kit.schema}.now() - interval '90 minutes'`,
    ),
  );
  expect(rows[0].count).toBe(0);
});

test("many add to one bucket at once and nothing is lost", async () => {
  const other = await kit.another();
  const each = [kit.platform, other].flatMap(({ series }) =>
    Array.from({ length: 20 }, () => series.add([counter(1, "c"), counter(1, "d")])),
  );
  await Promise.all(each);
  for (const queue of ["c", "d"]) {
    const [sent] = await lastMinutes("sent", queue, 5);
    expect(sent!.points.reduce((sum, point) => sum + point.sum, 0)).toBe(40);
  }
});

test("marks stand on the same axis; a deployment is one only where something else runs", async () => {
  const { series } = kit.platform;
  await series.deployed("orders", "v1");
  await series.deployed("orders", "v1");
  await series.deployed("orders", "v2");
  await series.mark({ kind: "configuration", subject: "order-work", text: "visibility 60 s", actor: "ada" });
  const nowMs = await series.nowMs();
  const all = await series.marks({ fromMs: nowMs - 60_000, toMs: nowMs + 60_000 });
  const marks = all.filter(({ kind }) => kind !== "gap");
  expect(marks.map(({ kind, text }) => [kind, text])).toEqual([
    ["deployment", "v1"],
    ["deployment", "v2"],
    ["configuration", "visibility 60 s"],
  ]);
});

test("a range that cannot be answered is refused", async () => {
  const read = (fromMs: number, toMs: number, stepMs: number) =>
    kit.platform.series.read({ name: "depth", fromMs, toMs, stepMs });
  await expect(read(5, 5, 10_000)).rejects.toMatchObject({ code: "TUNTAS_SERIES_QUERY" });
  await expect(read(0, Date.now(), 10_000)).rejects.toMatchObject({ code: "TUNTAS_SERIES_QUERY" });
});
