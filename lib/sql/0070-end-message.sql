-- The acknowledgement at the close of a handler's own transaction, whose commit is already on its way behind it: it
-- divides by zero where another owner has the message. A function, because a session of a handler plans as the handler's
-- statements are planned, and would choose to scan a table that was empty at that moment.
create function tuntas.end_message(of_queue integer, ended bigint, owned bigint) returns void
  language plpgsql set enable_seqscan = off as $$
declare
  received integer;
begin
  delete from tuntas.in_flight where queue_id = of_queue and id = ended and fence = owned
    returning receives into received;
  if not found then
    raise division_by_zero using message = 'the message belongs to another owner';
  end if;
  delete from tuntas.message where id = ended;
  if received > 1 then
    delete from tuntas.failure where id = ended;
  end if;
end $$;
