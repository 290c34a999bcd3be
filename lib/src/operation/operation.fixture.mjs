// A process that carries out operations until it is killed. Started with DATABASE_URL and SCHEMA.
import { makeLog, openPlatform } from "tuntas";

const { DATABASE_URL: databaseUrl, SCHEMA: schema } = process.env;
await openPlatform({ databaseUrl, schema, name: "operation", log: makeLog() });
process.send("ready");
