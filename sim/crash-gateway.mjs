// A gateway process for the crash test.
import { openPlatform } from "tuntas";
import { startGateway } from "tuntas/gateway";

const platform = await openPlatform({ databaseUrl: process.env.DATABASE_URL, name: "crash-gateway" });
await startGateway({ platform, port: Number(process.env.TUNTAS_PORT), host: "127.0.0.1" });
