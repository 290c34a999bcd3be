-- Work that is to be done once in a while by any one process: whoever finds it due first puts it off and does it.
create table tuntas.chore (
  name text primary key,
  due timestamptz not null
) with (fillfactor = 50);
