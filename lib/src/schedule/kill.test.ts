import { expect, test } from "vitest";
import { z } from "zod";
import { app, start, workflow } from "../index.ts";
import { killAtEachStep } from "../engine/stepwise.fixture.ts";
import { statement } from "../pg/database.ts";
import { queue } from "../queue/declaration.ts";
import { testPlatform } from "../testing/index.ts";
import { schedule } from "./index.ts";

const work = queue("report-work", {
  message: z.unknown(),
  visibilityTimeout: "30s",
  deadLetter: { after: 3, retention: "14d", owner: "reports-team", runbook: "r" },
});
const nightly = workflow("Nightly", {
  definition: { StartAt: "Done", States: { Done: { Type: "Succeed" } } },
});

const counts = statement(
  `select (select count(*)::int from tuntas.occurrence where schedule = $1 and run = 0) as occurrences,
     (select count(*)::int from tuntas.message where body like '%"' || $1 || '"%')
       + (select count(*)::int from tuntas.execution where input like '%"' || $1 || '"%') as begun`,
);

test.each([
  ["queue", work.name],
  ["workflow", nightly.name],
])(
  "S-16: killed at every write and commit, an occurrence and its work of a %s are there once",
  async (kind, target) => {
    await using kit = await testPlatform();
    await using _running = await start(app({ work, nightly }), { platform: kit.platform });
    // The other process may fire what the one that is to die has just declared, before that one does.
    const wanted = [
      "insert into schedule",
      "insert into occurrence",
      "update occurrence",
      "update schedule",
      "commit",
    ].map((point) => `before ${point}`);
    const nameAt = (life: number) => `kill-${life}`;
    const points = await killAtEachStep({
      script: new URL("kill.fixture.mjs", import.meta.url),
      wanted,
      args: (life) => [kit.databaseUrl, kit.schema, nameAt(life), kind, target],
      async check(_, life) {
        const name = nameAt(life);
        const again = schedule(name, {
          when: "rate(1 day)",
          timeZone: "UTC",
          overlap: "skip",
          catchUp: { latest: "1d" },
          target: { kind, name: target },
          succeedsWithin: "1h",
          owner: "reports-team",
          runbook: "r",
        });
        await kit.platform.schedules.declare("test", [again]);
        await kit.platform.schedules.sweep();
        expect(await kit.platform.database.run(counts, [name])).toEqual([{ occurrences: 1, begun: 1 }]);
      },
    });
    expect(points).toEqual(expect.arrayContaining(wanted));
  },
  600_000,
);
