-- A worker that rests says so in a row, and the commit of a send hands its message over to it. Whoever hands over locks the
-- row until its commit; so once an offer has been withdrawn, nothing more comes by it.
create table tuntas.offer (
  queue_id integer not null,
  owner_id bigint not null references tuntas.process on delete cascade,
  -- The channel on which its process hears what it has been given.
  mailbox text not null,
  primary key (queue_id, owner_id)
);
create index offer_owner on tuntas.offer (owner_id);
comment on table tuntas.offer is 'control: Workers that rest: a message for their queue may be handed over to them as it is sent.';

-- Held because its sender said so: its owner may not know of it yet. Null for what somebody has claimed.
alter table tuntas.in_flight add column handed_over boolean;
create index in_flight_handed_over on tuntas.in_flight (owner_id, fence) where handed_over;
