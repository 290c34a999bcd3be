// A process whose relay publishes to a table. Arguments: url, schema. Says "ready", then works until it is killed.
import pg from "pg";
import { openPlatform } from "../../../dist/platform.js";

const [url, schema] = process.argv.slice(2);
const platform = await openPlatform({ databaseUrl: url, schema, name: "relay" });
const outside = new pg.Pool({ connectionString: url, max: 4 });
platform.targets.bind(
  { kind: "function", name: "table" },
  {
    async deliver({ key, payload }) {
      await outside.query(`insert into ${schema}.got (key, n) values ($1, $2)`, [key, payload]);
    },
  },
);
process.stdout.write("ready\n");
