-- A step whose handler wrote is recorded in the row of its advance: visit names the state's visit, and its result is one of
-- the row's texts, which its events show anyway. A row of its own in command said all of it a second time, with two indexes.
alter table tuntas.execution_history add column visit text;

-- What steps left so far goes before the execution's first advance, as rows without events.
with step as (
  delete from tuntas.command where scope = 'workflow' returning key, result, created_at
)
insert into tuntas.execution_history (execution_id, seq, events, visit)
select e.id, -row_number() over (partition by e.id order by s.created_at desc),
  json_build_object('id', 0, 'at', extract(epoch from s.created_at), 'texts', json_build_array(s.result), 'events', '[]'::json, 'result', 0)::text,
  substr(s.key, length(e.arn) + 2)
from step s
cross join lateral generate_series(1, length(s.key)) as slash
join tuntas.execution e on e.arn = left(s.key, slash - 1)
where substr(s.key, slash, 1) = '/';
