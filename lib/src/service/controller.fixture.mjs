// A controller in a process of its own, to be killed, or to be an instance itself. Started with DATABASE_URL, SCHEMA,
// HOST_NAME and OUTPUTS.
import { makeLog, openPlatform, runUntilSignal } from "tuntas";
import { runServices } from "tuntas/service";

const { DATABASE_URL: databaseUrl, SCHEMA: schema, HOST_NAME: host, OUTPUTS: outputs } = process.env;
const opening = openPlatform({ databaseUrl, schema, name: "controller", watches: false });
const running = opening.then((platform) => runServices(platform, { host, outputs }));
const stop = async () => {
  await (await running).close();
  await (await opening).close();
};
// Before it has opened: its heartbeat says that it is there as soon as the database knows it, and may be answered by a stop.
runUntilSignal(stop, { log: makeLog() });
await running;
process.send?.("ready");
