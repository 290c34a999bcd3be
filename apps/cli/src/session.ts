// A command's hold on the database: opened for the command, closed after it.
import { resolve } from "node:path";
import type { Platform } from "tuntas";
import { isTuntasError, makeLog, openPlatform, start, nearest } from "tuntas";
import { defaultScope, queueErrors, type QueueRecord, type Scope } from "tuntas/queue";
import type { Call, OptionSpec } from "./command.ts";
import { loadApplication } from "./dev/load.ts";
import { withMeant } from "./meant.ts";

/** The database that the environment names: DATABASE_URL, else the embedded server under TUNTAS_DATA_DIR. */
export const databaseOfEnvironment = (): { databaseUrl: string | undefined; dataDir: string } => ({
  databaseUrl: process.env.DATABASE_URL || undefined,
  dataDir: process.env.TUNTAS_DATA_DIR || ".tuntas",
});

export const scopeOptions: Readonly<Record<string, OptionSpec>> = {
  account: { value: "ID", meaning: `the AWS account; ${defaultScope.account} by default` },
  region: { value: "REGION", meaning: `the AWS region; ${defaultScope.region} by default` },
};

export const scopeOf = (call: Call): Scope => ({
  account: call.text("account") ?? defaultScope.account,
  region: call.text("region") ?? defaultScope.region,
});

/** Runs `work` on the platform of the environment, in silence: what a command has to say is its answer. */
export async function withPlatform<T>(work: (platform: Platform) => Promise<T>): Promise<T> {
  process.env.TUNTAS_LOG_LEVEL = "silent";
  const platform = await openPlatform({
    ...databaseOfEnvironment(),
    name: "tuntas command",
    watches: false,
    log: makeLog(),
  });
  try {
    return await work(platform);
  } catch (cause) {
    throw await withMeant(platform, cause);
  } finally {
    await platform.close();
  }
}

export const applicationOption: Readonly<Record<string, OptionSpec>> = {
  app: {
    value: "FILE",
    meaning: "the application's built file as it is deployed, for what only its code knows",
  },
};

/** Runs `work` with the application of --app, where one is given: its hooks are there, its workers are not. */
export const withApplication = <T>(call: Call, work: (platform: Platform) => Promise<T>): Promise<T> =>
  withPlatform(async (platform) => {
    const file = call.text("app");
    if (file === undefined) return work(platform);
    await using running = await start(await loadApplication(resolve(file)), { platform, workers: false });
    return work(running.platform);
  });

/** The queue of that name, or an error that names the nearest. Errors: TUNTAS_QUEUE_MISSING. */
export async function findQueue({ queues }: Platform, scope: Scope, name: string): Promise<QueueRecord> {
  try {
    return await queues.catalog.get(scope, name);
  } catch (cause) {
    if (!isTuntasError(cause, "TUNTAS_QUEUE_MISSING")) throw cause;
    const all = await queues.catalog.list(scope, { prefix: "", after: "", limit: 1000 });
    const meant = nearest(
      name,
      all.map((queue) => queue.name),
    );
    if (meant === undefined) throw cause;
    throw queueErrors.error("TUNTAS_QUEUE_MISSING", `${cause.message}; did you mean ${meant}?`, { cause });
  }
}

/** The same for a command whose first argument names a queue. Errors: TUNTAS_QUEUE_MISSING. */
export const withQueue = <T>(
  call: Call,
  work: (platform: Platform, queue: QueueRecord) => Promise<T>,
): Promise<T> =>
  withPlatform(async (platform) =>
    work(platform, await findQueue(platform, scopeOf(call), call.argument(0))),
  );

export const actorOption: Readonly<Record<string, OptionSpec>> = {
  actor: { value: "NAME", meaning: "who, for the record; the system's user by default" },
};

/** What an act upon a thing needs besides the thing: who and why. */
export const actOptions: Readonly<Record<string, OptionSpec>> = {
  reason: { value: "TEXT", meaning: "why, for the record (required)" },
  ...actorOption,
};

/** Who acts, for the record: --actor, else the user of the system. */
export const actorOf = (call: Call): string =>
  call.text("actor") ?? process.env.USER ?? process.env.USERNAME ?? "unknown";

/** Who acts and why. Errors: TUNTAS_CLI_USAGE where no reason is given. */
export const actOf = (call: Call): { readonly by: string; readonly reason: string } => ({
  by: actorOf(call),
  reason: call.required("reason"),
});
