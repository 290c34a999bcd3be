import { expect, test } from "vitest";
import { testPlatform } from "../testing/index.ts";
import { agendaColumns, givenNow } from "./agenda.ts";
import { makeChore } from "./chore.ts";

test("a chore is done once a minute by one of all, and after ten while nothing changes", async () => {
  await using kit = await testPlatform({ watches: false });
  const { database } = kit.platform;
  let isStill = false;
  let [done, failed] = [0, 0];
  const options = {
    database,
    name: "dishes",
    isStill: () => isStill,
    work: [async () => void done++],
    onError: () => void failed++,
  };
  const chores = [makeChore(options), makeChore(options)];
  await chores[0]!.register();
  const client = await database.dedicatedClient();
  /** What a beat of each process would do. */
  const beat = async (): Promise<void> => {
    for (const { agendum } of chores) {
      const text = `select 1 ${agendaColumns([agendum], 0)}`.replaceAll("tuntas.", `${kit.schema}.`);
      agendum.hear((await client.query({ text, values: givenNow([agendum]) })).rows[0].answer0);
    }
  };
  const doneAfter = async (ms: number, expected: number): Promise<void> => {
    await kit.advance(ms);
    await beat();
    await expect.poll(() => done).toBe(expected);
  };

  await doneAfter(0, 1);
  await doneAfter(61_000, 2);
  isStill = true;
  await doneAfter(61_000, 2);
  await doneAfter(540_000, 3);
  isStill = false;
  await doneAfter(61_000, 4);
  expect(failed).toBe(0);
  await Promise.all(chores.map((each) => each.close()));
  await client.end();
});
