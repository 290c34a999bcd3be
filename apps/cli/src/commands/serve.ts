import { makeLog, openPlatform, runUntilSignal } from "tuntas";
import type { Call, Command, OptionSpec } from "../command.ts";
import { facts } from "../render.ts";
import { databaseOfEnvironment } from "../session.ts";
import { readVersion } from "./version.ts";

const portDefault = 4566;

export const portOptions: Readonly<Record<string, OptionSpec>> = {
  port: {
    value: "PORT",
    meaning: `where the gateway listens; TUNTAS_PORT, else ${portDefault}; 0 takes a free one`,
  },
  host: {
    value: "ADDRESS",
    meaning: "TUNTAS_HOST, else 127.0.0.1; elsewhere a user or a key must be there first",
  },
};

/** --port, else TUNTAS_PORT, else 4566. Errors: TUNTAS_CLI_USAGE. */
export function portOf(call: Call): number {
  const value = call.text("port") ?? process.env.TUNTAS_PORT ?? "";
  if (value === "") return portDefault;
  if (/^\d{1,5}$/.test(value) && Number(value) <= 65_535) return Number(value);
  throw call.wrong(
    `${call.text("port") === undefined ? "TUNTAS_PORT" : "--port"}: expected 0 to 65535, got ${JSON.stringify(value)}`,
  );
}

/** --host, else TUNTAS_HOST, else this machine alone. */
export const hostOf = (call: Call): string => call.text("host") ?? (process.env.TUNTAS_HOST || "127.0.0.1");

export const apiOptions: Readonly<Record<string, OptionSpec>> = {
  api: {
    value: "NAME=URL",
    meaning: "an API of the application, to be tried from the console",
    multiple: true,
  },
};

/** The APIs by name. Errors: TUNTAS_CLI_USAGE. */
export function apisOf(call: Call): Readonly<Record<string, string>> {
  const entries = call.texts("api").map((given) => {
    const at = given.indexOf("=");
    const url = given.slice(at + 1);
    if (at > 0 && /^https?:/.test(url) && URL.canParse(url)) return [given.slice(0, at), url];
    throw call.wrong(`--api: expected NAME=URL, got ${JSON.stringify(given)}`);
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The database in words, without its password. */
export function databaseName(): string {
  const { databaseUrl, dataDir } = databaseOfEnvironment();
  if (databaseUrl === undefined) return `embedded PostgreSQL in ${dataDir}`;
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  return url ? `${url.host}${url.pathname} (DATABASE_URL)` : "DATABASE_URL";
}

/** Gateway and console, loaded where they are wanted: every other command would wait for them. */
export async function doors() {
  const [{ consolePages }, { startGateway }] = await Promise.all([
    import("tuntas/console"),
    import("tuntas/gateway"),
  ]);
  return { consolePages, startGateway };
}

export const serve: Command = {
  name: "serve",
  summary: "Runs engine, gateway and console without an application: SQS for any AWS SDK.",
  options: { ...portOptions, ...apiOptions },
  examples: [
    ["tuntas serve", "then: AWS_ENDPOINT_URL=http://127.0.0.1:4566 aws sqs list-queues"],
    ["TUNTAS_PORT=0 tuntas serve --json", "on a free port, printed as JSON"],
    [
      "DATABASE_URL=postgres://db.internal/work tuntas serve",
      "on a PostgreSQL of your own, beside other processes",
    ],
  ],
  no: "it could not start (a taken port, an unreachable database)",
  async run(call) {
    process.env.TUNTAS_LOG_LEVEL ??= "warn";
    const port = portOf(call);
    const host = hostOf(call);
    const apis = apisOf(call);
    const log = makeLog({}, "stderr");
    const { consolePages, startGateway } = await doors();
    const platform = await openPlatform({ ...databaseOfEnvironment(), name: "tuntas serve", log });
    const pages = consolePages({ platform, host, apis: () => apis });
    const gateway = await startGateway({ platform, port, host, pages }).catch(async (cause: unknown) => {
      await platform.close();
      throw cause;
    });
    const stop = async () => {
      await gateway.close();
      await platform.close();
    };
    runUntilSignal(stop, { log });
    const url = `http://${host}:${gateway.port}`;
    return {
      document: { status: "listening", url, port: gateway.port, pid: process.pid, version: readVersion() },
      text: facts({
        tuntas: readVersion(),
        console: `${url}/console/`,
        gateway: url,
        "AWS tools": `export AWS_ENDPOINT_URL=${url} AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any`,
        database: databaseName(),
        stop: "Ctrl-C",
      }),
    };
  },
};
