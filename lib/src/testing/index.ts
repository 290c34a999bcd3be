// The kit for tests that want the real thing: a platform in a schema of its own on a real PostgreSQL, and its clock.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { attachEmbedded } from "../pg/embedded/index.ts";
import { refuseUnknown, type NamesOf } from "../core/options.ts";
import { openPlatform, platformOptionNames, type Platform, type PlatformOptions } from "../platform.ts";

export { testDatabase, watchProcess } from "./processes.ts";
export type { LogLine, TestDatabase, TestProcess } from "./processes.ts";
export { testWorkflow } from "./workflow.ts";
export type {
  Mock,
  MockAnswer,
  MockCall,
  PathStep,
  WorkflowTestOptions,
  WorkflowTestResult,
} from "./workflow.ts";

export interface TestPlatform extends AsyncDisposable {
  readonly platform: Platform;
  readonly databaseUrl: string;
  readonly schema: string;
  /** Moves the database's clock forward, for every process on this schema, and looks at once what has become due. */
  advance(ms: number): Promise<void>;
  /** A further platform on the same schema, as another process would have; closed with this one. */
  another(options?: PlatformOptions): Promise<Platform>;
}

export interface TestPlatformOptions extends PlatformOptions {
  /** Leaves the schema in place afterwards, to look at it. */
  readonly keep?: boolean;
}

const optionNames: NamesOf<TestPlatformOptions> = { ...platformOptionNames, keep: true };

/** Opens a platform in a fresh schema of `databaseUrl`, else of DATABASE_URL, else of an embedded server in `dataDir`. */
export async function testPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  refuseUnknown("testPlatform", options, optionNames);
  const { keep = false, ...opening } = options;
  const given = options.databaseUrl ?? process.env.DATABASE_URL;
  const embedded =
    given === undefined ? await attachEmbedded({ dataDir: options.dataDir ?? ".tuntas" }) : undefined;
  const databaseUrl = given ?? embedded!.url;
  const schema = options.schema ?? `test_${randomBytes(6).toString("hex")}`;
  const opened = new Set<Platform>();
  const another = async (more: PlatformOptions = {}) => {
    const { close, ...made } = await openPlatform({ ...opening, ...more, databaseUrl, schema });
    const platform: Platform = {
      ...made,
      close() {
        opened.delete(platform);
        return close();
      },
    };
    opened.add(platform);
    return platform;
  };
  const platform = await another();
  let aheadMs = 0;

  return {
    platform,
    databaseUrl,
    schema,
    another,
    async advance(ms) {
      aheadMs += ms;
      const clock = `create or replace function ${schema}.now() returns timestamptz language sql stable parallel safe
        as $$ select pg_catalog.now() + interval '${aheadMs} milliseconds' $$`;
      await platform.database.transaction(({ client }) => client.query(clock));
      for (const each of opened) {
        await each.schedules.sweep();
        await each.streams.sweep();
        await each.batches.sweep();
        await each.backfills.sweep();
        await each.context.due.sweep();
        await each.workflows.sweepDue();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const each of [...opened].toReversed()) await each.close();
      if (!keep) await dropSchema(databaseUrl, schema);
      await embedded?.detach();
    },
  };
}

/** Ends the sessions that hold locks in the schema: of processes that a test has killed or left behind. */
const endHolders = `select pg_terminate_backend(l.pid) from pg_locks l join pg_class c on c.oid = l.relation
  where c.relnamespace = $1::regnamespace and l.pid <> pg_backend_pid()`;

async function dropSchema(databaseUrl: string, schema: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("set lock_timeout = '5s'");
  const drop = () => client.query(`drop schema if exists ${schema} cascade`);
  await drop().catch(async () => {
    await client.query(endHolders, [schema]);
    await drop();
  });
  await client.end();
}
