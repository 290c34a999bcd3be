-- Locks of entities (a worker's `lock` option). A lock is held by a message's claim (id and fence) and by nothing else:
-- once that claim has ended, by settling or by its owner's death, whoever comes next may have the lock. So nobody
-- releases one, and none outlives its holder.
create table tuntas.entity_lock (
  queue_id integer not null,
  key text not null,
  id bigint not null,
  fence bigint not null,
  primary key (queue_id, key)
) with (fillfactor = 70);

-- Takes the locks that are free for these claims; answers the ids of those that got theirs. The row is locked before
-- the holder is looked at, in a statement of its own: an earlier snapshot may not know the holder's claim yet.
create function tuntas.lock_entities(queue integer, keys text[], ids bigint[], fences bigint[]) returns setof bigint
  language plpgsql
  as $$
  declare
    wanted record;
  begin
    for wanted in select * from unnest(keys, ids, fences) as u(key, id, fence) order by u.key, u.id loop
      insert into tuntas.entity_lock (queue_id, key, id, fence) values (queue, wanted.key, wanted.id, wanted.fence)
        on conflict do nothing;
      if not found then
        perform 1 from tuntas.entity_lock where queue_id = queue and key = wanted.key for update;
        update tuntas.entity_lock l set id = wanted.id, fence = wanted.fence
          where l.queue_id = queue and l.key = wanted.key and not exists (
            select from tuntas.in_flight f where f.queue_id = queue and f.id = l.id and f.fence = l.fence);
      end if;
      if found then
        return next wanted.id;
      end if;
    end loop;
  end
  $$;

-- Removes locks that nobody holds; locks first and looks afterwards, as above.
create function tuntas.forget_entity_locks(n integer) returns void
  language plpgsql
  as $$
  declare
    candidates record;
  begin
    for candidates in
      select l.queue_id, l.key from tuntas.entity_lock l
      where not exists (select from tuntas.in_flight f where f.queue_id = l.queue_id and f.id = l.id and f.fence = l.fence)
      limit n for update skip locked
    loop
      delete from tuntas.entity_lock l where l.queue_id = candidates.queue_id and l.key = candidates.key
        and not exists (select from tuntas.in_flight f where f.queue_id = l.queue_id and f.id = l.id and f.fence = l.fence);
    end loop;
  end
  $$;
