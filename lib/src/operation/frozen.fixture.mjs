// A process that begins an operation and is frozen in the middle of it: it tells when it has begun, and goes on when it is told to,
// as if nothing had been. Started with DATABASE_URL, SCHEMA and KIND.
import { openPlatform } from "../../dist/index.js";

const { DATABASE_URL: databaseUrl, SCHEMA: schema, KIND: name } = process.env;
const platform = await openPlatform({ databaseUrl, schema, name: "frozen" });
platform.operations.register({
  name,
  survey: async (selection) => ({ selection, count: 1, forbidden: [], sample: [] }),
  page: async () => ({ items: [], end: true }),
  async perform(hold) {
    process.send({ began: hold.id });
    await new Promise((go) => process.once("message", go));
    const ended = await platform.database
      .transaction(async (tx) => {
        await tx.client.query(`insert into ${schema}.effect (who) values ('frozen')`);
        const result = { item: "1", outcome: "done" };
        if (!(await hold.end(tx, { state: "completed", failure: null, result })))
          throw new Error("held no more");
        return true;
      })
      .catch(() => false);
    process.send({ ended });
  },
});
await platform.operations.start({ kind: name, selection: {}, actor: "ada", reason: "it is due" });
