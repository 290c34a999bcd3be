-- How many requests a tenant may make of a service, over all its processes. Nothing is lost with it but that: after a crash of the
-- server everybody begins anew, so that it need not be in the log.
create unlogged table tuntas.request_rate (
  service text not null,
  tenant text not null,
  -- When its next request would come, had all come one by one at its rate.
  next_at timestamptz not null,
  primary key (service, tenant)
) with (fillfactor = 70);
comment on table tuntas.request_rate is 'control: When the next request of a tenant would come, had all come at its rate.';
create index request_rate_next on tuntas.request_rate (next_at);

-- Admits of each tenant as many of its requests as it may make now: `burst` at once, and then one each 1/rate seconds. It answers how
-- many those are, and in how many ms one more would be. Many requests of a process ask together; the tenants come in one order,
-- so that two processes do not wait for each other.
create function tuntas.admit(service_name text, tenants text[], asked integer[], rates float8[], bursts integer[])
  returns table (tenant text, admitted integer, again_ms float8)
  language plpgsql
  as $$
  declare
    ask record;
    apart interval;
    latest timestamptz;
    free_at timestamptz;
  begin
    for ask in select * from unnest(tenants, asked, rates, bursts) as u(name, wanted, rate, burst) order by u.name loop
      apart := make_interval(secs => 1 / ask.rate);
      insert into tuntas.request_rate values (service_name, ask.name, tuntas.now()) on conflict do nothing;
      select r.next_at into free_at from tuntas.request_rate r
        where r.service = service_name and r.tenant = ask.name for update;
      latest := tuntas.now() + (ask.burst - 1) * apart;
      -- Later than this rate ever puts it: a slower one did, which was declared before. What it is instead is written too, or it
      -- would stay as far ahead of each instant.
      free_at := least(greatest(free_at, tuntas.now()), latest + apart);
      tenant := ask.name;
      admitted := greatest(0, least(ask.wanted,
        floor(extract(epoch from latest - free_at) * ask.rate + 1e-6)::integer + 1));
      free_at := free_at + admitted * apart;
      again_ms := greatest(0, extract(epoch from free_at - latest) * 1000);
      update tuntas.request_rate r set next_at = free_at
        where r.service = service_name and r.tenant = ask.name and r.next_at <> free_at;
      return next;
    end loop;
  end
  $$;
