// Nights that nobody was there for, by the database's clock, which the test moves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase, testPlatform } from "tuntas/testing";
import { nightlyReport } from "./nightly-report.ts";

const main = new URL("./nightly-report.main.js", import.meta.url);
const dayMs = 86_400_000;

test("a night with nobody there is made up for: each has its report, of its own sales", async () => {
  await using database = await testDatabase();
  const first = database.run(main);
  await first.line("service.ready");
  await using clock = await testPlatform({ databaseUrl: database.url, schema: "tuntas", keep: true });
  const [next] = await clock.platform.schedules.next(nightlyReport.name, 1);
  const night = (n: number) => new Date(next!.dueMs + n * dayMs);
  // A sale at two sharp is of the day that begins then.
  await database.query("insert into nightly_report.sale values ($1, 500), ($2, 700)", [
    night(-0.5),
    night(0),
  ]);
  await first.kill();
  await clock.advance(next!.dueMs - Date.now() + dayMs + 60_000); // two nights later

  const second = database.run(main);
  const begun = (n: number) =>
    second.line(
      ({ event, end }) => event === "report.begun" && Date.parse(end as string) === night(n).getTime(),
    );
  await begun(0);
  await begun(1); // only after the first one has ended
  second.child.kill("SIGTERM"); // it finishes what it has begun
  await second.ended;
  assert.deepEqual(await database.query("select sales, cents from nightly_report.report order by day"), [
    { sales: 1, cents: 500 },
    { sales: 1, cents: 700 },
  ]);
});
