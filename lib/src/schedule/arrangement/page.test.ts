// Pages of a list, at ten thousand schedules: each costs what it shows, wherever in the list it is.
import { expect, test } from "vitest";
import { statement } from "../../pg/database.ts";
import { planOf } from "../../pg/plan.fixture.ts";
import { defaultScope } from "../../queue/contract.ts";
import { testPlatform } from "../../testing/index.ts";
import { arranged } from "./arranged.fixture.ts";
import { listArranged, listGroups, type ListFilter } from "./store.ts";

test("a page of a list is read from where the one before ended, without the others and without sorting them", async () => {
  await using kit = await testPlatform();
  const { database, schedules } = kit.platform;
  const { arrangements } = schedules;
  const asker = { by: "aws", token: undefined };
  await arrangements.create(
    arranged("none", { place: { ...defaultScope, group: "default", name: "first" }, enabled: false }),
    asker,
  );
  const columns = `expression, time_zone, target_kind, target_name, input, overlap, catch_up, catch_up_within, retention, anchor,
    covered_until, paused_at`;
  await database.run(
    statement(`insert into tuntas.schedule (name, group_name, ${columns})
      select '000000000000/us-east-1/g' || n % 10 || '/n' || lpad(n::text, 5, '0'), 'g' || n % 10, ${columns}
      from tuntas.schedule, generate_series(0, 9999) n`),
  );
  const namesOf = async (filter: ListFilter) =>
    (await arrangements.list(defaultScope, filter)).map(({ place }) => `${place.group}/${place.name}`);
  expect(await namesOf({ limit: 3 })).toEqual(["default/first", "g0/n00000", "g0/n00010"]);
  expect(await namesOf({ limit: 2, after: ["g0", "n09990"] })).toEqual(["g1/n00001", "g1/n00011"]);
  expect(await namesOf({ limit: 2, group: "g7", prefix: "n091" })).toEqual(["g7/n09107", "g7/n09117"]);
  expect(await namesOf({ limit: 9, group: "g7", prefix: "n091", after: ["g7", "n09187"] })).toEqual([
    "g7/n09197",
  ]);
  expect(await namesOf({ limit: 2, prefix: "n0500" })).toEqual(["g0/n05000", "g1/n05001"]);
  expect(await namesOf({ limit: 9, group: "g9", after: ["g9", "n09989"] })).toEqual(["g9/n09999"]);

  for (const filter of [
    { limit: 10, after: ["g8", "n05008"] as const },
    { limit: 10, group: "g8", after: ["g8", "n05008"] as const },
    { limit: 10, group: "g8", prefix: "n050" },
  ]) {
    const plan = await planOf(
      database,
      (sql) => listArranged(sql, defaultScope, filter),
      "analyze, costs off, timing off, summary off",
    );
    expect(plan).toContain("schedule_place");
    expect(plan).not.toMatch(/Sort|Seq Scan|Rows Removed/);
  }
  const ofGroups = await planOf(database, (sql) => listGroups(sql, defaultScope, { after: "g", limit: 10 }));
  expect(ofGroups).not.toMatch(/Sort|Seq Scan/);
});
