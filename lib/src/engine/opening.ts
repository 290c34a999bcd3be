// Opening the database: where it is, as the options or the environment say, with the schema brought up to date.
import { checkBudget } from "../pg/budget.ts";
import { openDatabase, type Database } from "../pg/database.ts";
import { attachEmbedded } from "../pg/embedded/index.ts";
import { migrate } from "../pg/migrate/index.ts";
import type { Closing } from "./closing.ts";
import type { Log } from "./log.ts";

export interface DatabaseOptions {
  /** The database. Where neither this nor `dataDir` is given: DATABASE_URL, else the embedded server. */
  readonly databaseUrl?: string | undefined;
  /** Where the embedded server keeps its data: TUNTAS_DATA_DIR by default, else `.tuntas` below the working directory. */
  readonly dataDir?: string;
  readonly schema?: string;
  /** The most connections for handlers' own transactions. */
  readonly handlerConnectionsMax?: number;
}

/** What the options leave open, the environment decides. */
function addressOf({ databaseUrl, dataDir }: DatabaseOptions): { url: string } | { dataDir: string } {
  const { DATABASE_URL, TUNTAS_DATA_DIR } = process.env;
  const url = databaseUrl ?? (dataDir === undefined ? DATABASE_URL || undefined : undefined);
  return url === undefined ? { dataDir: dataDir ?? (TUNTAS_DATA_DIR || ".tuntas") } : { url };
}

export async function openDatabaseOf(
  options: DatabaseOptions,
  log: Pick<Log, "warn">,
  closing: Closing,
): Promise<Database> {
  const address = addressOf(options);
  const embedded = "url" in address ? undefined : await attachEmbedded(address);
  closing.add(async () => embedded?.detach());
  const database = await openDatabase({
    url: "url" in address ? address.url : embedded!.url,
    ...(options.schema !== undefined && { schema: options.schema }),
    ...(options.handlerConnectionsMax !== undefined && {
      handlerConnectionsMax: options.handlerConnectionsMax,
    }),
  });
  closing.add(database.close);
  await migrate(database);
  const warning = await checkBudget(database);
  if (warning !== undefined) log.warn({ warning }, `connections may run out: ${warning}`);
  return database;
}
