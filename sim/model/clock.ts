// The database's clock, stopped: between two commands of a model as much time passes as the model says, and none else.
import type { TestPlatform } from "tuntas/testing";

const stopped = `create table tuntas.clock (now timestamptz not null);
  insert into tuntas.clock values (date_trunc('second', pg_catalog.now()));
  create function tuntas.shown() returns timestamptz language sql stable as $$ select now from tuntas.clock $$;
  create or replace function tuntas.now() returns timestamptz language sql stable as $$ select tuntas.shown() $$`;

/** Answers how to move it on, by so many seconds; what has become due is looked at at once. */
export async function stopClock({
  platform,
  schema,
}: TestPlatform): Promise<(seconds: number) => Promise<void>> {
  const run = (text: string, values: unknown[] = []) =>
    platform.database.transaction(({ client }) =>
      client.query(text.replaceAll(/\btuntas\./g, `${schema}.`), values),
    );
  await run(stopped);
  return async (seconds) => {
    await run("update tuntas.clock set now = now + make_interval(secs => $1)", [seconds]);
    await platform.schedules.sweep();
    await platform.context.due.sweep();
  };
}
