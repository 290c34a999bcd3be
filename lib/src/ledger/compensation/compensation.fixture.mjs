// Registers three steps and undoes them, killed at the step that it was told. Arguments: step, url, schema, work.
import pg from "pg";
import { stepping, watchWrites } from "../../engine/stepwise.fixture.mjs";
import { compensate, compensation, registerCompensation } from "../../../dist/ledger/index.js";
import { openDatabase } from "../../../dist/pg/database.js";

const [step, url, schema, work] = process.argv.slice(2);
const database = await openDatabase({ url, schema, connectionsMax: 3 });
watchWrites(pg.Client, stepping(step).at, ["compensation", "undone"]);

const release = compensation({
  name: "release",
  undo: (input, { tx }) =>
    tx.query(`insert into ${schema}.undone (work, step) values ($1, $2)`, [input.work, input.step]),
});
await database.transaction(async (tx) => {
  for (const name of ["a", "b", "c"])
    await registerCompensation(tx, release, { work, key: name, input: { work, step: name } });
});
await compensate(database, work, [release]);
await database.close();
