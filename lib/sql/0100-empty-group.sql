-- A group of a FIFO queue has a row as long as it has messages: one that was locked for a duplicate, or for a message that was not
-- moved after all, goes again.

-- Puts one message into a queue. Answers the message's id and whether it was a duplicate (then the first one's ids);
-- nulls where the queue is gone, so that the other messages of the same transaction still get in.
create or replace function tuntas.append(
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
        -- Nobody else would ask whether anything is in the group.
        perform tuntas.refresh_groups(q.id, array[message_group]);
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

-- As before, and leaves no group behind into which nothing came.
create or replace function tuntas.move_messages(source integer, destination integer, n integer, only_ids bigint[],
  out moved integer, out missing integer, out queues integer[])
  language plpgsql
  as $$
  declare
    r record;
    old tuntas.message;
    is_fifo boolean := (select fifo from tuntas.queue where id = source);
    targets integer[];
    groups text[];
  begin
    moved := 0;
    missing := 0;
    queues := '{}';
    if is_fifo then
      select array_agg(c.target), array_agg(c.group_id) into targets, groups from (
        select coalesce(destination, x.source_queue_id) as target, x.group_id from tuntas.ready x
        where x.queue_id = source and (only_ids is null or x.id = any(only_ids)) order by x.turn, x.id limit n) c;
      perform tuntas.lock_groups(targets, groups);
      perform 1 from tuntas.fifo_group g where g.queue_id = source and g.group_id = any(groups) order by g.group_id for update;
    end if;
    for r in
      select c.turn, c.id, c.group_id, q.id as target
      from tuntas.ready c left join tuntas.queue q on q.id = coalesce(destination, c.source_queue_id)
      where c.queue_id = source and (only_ids is null or c.id = any(only_ids)) and (not is_fifo or c.group_id = any(groups))
      order by c.turn, c.id limit n for update of c skip locked
    loop
      if r.target is null then
        missing := missing + 1;
        continue;
      end if;
      delete from tuntas.ready c where c.queue_id = source and c.turn = r.turn and c.id = r.id;
      delete from tuntas.failure f where f.id = r.id;
      delete from tuntas.message m where m.id = r.id returning * into old;
      perform tuntas.append(r.target, gen_random_uuid(), old.body, old.attributes, old.sender, old.trace_header, 0,
        r.group_id, old.message_id::text);
      moved := moved + 1;
      if not r.target = any(queues) then queues := queues || r.target; end if;
    end loop;
    if is_fifo then
      perform tuntas.refresh_groups(source, groups);
      perform tuntas.refresh_groups(t.id, groups) from (select distinct u.id from unnest(targets) u(id) where u.id is not null order by u.id) t;
    end if;
  end
  $$;

-- Those from before: each is locked, then looked at.
select tuntas.refresh_groups(g.queue_id, array[g.group_id]) from (
  select e.queue_id, e.group_id from tuntas.fifo_group e where e.head is null order by e.queue_id, e.group_id) g;
