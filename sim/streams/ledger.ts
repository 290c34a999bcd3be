// What happened to the consumers of one stream, in the order in which it was committed: effects by their handlers, everything
// else by triggers upon the tables. Whatever changes a checkpoint holds its row, so the numbers of one partition follow its commits.
import type { Platform } from "tuntas";

export interface StormEvent {
  readonly kind: "began" | "effect" | "moved" | "parked" | "handed" | "unparked" | "swapped";
  readonly consumer: string;
  readonly partition: number;
  readonly offset: number;
  /** Of `moved`, where it stood; of `swapped`, nothing. */
  readonly before: number;
  /** Of `swapped`, whose place it took. */
  readonly key: string;
  readonly n: number;
  /** The transaction that wrote it. */
  readonly xact: string;
}

const ddl = `
  create table tuntas.storm_state (mended boolean not null);
  insert into tuntas.storm_state values (false);
  create table tuntas.storm_event (place bigint generated always as identity primary key, kind text not null, consumer text not null,
    partition integer not null default 0, "offset" bigint not null default 0, before bigint not null default 0, key text not null default '',
    n integer not null default 0, xact text not null default pg_current_xact_id()::text);
  create function tuntas.storm_named(of_consumer integer) returns text language sql stable as
    'select coalesce((select name from tuntas.stream_consumer where id = of_consumer), '''')';
  create function tuntas.storm_checkpoint() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      insert into tuntas.storm_event (kind, consumer, partition, "offset") values ('began', tuntas.storm_named(new.consumer_id), new.partition, new.next_offset);
    elsif new.next_offset <> old.next_offset and new.owner_id is null then
      insert into tuntas.storm_event (kind, consumer, partition, "offset", before)
      values ('moved', tuntas.storm_named(new.consumer_id), new.partition, new.next_offset, old.next_offset);
    end if;
    return null;
  end $$;
  create trigger storm after insert or update on tuntas.stream_checkpoint for each row execute function tuntas.storm_checkpoint();
  create function tuntas.storm_parked() returns trigger language plpgsql as $$ begin
    if tg_op = 'DELETE' then
      insert into tuntas.storm_event (kind, consumer, partition, "offset") values ('unparked', tuntas.storm_named(old.consumer_id), old.partition, old."offset");
    elsif tg_op = 'INSERT' then
      insert into tuntas.storm_event (kind, consumer, partition, "offset", key, n)
      values ('parked', tuntas.storm_named(new.consumer_id), new.partition, new."offset", new.key, (new.body::json ->> 'n')::int);
    elsif new.consumer_id <> old.consumer_id then
      insert into tuntas.storm_event (kind, consumer, partition, "offset", key, n)
      values ('handed', tuntas.storm_named(new.consumer_id), new.partition, new."offset", new.key, (new.body::json ->> 'n')::int);
    end if;
    return null;
  end $$;
  create trigger storm after insert or update or delete on tuntas.stream_parked for each row execute function tuntas.storm_parked();`;

export interface Place {
  readonly platform: Platform;
  readonly schema: string;
}

export async function onStorm(
  { platform, schema }: Place,
  text: string,
  values: unknown[] = [],
): Promise<any[]> {
  return (await platform.database.query(text.replaceAll("tuntas.", `${schema}.`), values)).rows;
}

export async function openLedger({ platform, schema }: Place): Promise<void> {
  const client = await platform.database.dedicatedClient();
  await client.query(ddl.replaceAll("tuntas.", `${schema}.`)).finally(() => client.end());
}

export const readLedger = (place: Place): Promise<StormEvent[]> =>
  onStorm(
    place,
    `select kind, consumer, partition, "offset"::float8 as "offset", before::float8 as before, key, n, xact
     from tuntas.storm_event order by place`,
  );
