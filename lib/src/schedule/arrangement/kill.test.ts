import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { killAtEachStep } from "../../engine/stepwise.fixture.ts";
import { statement } from "../../pg/database.ts";
import { defaultScope } from "../../queue/contract.ts";
import { testPlatform } from "../../testing/index.ts";
import { nameOf } from "../place.ts";
import { arranged } from "./arranged.fixture.ts";

const letters = statement("select count(*)::int as count from tuntas.message where body = $1");

test("killed at every write and commit, a request that is sent again is one schedule, and work that cannot be begun one dead letter", async () => {
  await using kit = await testPlatform();
  const { schedules, queues, database } = kit.platform;
  await queues.catalog.create(defaultScope, "dead", {});
  const arrangementAt = (nonce: string, step: number) =>
    arranged("nowhere", {
      place: { ...defaultScope, group: "default", name: `${nonce}-${step}` },
      expression: "rate(1 day)",
      input: `${nonce}-${step}`,
      retriesMax: 0,
      deadLetter: "dead",
    });
  const points = new Set<string>();
  const wanted = [
    "insert into command",
    "insert into schedule",
    "insert into occurrence",
    "update occurrence",
    "update schedule",
    "commit",
  ].map((point) => `before ${point}`);
  // The other process may fire what the one that is to die has just arranged, which ends a round early.
  for (let round = 0; round < 20 && !wanted.every((point) => points.has(point)); round++) {
    const nonce = randomUUID().slice(0, 8);
    const found = await killAtEachStep({
      script: new URL("kill.fixture.mjs", import.meta.url),
      args: (step) => [kit.databaseUrl, kit.schema, JSON.stringify(arrangementAt(nonce, step)), nonce + step],
      async check(_, step) {
        const of = arrangementAt(nonce, step);
        // The dead one's transaction may not have ended yet, which a client is told and asks again.
        const again = () => schedules.arrangements.create(of, { by: "aws", token: nonce + step });
        expect(await vi.waitFor(again, { timeout: 20_000, interval: 50 })).toBe("created");
        await schedules.sweep();
        const occurrences = await schedules.occurrences(nameOf(of.place));
        expect(occurrences.map(({ state }) => state)).toEqual(["failed"]);
        expect(await database.run(letters, [of.input])).toEqual([{ count: 1 }]);
      },
    });
    for (const point of found) points.add(point);
  }
  expect([...points]).toEqual(expect.arrayContaining(wanted));
}, 600_000);
