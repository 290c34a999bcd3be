// One command with a change and an announcement of it, on a plain `pg` client. Arguments: step, url, schema, key.
import pg from "pg";
import { stepping } from "../../engine/stepwise.fixture.mjs";
import { once } from "../../../dist/ledger/command/once.js";
import { add } from "../../../dist/outbox/client.js";
import { inSchema } from "../../../dist/pg/join.js";

const [step, url, schema, key] = process.argv.slice(2);
const { at } = stepping(step);
const client = new pg.Client(url);
await client.connect();
const raw = {
  async query(text, values) {
    at(`before ${text.trim().slice(0, 30)}`);
    const came = await client.query(text, values);
    at(`after ${text.trim().slice(0, 30)}`);
    return came;
  },
};
const tx = inSchema(raw, schema);
await raw.query("begin");
await once(tx, { scope: "kill", key, request: { n: 1 } }, async () => {
  await raw.query(`insert into ${schema}.changed (key) values ($1)`, [key]);
  await add(tx, { target: { kind: "function", name: "told" }, key, payload: key }, { wake: false });
  return { key };
});
await raw.query("commit");
await client.end();
