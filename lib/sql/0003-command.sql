-- Command records: the key of a mutation, the hash of its request and its stored result, written in the mutation's
-- own transaction. A repeat finds the row and gets the first result; another request under the key is a conflict.
create table tuntas.command (
  scope text not null,
  key text not null,
  request_hash text not null,
  result text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (scope, key)
);
create index command_expires on tuntas.command (expires_at);
