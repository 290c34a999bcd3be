-- A FIFO claim also says what ended instead of being claimed, so that it is counted and whoever waits for dead letters
-- is woken.

-- Claims up to n messages of a FIFO queue, whole groups first: as many of one group as there are before the next one.
-- A message that was received too often goes to the dead-letter queue, one past its retention goes away; neither blocks,
-- and of each there is a row that says so.
drop function tuntas.claim_fifo(integer, integer, bigint, integer, bigint);
create function tuntas.claim_fifo(queue integer, n integer, owner bigint, visibility integer, new_fence bigint)
  returns table (fate text, dead_letter_id integer, held tuntas.in_flight)
  language plpgsql
  as $$
  declare
    q tuntas.queue;
    dead_letter integer;
    this_group text;
    before_id bigint;
    r tuntas.ready;
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
          delete from tuntas.failure x where x.id = r.id;
          fate := 'expired';
          held := null;
          return next;
        elsif dead_letter is not null and r.receives >= q.receives_max then
          insert into tuntas.ready (queue_id, id, receives, sent_at, first_received_at, group_id, source_queue_id)
            values (dead_letter, r.id, r.receives, tuntas.now(), r.first_received_at, r.group_id, queue);
          update tuntas.message m set deduplication_id = m.message_id::text where m.id = r.id;
          perform tuntas.lock_group(dead_letter, r.group_id);
          perform tuntas.refresh_groups(dead_letter, array[r.group_id]);
          fate := 'dead';
          dead_letter_id := dead_letter;
          held := null;
          return next;
        else
          insert into tuntas.in_flight (queue_id, id, fence, owner_id, expires_at, claimed_at, turn, receives, sent_at,
            first_received_at, group_id, source_queue_id)
          values (queue, r.id, new_fence, owner,
            case when owner is null then tuntas.now() + make_interval(secs => coalesce(visibility, q.visibility_seconds)) end,
            tuntas.now(), r.turn, r.receives + 1, r.sent_at, coalesce(r.first_received_at, tuntas.now()), r.group_id, r.source_queue_id)
          returning in_flight.* into held;
          taken := taken + 1;
          group_taken := group_taken + 1;
          fate := null;
          dead_letter_id := null;
          return next;
        end if;
      end loop;
      perform tuntas.refresh_groups(queue, array[this_group]);
      exit when taken >= n;
    end loop;
  end
  $$;
