import { expect, test } from "vitest";
import { openPlatform } from "../platform.ts";
import { testPlatform } from "../testing/index.ts";
import { statement } from "./database.ts";
import { checkBudget, describeBudget, judgeBudget } from "./budget.ts";

test("W-28 the product of processes and pools is compared with what the server has", () => {
  const judge = (perProcess: number, processes: number) =>
    judgeBudget({ perProcess, processes, available: 97 });
  expect([judge(25, 3), judge(25, 4), judge(98, 1)]).toEqual(["enough", "tight", "impossible"]);
  expect(describeBudget({ perProcess: 25, processes: 4, available: 97 })).toBe(
    "4 processes × 25 connections = 100, of 97 that the server has for us",
  );
});

test("W-28 a process that could never fill its pools is refused at its start, with both numbers", async () => {
  await using kit = await testPlatform();
  const opening = openPlatform({
    databaseUrl: kit.databaseUrl,
    schema: kit.schema,
    handlerConnectionsMax: 5000,
  });
  await expect(opening).rejects.toMatchObject({
    code: "TUNTAS_CONNECTIONS_EXCEEDED",
    message: expect.stringMatching(/5009 connections = \d+, of \d+ that the server has/),
  });
});

test("W-28 where processes together ask for more than there is, the answer is a warning with both numbers", async () => {
  await using kit = await testPlatform();
  const [{ max }] = (await kit.platform.database.run(
    statement("select current_setting('max_connections')::int as max"),
  )) as [{ max: number }];
  // Enough for one, and not for two.
  const greedy = await kit.another({ handlerConnectionsMax: Math.ceil(max * 0.6) });
  const each = Math.ceil(max * 0.6) + 9;
  expect(await checkBudget(greedy.database)).toMatch(
    new RegExp(`3 processes × ${each} connections = ${3 * each}, of \\d+`),
  );
});
