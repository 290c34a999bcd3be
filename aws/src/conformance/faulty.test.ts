import { expect, test } from "vitest";
import { sqs } from "../index.ts";
import { ask } from "./ask.fixture.ts";
import { openFaultyWay } from "./faulty.fixture.ts";
import { leaseSeconds, openSqs } from "./sqs.fixture.ts";
import { effects, insert, work } from "./work.fixture.ts";

test("requests throttled, lost with or without their effect, batches that fail in part: one effect each, and nothing is left", {
  timeout: 240_000,
}, async () => {
  const warnings: string[] = [];
  const warned = ({ name, message }: Error) => name === "MaxListenersExceededWarning" && warnings.push(message);
  process.on("warning", warned);
  await using place = await openSqs();
  await ask(place.kit, "create table tuntas.effect (id text not null, who text)");
  await using way = await openFaultyWay(place.url);
  const queues = sqs({ create: true, lease: `${leaseSeconds}s`, endpoint: way.url });
  // A receive whose answer was lost counts.
  await using it = await work({ ...place, options: { queues } }, { handle: insert(place) }, { after: 100 });
  const ids = Array.from({ length: 120 }, (_, index) => `m${String(index).padStart(3, "0")}`);
  for (let at = 0; at < ids.length; at += 8)
    await Promise.all(ids.slice(at, at + 8).map((id) => it.queue.send({ id })));
  const { name } = it.queue;
  await expect
    .poll(async () => (await place.depth(name)).waiting, { timeout: 180_000, interval: 200 })
    .toBe(0);
  expect(await effects(place)).toEqual(ids);
  expect((await place.depth(name)).dead).toEqual([]);
  for (const fault of ["throttled", "lost before", "lost after", "one entry"] as const)
    expect(way.struck.get(fault), fault).toBeGreaterThan(1);
  way.heal();
  process.off("warning", warned);
  expect(warnings).toEqual([]);
});
