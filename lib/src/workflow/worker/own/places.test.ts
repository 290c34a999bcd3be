// What a process takes of the tasks that there are: no more than its connections will soon be free for.
import { expect, test } from "vitest";
import { app, start } from "../../../app.ts";
import { statement } from "../../../pg/database.ts";
import { testPlatform } from "../../../testing/index.ts";
import { workflow } from "../../declaration.ts";

test("takes no more tasks while dozens wait for a connection, and all in the end", async () => {
  await using kit = await testPlatform({ handlerConnectionsMax: 1 });
  const count = async (text: string): Promise<number> =>
    (await kit.platform.database.run<{ count: number }>(statement(text)))[0]!.count;
  let begun = 0;
  let letSecondIn!: () => void;
  let openGate!: () => void;
  const second = new Promise<void>((resolve) => (letSecondIn = resolve));
  const gate = new Promise<void>((resolve) => (openGate = resolve));
  const declared = workflow("crowd", {
    definition: { StartAt: "one", States: { one: { Type: "Task", Resource: "one", End: true } } },
    tasks: {
      async one(_, { tx }) {
        if (++begun === 2) letSecondIn();
        await tx.query("select 1");
        await gate;
      },
    },
  });
  await using _running = await start(app({ declared }), { platform: kit.platform });
  const startMany = (many: number) => Promise.all(Array.from({ length: many }, () => declared.start({})));
  // One has the connection, one waits for it.
  await startMany(2);
  await second;
  await startMany(300);
  const left = () =>
    count(
      "select count(*)::int as count from tuntas.workflow_call where owner_id is null and pool is not null",
    );
  try {
    // What was taken begins an instant later.
    await expect.poll(async () => (await left()) + begun).toBe(302);
    expect(begun).toBeLessThan(100);
  } finally {
    openGate();
  }
  await expect
    .poll(() => count("select count(*)::int as count from tuntas.execution where status = 'SUCCEEDED'"))
    .toBe(302);
  expect(begun).toBe(302);
});
