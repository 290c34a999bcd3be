// A controller in a process of its own, to be killed, or to be an instance itself. Started with DATABASE_URL, SCHEMA,
// HOST_NAME and OUTPUTS.
import { makeLog, openPlatform, runUntilSignal } from "tuntas";
import { runServices } from "tuntas/service";

const { DATABASE_URL: databaseUrl, SCHEMA: schema, HOST_NAME: host, OUTPUTS: outputs } = process.env;
const platform = await openPlatform({ databaseUrl, schema, name: "controller", watches: false });
const controller = runServices(platform, { host, outputs });
const stop = async () => {
  await controller.close();
  await platform.close();
};
runUntilSignal(stop, { log: makeLog() });
process.send?.("ready");
