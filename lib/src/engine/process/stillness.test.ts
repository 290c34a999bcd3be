import { expect, test } from "vitest";
import { testPlatform } from "../../testing/index.ts";
import { agendaColumns, givenNow } from "../agenda.ts";
import { makeStillness } from "./stillness.ts";

test("what anybody writes ends the stillness; heartbeats, figures and chores do not", async () => {
  await using kit = await testPlatform({ watches: false });
  const client = await kit.platform.database.dedicatedClient();
  const ask = async (): Promise<string> => {
    const text = `select 1 ${agendaColumns([stillness.agendum], 0)}`.replaceAll("tuntas.", `${kit.schema}.`);
    return (await client.query({ text, values: [true] })).rows[0].answer0 as string;
  };
  const write = (table: string, text: string) => client.query(text.replace(table, `${kit.schema}.${table}`));
  const stillness = makeStillness();

  const before = await ask();
  await write("chore", "update chore set due = due");
  await write("process", "update process set name = name");
  await client.query("select pg_stat_force_next_flush()");
  expect(await ask()).toBe(before);
  await write("command", "insert into command values ('s', 'k', 'h', null, now(), now())");
  await client.query("select pg_stat_force_next_flush()");
  expect(await ask()).not.toBe(before);
  await client.end();
});

test("a look every ten seconds tells whether there was a change; after a minute and a half without one it is still", () => {
  let nowMs = 0;
  const stillness = makeStillness(() => nowMs);
  const looks: boolean[] = [];
  stillness.onLook((changed) => looks.push(changed));
  const wanted = () => givenNow([stillness.agendum])[0];
  const look = (answer: string) => {
    nowMs += 9000;
    expect(wanted()).toBe(true);
    stillness.agendum.hear(answer);
  };

  look("1");
  stillness.agendum.hear(null);
  expect(wanted()).toBe(false);
  for (let n = 0; n < 9; n++) look("1");
  expect(stillness.isStill()).toBe(false);
  look("1");
  expect(stillness.isStill()).toBe(true);
  look("2");
  expect(stillness.isStill()).toBe(false);
  expect(looks).toEqual([true, ...Array<boolean>(10).fill(false), true]);
});
