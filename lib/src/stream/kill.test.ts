import { expect, test } from "vitest";
import { killAtEachStep } from "../engine/stepwise.fixture.ts";
import { testPlatform } from "../testing/index.ts";
import {
  declare,
  effects,
  freshName,
  insertInto,
  makeTable,
  run,
  upTo,
  type Event,
} from "./stream.fixture.ts";

const wanted = [
  "before update stream_checkpoint",
  "before insert into effect",
  "before insert into stream_parked",
  "before commit",
];

test("Y-04 Y-13: killed at every write and commit of a consumer, no record is skipped and none has two effects", async () => {
  await using kit = await testPlatform();
  await makeTable(kit);
  const nonce = freshName();
  const nameAt = (step: number) => `${nonce}-${step}`;
  const fill = async (step: number) => {
    const of = declare({ partitions: 1 }, nameAt(step));
    await using _app = await run(kit, of);
    await Promise.all(upTo(3).map((n) => of.append({ n }, { key: "k" })));
  };
  await fill(0);
  const points = await killAtEachStep({
    script: new URL("kill.fixture.mjs", import.meta.url),
    args: (step) => [kit.databaseUrl, kit.schema, nameAt(step)],
    async check(_, step) {
      const of = declare({ partitions: 1 }, nameAt(step));
      await using _running = await run(kit, of, {
        retry: { attempts: 1 },
        async handle(record: Event, context) {
          if (record.value.n === 0) throw new Error("it does not fit");
          await insertInto(kit)(record, context);
        },
      });
      const lag = async () => (await kit.platform.streams.find(of.name)).consumers[0]!.lag;
      await expect.poll(lag, { interval: 20 }).toBe(0);
      expect((await effects(kit, of)).map(({ n }) => n)).toEqual([1, 2]);
      expect(await kit.platform.streams.parked(of.name)).toMatchObject([{ offset: 0, attempts: 1 }]);
      await fill(step + 1);
    },
  });
  expect([...new Set(points)].toSorted()).toEqual(expect.arrayContaining(wanted.toSorted()));
}, 240_000);
