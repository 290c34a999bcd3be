// Runs an application from its file, with the gateway beside it: what `tuntas dev` restarts at each change.
import { extname } from "node:path";
import { pathToFileURL } from "node:url";
import { isTuntasError, makeLog, runUntilSignal, start, type AppDefinition, type RunningApp } from "tuntas";
import { consolePages } from "tuntas/console";
import { startGateway, type Gateway } from "tuntas/gateway";
import type { Answer } from "../command.ts";
import { cliErrors } from "../errors.ts";
import { facts } from "../render.ts";
import { databaseOfEnvironment } from "../session.ts";

export interface ApplicationOptions {
  readonly file: string;
  readonly port: number;
  readonly host: string;
}

/** What runs may take to finish before a restart: the wait for it is a person's. */
const restartDrain = "300ms";

/** What the file exports. Errors: TUNTAS_APP_FAILED, TUNTAS_TYPESCRIPT_UNSUPPORTED, the application's own. */
export async function loadModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  return import(pathToFileURL(file).href).catch((cause: unknown) => {
    if (isTuntasError(cause)) throw cause;
    throw explainLoad(file, cause);
  });
}

/** The application that the file exports. Errors: TUNTAS_APP_MISSING, and those of `loadModule`. */
async function load(file: string): Promise<AppDefinition> {
  const module = (await loadModule(file)) as { default?: AppDefinition };
  if (module.default?.kind === "app") return module.default;
  throw cliErrors.error(
    "TUNTAS_APP_MISSING",
    `${file} exports ${typeof module.default} as its default, expected an application`,
  );
}

function explainLoad(file: string, cause: unknown): Error {
  const { code, stack, message } = cause as NodeJS.ErrnoException;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /^\.[cm]?tsx?$/.test(extname(file))) {
    return cliErrors.error(
      "TUNTAS_TYPESCRIPT_UNSUPPORTED",
      `Node ${process.versions.node} cannot run ${file}`,
      { cause },
    );
  }
  // The first line of a syntax error's stack is its file and line.
  const place = cause instanceof SyntaxError ? `${stack?.split("\n")[0]}: ` : "";
  return cliErrors.error(
    "TUNTAS_APP_FAILED",
    `${file} could not be loaded: ${place}${message ?? String(cause)}`,
    { cause },
  );
}

async function openGateway(running: RunningApp, { port, host }: ApplicationOptions): Promise<Gateway> {
  const { platform } = running;
  return startGateway({ platform, port, host, pages: consolePages({ platform }) }).catch(
    async (cause: unknown) => {
      await running.stop();
      throw cause;
    },
  );
}

/** Starts it; the process then runs until a signal or, as a child of `tuntas dev`, until that is gone. */
export async function runApplication(options: ApplicationOptions): Promise<Answer> {
  const definition = await load(options.file);
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
