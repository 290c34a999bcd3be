-- A process of an older version beside this one knows no `began`: its new consumer stood as one that has read from the first record
-- on, and could have taken the place of another that had not read up to where it began. The default was the unsafe one.
alter table tuntas.stream_checkpoint alter column began drop default;

create function tuntas.stream_began() returns trigger language plpgsql as $$
begin
  new.began := coalesce(new.began, new.next_offset);
  return new;
end $$;
create trigger stream_began before insert on tuntas.stream_checkpoint
  for each row when (new.began is null) execute function tuntas.stream_began();

-- Its operator who puts a consumer past records does not say so either. A consumer that reads moves no fence with its offset.
create function tuntas.stream_began_beyond() returns trigger language plpgsql as $$
begin
  new.began := new.next_offset;
  return new;
end $$;
create trigger stream_began_beyond before update of next_offset on tuntas.stream_checkpoint
  for each row when (new.next_offset > old.next_offset and new.fence > old.fence and new.began = old.began)
  execute function tuntas.stream_began_beyond();

-- Each request moves `next_at`: with an index on it no update stayed in its page, and each left two dead entries of an index.
-- What is forgotten is found by a look at the table, once in a while.
drop index tuntas.request_rate_next;
