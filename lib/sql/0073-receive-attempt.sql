-- A receive may be repeated while none of its messages was deleted or had its visibility changed (ReceiveMessage,
-- ReceiveRequestAttemptId): how many there were, and until when they are hidden.
alter table tuntas.fifo_receive_attempt add column messages integer, add column visible_at timestamptz;
