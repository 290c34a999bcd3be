// A controller in a process of its own, to be killed. Started with DATABASE_URL, SCHEMA, HOST_NAME and OUTPUTS.
import { openPlatform } from "tuntas";
import { runServices } from "tuntas/service";

const { DATABASE_URL: databaseUrl, SCHEMA: schema, HOST_NAME: host, OUTPUTS: outputs } = process.env;
const platform = await openPlatform({ databaseUrl, schema, name: "controller", watches: false });
runServices(platform, { host, outputs });
process.send("ready");
