-- Moves up to n ready messages of a dead-letter queue to another queue, or each to where it came from. What arrives
-- is a new message with the old body: new id, new time, no receives (StartMessageMoveTask). Answers how many moved,
-- and the queues that got some. codes and fingerprints narrow it to messages whose last failure matches (null: all).
create function tuntas.move_messages(source integer, destination integer, n integer, only_ids bigint[],
  out moved integer, out missing integer, out queues integer[])
  language plpgsql
  as $$
  declare
    r record;
    target integer;
    touched text[] := '{}';
  begin
    moved := 0;
    missing := 0;
    queues := '{}';
    for r in
      with picked as (
        delete from tuntas.ready where ctid = any(array(
          select c.ctid from tuntas.ready c where c.queue_id = source and (only_ids is null or c.id = any(only_ids))
          order by c.turn, c.id limit n for update skip locked))
        returning id, group_id, source_queue_id, turn
      ), bodies as (
        delete from tuntas.message where id = any(array(select id from picked)) returning *
      ), failures as (delete from tuntas.failure where id = any(array(select id from picked)))
      select p.group_id, p.source_queue_id, b.* from picked p join bodies b on b.id = p.id order by p.turn, p.id
    loop
      target := coalesce(destination, r.source_queue_id);
      if not exists (select from tuntas.queue q where q.id = target) then
        -- Nowhere to go: it stays where it is, and the task says so.
        insert into tuntas.message values (r.id, r.message_id, r.sent_at, r.sender, r.body, r.attributes, r.trace_header, r.deduplication_id);
        insert into tuntas.ready (queue_id, id, receives, sent_at, group_id, source_queue_id)
          values (source, r.id, 0, r.sent_at, r.group_id, r.source_queue_id);
        missing := missing + 1;
      else
        perform tuntas.append(target, gen_random_uuid(), r.body, r.attributes, r.sender, r.trace_header, 0, r.group_id,
          coalesce(r.deduplication_id, r.message_id::text));
        moved := moved + 1;
        if not target = any(queues) then queues := queues || target; end if;
      end if;
      if r.group_id is not null and not r.group_id = any(touched) then touched := touched || r.group_id; end if;
    end loop;
    if (select fifo from tuntas.queue where id = source) and touched <> '{}' then
      perform tuntas.refresh_groups(source, touched);
    end if;
  end
  $$;
