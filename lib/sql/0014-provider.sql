-- What all processes share about a provider: whether it is left alone after failures, and how many calls may be made.
create table tuntas.provider (
  name text primary key,
  -- Left alone until then; passed and not null: one of all may try whether it is back.
  open_until timestamptz,
  -- How often in a row it was found to be down; each time it is left alone longer.
  openings integer not null default 0,
  -- Calls that may be made at once, as of tokens_at; below zero: calls that were given out ahead of their time.
  tokens float8,
  tokens_at timestamptz
) with (fillfactor = 50);
