// What can be set from outside; the README lists it.
const { env } = process;

/** Where the database is; where nothing is set, the embedded server in .tuntas. */
export const databaseOptions = (): { databaseUrl?: string; dataDir?: string } => ({
  ...(env.DATABASE_URL && { databaseUrl: env.DATABASE_URL }),
  ...(env.TUNTAS_DATA_DIR && { dataDir: env.TUNTAS_DATA_DIR }),
});

export const listenOptions = () => ({
  host: env.HOST || "127.0.0.1",
  port: Number(env.PORT || 8081),
  variable: "PORT",
});
