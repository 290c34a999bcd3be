-- What a service's scaling rule came to last, with all that it was asked with, as JSON: for people, who want to know why
-- there are as many instances as there are.
alter table tuntas.service
  add column decision text,
  add column decided_at timestamptz;
