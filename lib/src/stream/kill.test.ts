import { expect, test } from "vitest";
import { killAtEachStep } from "../engine/stepwise.fixture.ts";
import { ask } from "../queue/worker/worker.fixture.ts";
import { testPlatform } from "../testing/index.ts";
import { declare, effects, insertInto, makeTable, run, upTo, type Event } from "./stream.fixture.ts";

const wanted = [
  "before update stream_checkpoint",
  "before insert into effect",
  "before insert into handed",
  "before commit",
];

test("Y-04 Y-13: killed at every write and commit of a consumer, those of its handler's that are handed over too, no record is skipped and none has two effects", async () => {
  await using kit = await testPlatform();
  await makeTable(kit);
  await ask(kit.platform, "create view tuntas.handed as select * from tuntas.effect");

  /** A stream with four records, of which the first is a bad one. */
  async function fill(): Promise<string> {
    const of = declare({ partitions: 1 });
    await using _app = await run(kit, of);
    await Promise.all(upTo(4).map((n) => of.append({ n }, { key: "k" })));
    return of.name;
  }

  /** Reads on where the dead one was; then each record is past once. */
  async function readOn(name: string): Promise<void> {
    const of = declare({ partitions: 1 }, name);
    await using _running = await run(kit, of, {
      retry: { attempts: 1 },
      async handle(record: Event, context) {
        if (record.value.n === 0) throw new Error("it does not fit");
        await insertInto(kit)(record, context);
      },
    });
    const lag = async () => (await kit.platform.streams.find(of.name)).consumers[0]!.lag;
    await expect.poll(lag, { interval: 20 }).toBe(0);
    expect((await effects(kit, of)).map(({ n }) => n)).toEqual([1, 2, 3]);
    expect(await kit.platform.streams.parked(of.name)).toMatchObject([{ offset: 0, attempts: 1 }]);
  }

  let name = await fill();
  const points = await killAtEachStep({
    script: new URL("kill.fixture.mjs", import.meta.url),
    args: () => [kit.databaseUrl, kit.schema, name],
    async check() {
      await readOn(name);
      name = await fill();
    },
    wanted,
  });
  expect(points).toEqual(expect.arrayContaining(wanted));
}, 240_000);
