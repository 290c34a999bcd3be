// A gateway process for the chaos.
import { openPlatform } from "tuntas";
import { startGateway } from "tuntas/gateway";

const platform = await openPlatform({ databaseUrl: process.env.DATABASE_URL, name: "chaos-gateway" });
await startGateway({ platform, port: Number(process.env.TUNTAS_PORT), host: "127.0.0.1" });
