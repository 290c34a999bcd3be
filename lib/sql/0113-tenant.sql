-- Limits a tenant. A tenant's messages are a group of a standard queue. How many of them are held is counted where they lie, so that
-- a death or a lost answer leaves nothing behind that would be counted still; here is only what no message says.
create table tuntas.tenant (
  queue_id integer not null,
  tenant text not null,
  -- When its next message would be given out, had all come one by one at its rate; null where it has none.
  next_at timestamptz,
  -- Failures in a row. From its worker's number on the tenant stands still until open_until, and then has one message at a time.
  failures integer not null default 0,
  open_until timestamptz,
  changed_at timestamptz not null,
  primary key (queue_id, tenant)
) with (fillfactor = 70);
comment on table tuntas.tenant is 'control: What limits a tenant of a queue besides the messages of its that are held: its rate, its circuit breaker.';

-- The limits that a worker declares, as JSON, for whoever asks why a message waits.
alter table tuntas.consumer add column tenants text;

-- The tenant that the last claim came to: the next goes on behind it.
alter table tuntas.fair_turn add column tenant text;

-- Claims up to n messages of a standard queue within the limits of each tenant, whoever claims: one of each tenant in turn, from the
-- one on at which the claim before it ended, and more of each where there are fewer tenants than n. It steps from tenant to tenant along the index and
-- never looks at what a tenant at its limit has waiting. Claims of one queue take turns, so that what the one before it took is
-- counted. names has the tenants with limits of their own; its first element is null, and means all others.
-- The last row of the answer has no message, but says in how many ms it is worth another look.
create function tuntas.claim_tenants(
  queue integer, n integer, owner bigint, new_fence bigint, strays boolean,
  names text[], caps integer[], rates float8[], failures_max integer)
  returns table (fate text, dead_letter_id integer, held tuntas.in_flight, on_trial boolean, again_ms float8)
  language plpgsql
  -- In the order of the index, however little the planner believes to be there.
  set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
  as $$
  declare
    visits_max constant integer := 1000;
    q tuntas.queue;
    state tuntas.tenant;
    dead_letter integer;
    this_tenant text;
    own integer;
    cap integer;
    may integer;
    due integer;
    slack interval;
    free_at timestamptz;
    again_at timestamptz;
    visits integer := 0;
    begun text;
    reached text;
    wrapped boolean;
    tenants text[] := '{}';
    shares integer[] := '{}';
    trials text[] := '{}';
    chosen tid[] := '{}';
    more tid[];
    places integer;
  begin
    select * into q from tuntas.queue x where x.id = queue for no key update;
    begun := coalesce((select f.tenant from tuntas.fair_turn f where f.queue_id = queue), '');
    reached := begun;
    wrapped := begun = '';
    select d.id into dead_letter from tuntas.queue d
      where d.account = q.account and d.region = q.region and d.name = q.dead_letter_name;
    if strays then
      chosen := array(select r.ctid from tuntas.ready r where r.queue_id = queue and coalesce(r.group_id, '') = '' order by r.turn, r.id limit n);
    end if;
    places := n - cardinality(chosen);

    while cardinality(tenants) < places and visits < visits_max loop
      select r.group_id into this_tenant from tuntas.ready r
        where r.queue_id = queue and r.group_id > reached order by r.group_id limit 1;
      if not found then
        exit when wrapped;
        wrapped := true;
        reached := '';
        continue;
      end if;
      exit when wrapped and begun <> '' and this_tenant > begun;
      visits := visits + 1;
      reached := this_tenant;
      own := coalesce(array_position(names, this_tenant), 1);
      cap := caps[own];
      may := places;
      state := null;
      if failures_max is not null or rates[own] is not null then
        select * into state from tuntas.tenant t where t.queue_id = queue and t.tenant = this_tenant;
      end if;
      if state.failures >= failures_max then
        if state.open_until > tuntas.now() then
          again_at := least(again_at, state.open_until);
          continue;
        end if;
        cap := 1;
      end if;
      if cap is not null then
        select cap - count(*) into may from (
          select from tuntas.in_flight f where f.queue_id = queue and f.group_id = this_tenant limit cap) f;
        continue when may <= 0;
      end if;
      if rates[own] is not null then
        -- A tenth of a second's worth at once, so that fast tenants need not be looked at for each message.
        slack := make_interval(secs => greatest(0, 0.1 - 1 / rates[own]));
        -- Later than this rate ever puts it: a slower one did, which was declared before, and it begins anew.
        free_at := greatest(state.next_at, tuntas.now());
        if free_at > tuntas.now() + slack + make_interval(secs => 1 / rates[own] + 0.001) then
          free_at := tuntas.now();
        end if;
        if free_at > tuntas.now() + slack then
          again_at := least(again_at, free_at - slack);
          continue;
        end if;
        due := floor(extract(epoch from tuntas.now() + slack - free_at) * rates[own] + 1e-6)::integer + 1;
        -- What waits behind these comes when it is due, and not when one of them has ended.
        if due < may then
          may := due;
          again_at := least(again_at, free_at + make_interval(secs => due / rates[own]) - slack);
        end if;
      end if;
      tenants := tenants || this_tenant;
      shares := shares || least(may, places);
      if state.failures > 0 then
        trials := trials || this_tenant;
      end if;
    end loop;
    -- Not all were seen: whoever asks goes on from there.
    if visits = visits_max and cardinality(tenants) < places then
      again_at := tuntas.now();
    end if;

    select array_agg(o.place), coalesce((array_agg(o.tenant))[count(*)], reached) into more, reached from (
      select c.place, u.tenant from unnest(tenants, shares) with ordinality as u(tenant, share, rank)
        cross join lateral (
          select r.ctid as place, row_number() over (order by r.turn, r.id) as lap from tuntas.ready r
          where r.queue_id = queue and r.group_id = u.tenant order by r.turn, r.id
          limit case when cardinality(tenants) < places then u.share else 1 end) c
      order by c.lap, u.rank limit places) o;
    chosen := chosen || more;

    return query
    with picked as (
      delete from tuntas.ready x where x.ctid = any(array(
        select r.ctid from tuntas.ready r where r.ctid = any(chosen) for update skip locked))
      returning x.*
    ), sorted as (
      select p.*, case
        when p.sent_at < tuntas.now() - make_interval(secs => q.retention_seconds) then 'expired'
        when dead_letter is not null and p.receives >= q.receives_max then 'dead' end as ending
      from picked p
    ), expired as (
      delete from tuntas.message m where m.id = any(array(select s.id from sorted s where s.ending = 'expired'))
    ), forgotten as (
      delete from tuntas.failure x where x.id = any(array(select s.id from sorted s where s.ending = 'expired'))
    ), dead as (
      insert into tuntas.ready (queue_id, turn, id, receives, sent_at, first_received_at, group_id, source_queue_id)
      select dead_letter, tuntas.next_turn(dead_letter, s.group_id), s.id, s.receives, s.sent_at, s.first_received_at, s.group_id, queue
      from sorted s where s.ending = 'dead'
    ), taken as (
      insert into tuntas.in_flight as f (queue_id, id, fence, owner_id, claimed_at, turn, receives, sent_at, first_received_at,
        group_id, source_queue_id)
      select queue, s.id, new_fence, owner, tuntas.now(), s.turn, s.receives + 1, s.sent_at,
        coalesce(s.first_received_at, tuntas.now()), s.group_id, s.source_queue_id
      from sorted s where s.ending is null
      returning f as message, f.group_id
    ), spent as (
      insert into tuntas.tenant as t (queue_id, tenant, next_at, changed_at)
      select queue, k.group_id, tuntas.now() + make_interval(secs => count(*) / rates[coalesce(array_position(names, k.group_id), 1)]),
        tuntas.now()
      from taken k where k.group_id is not null and rates[coalesce(array_position(names, k.group_id), 1)] is not null
      group by k.group_id order by k.group_id
      on conflict on constraint tenant_pkey do update
        set next_at = case when t.next_at between tuntas.now() and tuntas.now() + make_interval(
            secs => greatest(0.1, 1 / rates[coalesce(array_position(names, t.tenant), 1)]) + 0.001) then t.next_at else tuntas.now() end
            + (excluded.next_at - tuntas.now()),
          changed_at = tuntas.now()
    ), advanced as (
      insert into tuntas.fair_turn as f (queue_id, turn, tenant)
      select queue, coalesce(max(p.turn), 0), reached from picked p having count(*) > 0 or visits = visits_max
      on conflict on constraint fair_turn_pkey do update set turn = greatest(f.turn, excluded.turn), tenant = excluded.tenant
    )
    select null::text, null::integer, k.message, coalesce(k.group_id = any(trials), false), null::float8 from taken k
    union all
    select s.ending, dead_letter, null, false, null from sorted s where s.ending is not null;

    fate := 'next';
    held := null;
    again_ms := extract(epoch from again_at - tuntas.now()) * 1000;
    return next;
  end
  $$;
