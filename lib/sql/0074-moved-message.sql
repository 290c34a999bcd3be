-- What a move task moves is nobody's duplicate, and what has nowhere to go stays as it lies.

-- Moves up to n ready messages of a dead-letter queue to another queue, or each to where it came from. What arrives
-- is a new message with the old body: new id, new time, no receives (StartMessageMoveTask); on a FIFO queue its
-- deduplication id is the old message's id, so that it cannot vanish as a duplicate of another. Answers how many moved,
-- how many have nowhere to go, and the queues that got some.
create or replace function tuntas.move_messages(source integer, destination integer, n integer, only_ids bigint[],
  out moved integer, out missing integer, out queues integer[])
  language plpgsql
  as $$
  declare
    r record;
    old tuntas.message;
    touched text[] := '{}';
  begin
    moved := 0;
    missing := 0;
    queues := '{}';
    for r in
      select c.turn, c.id, c.group_id, q.id as target
      from tuntas.ready c left join tuntas.queue q on q.id = coalesce(destination, c.source_queue_id)
      where c.queue_id = source and (only_ids is null or c.id = any(only_ids))
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
      if r.group_id is not null and not r.group_id = any(touched) then touched := touched || r.group_id; end if;
    end loop;
    if (select fifo from tuntas.queue where id = source) and touched <> '{}' then
      perform tuntas.refresh_groups(source, touched);
    end if;
  end
  $$;
