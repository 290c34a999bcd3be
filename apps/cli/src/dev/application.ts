// Runs an application from its file, with the gateway beside it: what `tuntas dev` restarts at each change.
import { makeLog, runUntilSignal, start, type RunningApp } from "tuntas";
import { consolePages } from "tuntas/console";
import { startGateway, type Gateway } from "tuntas/gateway";
import type { Answer } from "../command.ts";
import { facts } from "../render.ts";
import { databaseOfEnvironment } from "../session.ts";
import { loadApplication } from "./load.ts";
import { tellNews } from "./news.ts";

export interface ApplicationOptions {
  readonly file: string;
  readonly port: number;
  readonly host: string;
  /** What people may try from the console; name to address. */
  readonly apis: Readonly<Record<string, string>>;
}

/** What runs may take to finish before a restart: the wait for it is a person's. */
const restartDrain = "300ms";

async function openGateway(running: RunningApp, { port, host, apis }: ApplicationOptions): Promise<Gateway> {
  const { platform } = running;
  return startGateway({
    platform,
    port,
    host,
    pages: consolePages({ platform, host, apis: () => apis }),
  }).catch(async (cause: unknown) => {
    await running.stop();
    throw cause;
  });
}

/** Starts it; the process then runs until a signal or, as a child of `tuntas dev`, until that is gone. */
export async function runApplication(options: ApplicationOptions): Promise<Answer> {
  const definition = await loadApplication(options.file);
  const log = makeLog({}, "stderr");
  const running = await start(definition, {
    ...databaseOfEnvironment(),
    name: "tuntas dev",
    log,
    drain: restartDrain,
  });
  const gateway = await openGateway(running, options);
  const stop = async () => {
    await gateway.close();
    await running.stop();
  };
  runUntilSignal(stop, { log });
  tellNews((line) => process.stderr.write(`${line}\n`));
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  const url = `http://${options.host}:${gateway.port}`;
  return {
    document: {
      status: "running",
      url,
      port: gateway.port,
      pid: process.pid,
      parts: Object.keys(definition.parts),
    },
    text: facts({
      application: options.file,
      parts: Object.keys(definition.parts).join(", "),
      console: `${url}/console/`,
      gateway: url,
    }),
  };
}
