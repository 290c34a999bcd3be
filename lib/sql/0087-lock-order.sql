-- Whoever has to do with several groups of FIFO queues locks them in one order, before any message of theirs. Two that send to
-- the same groups in different orders, or a move task and a receive, would wait for each other until one of them fails.

create function tuntas.lock_groups(queues integer[], groups text[]) returns void
  language plpgsql
  as $$
  begin
    perform tuntas.lock_group(o.queue_id, o.group_id) from (
      select distinct u.queue_id, u.group_id from unnest(queues, groups) as u(queue_id, group_id)
        join tuntas.queue q on q.id = u.queue_id where q.fifo and u.group_id is not null
      order by u.queue_id, u.group_id) o;
  end
  $$;

-- As before, and of a FIFO queue only groups that are locked: first where the messages go to, as when one dies, then here.
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
    if is_fifo and moved > 0 then
      perform tuntas.refresh_groups(source, groups);
    end if;
  end
  $$;
