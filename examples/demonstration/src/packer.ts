// A process that packs parcels. It ends with whoever started it.
import { makeLog, openPlatform, runMain, runUntilSignal, start } from "tuntas";
import { packerApp } from "./shop.ts";

const { DATABASE_URL: databaseUrl, TUNTAS_DATA_DIR: dataDir, TUNTAS_PACKER: name = "packer" } = process.env;

runMain(async () => {
  const log = makeLog({ service: name }, "stderr");
  const where = { ...(databaseUrl && { databaseUrl }), ...(dataDir && { dataDir }) };
  const platform = await openPlatform({ ...where, name, watches: false, log });
  const running = await start(packerApp, { platform, drain: "500ms" });
  runUntilSignal(
    async () => {
      await running.stop();
      await platform.close();
    },
    { log },
  );
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  if (!process.connected) process.kill(process.pid, "SIGTERM");
  process.send?.({ ready: platform.processId });
});
