// One caller of a provider that knows no idempotency keys: each call counts. Arguments: step, url, schema, key.
import pg from "pg";
import { stepping } from "../../engine/stepwise.fixture.mjs";
import { effect } from "../../../dist/ledger/effect/effect.js";
import { provider } from "../../../dist/ledger/effect/provider.js";

const [step, url, schema, key] = process.argv.slice(2);
const { at, open } = stepping(step);
const database = await open(url, schema);
const outside = new pg.Client(url);
await outside.connect();

const bank = provider({ name: "bank", timeout: "5s", reconcile: { charge: "manual" } });
await effect({ database }, { provider: bank, operation: "charge", key, request: { amount: 5 } }, async () => {
  at("before the call");
  await outside.query(`insert into ${schema}.charge (key) values ($1)`, [key]);
  at("after the call");
  return { receipt: `r-${key}` };
});
await outside.end();
await database.close();
