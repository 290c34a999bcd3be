// A process that watches: args are database URL and schema. Prints its process id when it is on duty.
import { openPlatform } from "../../dist/index.js";

const [databaseUrl, schema] = process.argv.slice(2);
const platform = await openPlatform({ databaseUrl, schema });
process.stdout.write(`${platform.processId()}\n`);
process.on("SIGTERM", () => void platform.close().then(() => process.exit(0)));
setInterval(() => undefined, 60_000);
