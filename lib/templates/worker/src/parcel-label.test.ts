// kill -9 in the middle of a message, by real processes on a real PostgreSQL.
import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "tuntas";
import { testDatabase } from "tuntas/testing";
import work, { parcelLabel } from "./parcel-label.ts";

const main = new URL("./parcel-label.main.js", import.meta.url);

test("a worker that is killed while it makes a label leaves one label", async () => {
  await using database = await testDatabase();
  await using _sender = await start(work, { databaseUrl: database.url, workers: false });
  const first = database.run(main);
  await first.line("service.ready");
  const holder = await database.connect();
  await holder.query("begin; lock table parcel_label.label in share mode"); // so that the handler waits
  await parcelLabel.send({ parcelId: "p1", country: "ID" });
  await parcelLabel.send({ parcelId: "p1", country: "ID" }); // the sender was not sure, and sent it again
  await first.line("label.begun");
  await first.kill();
  await holder.end();

  const second = database.run(main);
  await second.line("label.begun");
  second.child.kill("SIGTERM"); // it finishes what it has begun
  assert.deepEqual(await second.ended, { status: 0, signal: null });
  const labels = await database.query("select parcel_id, country from parcel_label.label");
  assert.deepEqual(labels, [{ parcel_id: "p1", country: "ID" }]);
});
