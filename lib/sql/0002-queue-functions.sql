-- What must be atomic for strangers too, a trigger or psql as much as the library: sending, and the moves of FIFO groups.

-- The turn of the next message of a group on a standard queue: behind the group's own last one, never behind the
-- turn that the queue has reached. It reads without locking: two concurrent sends may share a turn, which harms nobody.
create function tuntas.next_turn(queue integer, message_group text) returns bigint
  language sql stable
  as $$
    select greatest(
      coalesce((select turn from tuntas.fair_turn where queue_id = queue), 0),
      case when message_group is null then 0 else
        coalesce((select max(turn) + 1 from tuntas.ready where queue_id = queue and group_id = message_group), 0)
      end)
  $$;

-- The first message of a FIFO group that is in flight or waits for its delay or retry: only what stands before it may
-- be claimed. With 0, 1 and 2 in flight and then 0 and 2 back, that is 0.
create function tuntas.group_bound(queue integer, message_group text) returns bigint
  language sql stable
  as $$
    select coalesce(least(
      (select min(f.id) from tuntas.in_flight f where f.queue_id = queue and f.group_id = message_group),
      (select min(d.id) from tuntas.delayed d where d.queue_id = queue and d.group_id = message_group)),
      9223372036854775807)
  $$;

-- Makes sure that the group has its row, and locks it; whoever adds a message to a group begins with this. A row that
-- was there may be gone once its lock is free, because whoever held it found the group empty: then it is made anew.
create function tuntas.lock_group(queue integer, message_group text) returns void
  language plpgsql
  as $$
  begin
    loop
      insert into tuntas.fifo_group (queue_id, group_id) values (queue, message_group) on conflict do nothing;
      perform 1 from tuntas.fifo_group where queue_id = queue and group_id = message_group for update;
      exit when found;
    end loop;
  end
  $$;

-- Works out the heads of the given groups anew. The caller has moved messages of these groups in this transaction;
-- locking first and reading in the next statement makes the last one to come see all that the others did.
create function tuntas.refresh_groups(queue integer, groups text[]) returns void
  language plpgsql
  as $$
  begin
    perform 1 from tuntas.fifo_group
      where queue_id = queue and group_id = any(groups) order by group_id for update;
    update tuntas.fifo_group g set head = (
      select min(r.id) from tuntas.ready r
      where r.queue_id = queue and r.group_id = g.group_id and r.id < tuntas.group_bound(queue, g.group_id))
      where g.queue_id = queue and g.group_id = any(groups);
    delete from tuntas.fifo_group g
      where g.queue_id = queue and g.group_id = any(groups) and g.head is null
        and not exists (select from tuntas.ready r where r.queue_id = queue and r.group_id = g.group_id)
        and not exists (select from tuntas.in_flight f where f.queue_id = queue and f.group_id = g.group_id);
  end
  $$;

-- Puts one message into a queue. Answers the message's id and whether it was a duplicate (then the first one's ids);
-- nulls where the queue is gone, so that the other messages of the same transaction still get in.
create function tuntas.append(
  queue integer, new_message_id uuid, body text, attributes text, sender text, trace_header text,
  delay integer, message_group text, deduplication text,
  out message_id uuid, out id bigint, out duplicate boolean, out due timestamptz)
  language plpgsql
  as $$
  declare
    q tuntas.queue;
    dedup_scope text;
  begin
    select * into q from tuntas.queue where queue.id = append.queue;
    if not found then
      return;
    end if;
    duplicate := false;
    id := nextval('tuntas.message_id_seq');
    message_id := new_message_id;
    if q.fifo then
      perform tuntas.lock_group(q.id, message_group);
      dedup_scope := case q.deduplication_scope when 'messageGroup' then message_group else '' end;
      insert into tuntas.fifo_duplicate as d (queue_id, scope, deduplication_id, message_id, id, expires_at)
        values (q.id, dedup_scope, deduplication, append.message_id, append.id, tuntas.now() + interval '5 minutes')
        on conflict (queue_id, scope, deduplication_id) do update
          set message_id = excluded.message_id, id = excluded.id, expires_at = excluded.expires_at
          where d.expires_at <= tuntas.now();
      if not found then
        select d.message_id, d.id into message_id, id from tuntas.fifo_duplicate d
          where d.queue_id = q.id and d.scope = dedup_scope and d.deduplication_id = deduplication;
        duplicate := true;
        return;
      end if;
    end if;
    insert into tuntas.message (id, message_id, sent_at, sender, body, attributes, trace_header, deduplication_id)
      values (append.id, append.message_id, tuntas.now(), append.sender, append.body, append.attributes,
        append.trace_header, deduplication);
    if coalesce(delay, q.delay_seconds) > 0 then
      due := tuntas.now() + make_interval(secs => coalesce(delay, q.delay_seconds));
      insert into tuntas.delayed (id, queue_id, due, turn, sent_at, group_id)
        values (append.id, q.id, append.due, 0, tuntas.now(), message_group);
    else
      insert into tuntas.ready (queue_id, turn, id, sent_at, group_id)
        values (q.id, case when q.fifo then 0 else tuntas.next_turn(q.id, message_group) end, append.id,
          tuntas.now(), message_group);
    end if;
    if q.fifo then
      perform tuntas.refresh_groups(q.id, array[message_group]);
    end if;
  end
  $$;

-- Sends in the caller's transaction: for triggers, psql and other languages. The message appears when it commits.
--   select tuntas.send('order-work', '{"orderId":"ord_1"}');
create function tuntas.send(
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
    if body ~ '[\x01-\x08\x0b\x0c\x0e-\x1f]' then
      raise exception 'the body of a message to % has a control character that SQS refuses', queue_name using errcode = '22023';
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

-- Takes these claims out of their bundles; answers those that were still in one, with their places in the arrays.
-- The bundles are locked in one order, so that two that settle at once do not wait for each other in a ring.
create function tuntas.take_out(fences bigint[], ids bigint[])
  returns table (n bigint, id bigint, queue_id integer, fence bigint, owner_id bigint, claimed_at timestamptz)
  language plpgsql
  as $$
  declare
    b tuntas.bundle;
    wanted bigint[];
    whole boolean;
  begin
    for b in select * from tuntas.bundle x where x.fence = any(fences) order by x.fence for update loop
      wanted := array(select u.id from unnest(fences, ids) as u(fence, id) where u.fence = b.fence order by u.id);
      whole := wanted = b.ids;
      return query
        select u.n, u.id, b.queue_id, b.fence, b.owner_id, b.claimed_at
        from unnest(fences, ids) with ordinality as u(fence, id, n)
        where u.fence = b.fence and (whole or u.id = any(b.ids));
      if not whole then
        b.ids := array(select unnest(b.ids) except select unnest(wanted) order by 1);
      end if;
      if whole or b.ids = '{}' then
        delete from tuntas.bundle x where x.fence = b.fence;
      else
        update tuntas.bundle x set ids = b.ids where x.fence = b.fence;
      end if;
    end loop;
  end
  $$;

-- Moves up to n due messages to ready: delays that have ended and receipts that have expired, each skipped while
-- somebody settles it. Answers the queues that got some.
create function tuntas.promote(n integer) returns table (queue integer, moved bigint)
  language plpgsql
  as $$
  declare
    moves record;
    touched integer[] := '{}';
    counts bigint[] := '{}';
  begin
    for moves in
      with due as (
        delete from tuntas.delayed d where d.ctid = any(array(
          select c.ctid from tuntas.delayed c where c.due <= tuntas.now() order by c.due limit n for update skip locked))
        returning d.queue_id, d.id, d.turn, d.receives, d.sent_at, d.first_received_at, d.group_id, d.source_queue_id
      ), late as (
        delete from tuntas.in_flight f where f.ctid = any(array(
          select c.ctid from tuntas.in_flight c where c.expires_at <= tuntas.now() order by c.expires_at limit n for update skip locked))
        returning f.queue_id, f.id, f.turn, f.receives, f.sent_at, f.first_received_at, f.group_id, f.source_queue_id
      ), back as (
        insert into tuntas.ready (queue_id, id, turn, receives, sent_at, first_received_at, group_id, source_queue_id)
        select * from due union all select * from late
        returning queue_id, group_id
      )
      select b.queue_id, q.fifo, count(*) as moved,
        array_agg(distinct b.group_id order by b.group_id) filter (where b.group_id is not null) as groups
      from back b left join tuntas.queue q on q.id = b.queue_id
      group by b.queue_id, q.fifo order by b.queue_id
    loop
      if moves.fifo then
        perform tuntas.lock_group(moves.queue_id, g) from unnest(moves.groups) g;
        perform tuntas.refresh_groups(moves.queue_id, moves.groups);
      end if;
      touched := touched || moves.queue_id;
      counts := counts || moves.moved;
    end loop;
    return query select * from unnest(touched, counts);
  end
  $$;

-- Claims up to n messages of a FIFO queue, whole groups first: as many of one group as there are before the next one.
-- A message that was received too often goes to the dead-letter queue, one past its retention goes away; neither blocks.
create function tuntas.claim_fifo(queue integer, n integer, owner bigint, visibility integer, new_fence bigint)
  returns setof tuntas.in_flight
  language plpgsql
  as $$
  declare
    q tuntas.queue;
    dead_letter integer;
    this_group text;
    before_id bigint;
    r tuntas.ready;
    held tuntas.in_flight;
    taken integer := 0;
    group_taken integer;
    -- A worker runs what it gets side by side, so it gets one message of a group at a time; a receiver gets them in order.
    group_max integer := case when owner is null then n else 1 end;
  begin
    select * into q from tuntas.queue where id = claim_fifo.queue;
    select d.id into dead_letter from tuntas.queue d
      where d.account = q.account and d.region = q.region and d.name = q.dead_letter_name;
    for this_group in
      select g.group_id from tuntas.fifo_group g
      where g.queue_id = queue and g.head is not null order by g.head limit n for update skip locked
    loop
      before_id := tuntas.group_bound(queue, this_group);
      group_taken := 0;
      while taken < n and group_taken < group_max loop
        delete from tuntas.ready x where (x.queue_id, x.turn, x.id) = (
          select y.queue_id, y.turn, y.id from tuntas.ready y
          where y.queue_id = queue and y.group_id = this_group and y.id < before_id order by y.id limit 1)
          returning x.* into r;
        exit when not found;
        if r.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds) then
          delete from tuntas.message m where m.id = r.id;
        elsif dead_letter is not null and r.receives >= q.receives_max then
          insert into tuntas.ready (queue_id, id, receives, sent_at, first_received_at, group_id, source_queue_id)
            values (dead_letter, r.id, r.receives, tuntas.now(), r.first_received_at, r.group_id, queue);
          update tuntas.message m set deduplication_id = m.message_id::text where m.id = r.id;
          perform tuntas.lock_group(dead_letter, r.group_id);
          perform tuntas.refresh_groups(dead_letter, array[r.group_id]);
        else
          insert into tuntas.in_flight (queue_id, id, fence, owner_id, expires_at, claimed_at, turn, receives, sent_at,
            first_received_at, group_id, source_queue_id)
          values (queue, r.id, new_fence, owner,
            case when owner is null then tuntas.now() + make_interval(secs => coalesce(visibility, q.visibility_seconds)) end,
            tuntas.now(), r.turn, r.receives + 1, r.sent_at, coalesce(r.first_received_at, tuntas.now()), r.group_id, r.source_queue_id)
          returning * into held;
          taken := taken + 1;
          group_taken := group_taken + 1;
          return next held;
        end if;
      end loop;
      perform tuntas.refresh_groups(queue, array[this_group]);
      exit when taken >= n;
    end loop;
  end
  $$;

-- The body of a message that claim_fifo has just claimed. A function of its own because it must look with a snapshot of
-- its own: claim_fifo also finds what was committed after the calling statement began, and that statement, looking
-- itself, would not see such a body and would forget the message that it holds.
create function tuntas.message_of(claimed bigint) returns setof tuntas.message
  language plpgsql volatile rows 1
  as $$
  begin
    return query select * from tuntas.message m where m.id = claimed;
  end
  $$;
