import { randomUUID } from "node:crypto";
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
    const points = new Set<string>();
    const wanted = [
      "insert into schedule",
      "insert into occurrence",
      "update occurrence",
      "update schedule",
      "commit",
    ];
    const isWhole = () => wanted.every((point) => points.has(`before ${point}`));
    // The other process may fire what the one that is to die has just declared, which ends a round early.
    for (let round = 0; round < 20 && !isWhole(); round++) {
      const nonce = randomUUID().slice(0, 8);
      const nameAt = (step: number) => `kill-${nonce}-${step}`;
      const found = await killAtEachStep({
        script: new URL("kill.fixture.mjs", import.meta.url),
        args: (step) => [kit.databaseUrl, kit.schema, nameAt(step), kind, target],
        async check(_, step) {
          const name = nameAt(step);
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
      for (const point of found) points.add(point);
    }
    expect([...points]).toEqual(expect.arrayContaining(wanted.map((point) => `before ${point}`)));
  },
  600_000,
);
