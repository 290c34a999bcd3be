-- Work on what happened long ago announces nothing again. A transaction that replays says so by a setting of its own; what
-- triggers and statements announce in it is counted instead. Setting it a second time costs nothing, and a savepoint that
-- is rolled back takes its part of the count back.
create function tuntas.is_replay() returns boolean
  language sql stable
  return coalesce(current_setting('tuntas.replay', true), '') = 'on';

create function tuntas.suppress(announcements integer) returns void
  language sql
  as $$
    select set_config('tuntas.suppressed', (coalesce(nullif(current_setting('tuntas.suppressed', true), ''), '0')::int + announcements)::text, true)
  $$;

create function tuntas.suppress_announcement() returns trigger
  language plpgsql
  as $$
  begin
    perform tuntas.suppress(1);
    return null;
  end
  $$;
create trigger outbox_replay before insert on tuntas.outbox
  for each row when (current_setting('tuntas.replay', true) = 'on') execute function tuntas.suppress_announcement();

-- Sends in the caller's transaction: for triggers, psql and other languages. The message appears when it commits.
--   select tuntas.send('order-work', '{"orderId":"ord_1"}');
create or replace function tuntas.send(
  queue_name text, body text, attributes text default null, delay_seconds integer default null,
  group_id text default null, deduplication_id text default null,
  account text default '000000000000', region text default 'us-east-1')
  returns uuid
  language plpgsql
  as $$
  declare
    q tuntas.queue;
    sent record;
  begin
    if tuntas.is_replay() then
      perform tuntas.suppress(1);
      return gen_random_uuid();
    end if;
    select * into q from tuntas.queue
      where queue.account = send.account and queue.region = send.region and queue.name = queue_name;
    if not found then
      raise exception 'queue % does not exist', queue_name using errcode = 'P0002',
        hint = 'Create it first, or see the names: select name from tuntas.queue.';
    end if;
    if body is null or body = '' then
      raise exception 'the body of a message to % is empty', queue_name using errcode = '22023';
    end if;
    if octet_length(body) + coalesce(octet_length(attributes), 0) > q.message_bytes_max then
      raise exception 'the message to % has % bytes, more than %', queue_name, octet_length(body), q.message_bytes_max
        using errcode = '22023';
    end if;
    if body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f\uFFFE\uFFFF]' then
      raise exception 'the body of a message to % has a character that SQS refuses', queue_name using errcode = '22023';
    end if;
    if json_typeof(attributes::json) <> 'object' then
      raise exception 'the attributes of a message to % are %, expected an object: {"name":{"DataType":"String","StringValue":"…"}}',
        queue_name, json_typeof(attributes::json) using errcode = '22023';
    end if;
    if delay_seconds not between 0 and 900 then
      raise exception 'delay_seconds is %, expected 0 to 900', delay_seconds using errcode = '22023';
    end if;
    if q.fifo and group_id is null then
      raise exception 'queue % is FIFO: group_id is required', queue_name using errcode = '22023';
    end if;
    if q.fifo and deduplication_id is null then
      if not q.content_deduplication then
        raise exception 'queue % is FIFO without content deduplication: deduplication_id is required', queue_name
          using errcode = '22023';
      end if;
      deduplication_id := encode(sha256(convert_to(body, 'UTF8')), 'hex');
    end if;
    select * into sent from tuntas.append(q.id, gen_random_uuid(), body, attributes, session_user::text, null,
      case when q.fifo then null else delay_seconds end, group_id, deduplication_id);
    perform pg_notify('tuntas.ready', q.id::text);
    return sent.message_id;
  end
  $$;
