set local role knowhow_owner;

-- What users do with skills, by month. Rows are kept for 60 days at least; then they are summed up by day, and the month's partition is
-- dropped whole, so that nothing is left to vacuum. The sums are kept for 400 days, for charts.

-- WHO MAY LOOK OVER ALL USERS

-- Whether one of the functions below runs, or has run in this transaction. The policies are forced upon the owner too, as which these functions run, and admit nobody
-- to the rows of all users but them. A role of the service gains nothing by setting it: the policies that ask are the owner's.
create function app.rolls_up() returns boolean language sql stable parallel safe
return coalesce(current_setting('app.rolls_up', true), '') = 'on';

-- The policies of one user's rows ask for a tenant: nobody's.
create function app.begin_rolling_up() returns void language plpgsql volatile set search_path = pg_catalog as $$
begin
    perform set_config('app.rolls_up', 'on', true),
            set_config('app.tenant_id', '00000000-0000-0000-0000-000000000000', true);
end $$;
revoke all on function app.rolls_up(), app.begin_rolling_up() from public;

-- SUMS OF DAYS

-- Of days whose rows are gone. `via`: the skills that another one absorbed on the way here, the last one last, as in usage_events; part
-- of the key, so that what was absorbed can be given back.
create table usage_days (
    tenant_id uuid not null,
    user_id uuid not null,
    day date not null,
    skill_id uuid not null,
    via uuid[] not null default '{}',
    times bigint not null,
    successes bigint not null,
    failures bigint not null,
    partials bigint not null,
    primary key (tenant_id, user_id, day, skill_id, via)
);
-- Rows come a month at a time, so a few pages of BRIN find what is past its time.
create index usage_days_by_day on usage_days using brin (day);
select app.protect('usage_days');
select app.open_to_system('usage_days');
alter table usage_days alter column user_id set (n_distinct = -0.02);
create policy rolls_up on usage_days to knowhow_owner using (app.rolls_up()) with check (app.rolls_up());
grant select, update (skill_id, via) on usage_days to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day, skill_id, via), delete on usage_days to knowhow_system;

-- THE TABLE, IN PARTS

alter table usage_events no force row level security;
alter table usage_events rename to usage_events_whole;
alter table usage_events_whole rename constraint usage_events_pkey to usage_events_whole_pkey;
drop statistics usage_events_of_owner, usage_events_owner;
create table usage_events (
    like usage_events_whole including defaults including constraints including storage,
    -- The outcome came after the use. So a report that adds one is told from one that counts: of a partition, Postgres shows
    -- whoever inserts no xmax.
    told_later boolean not null default false,
    primary key (tenant_id, user_id, day, skill_id, kind, use_digest)
) partition by range (day);
select app.protect('usage_events');
alter table usage_events alter column user_id set (n_distinct_inherited = -0.02);
create policy rolls_up on usage_events to knowhow_owner using (app.rolls_up()) with check (app.rolls_up());
grant select, insert, update, delete on usage_events to knowhow_tenant, knowhow_admin;

-- Catches what has no month, so that no write is refused for want of one.
create table usage_events_default partition of usage_events default with (fillfactor = 80);
select app.protect('usage_events_default');

-- Makes the partition of a month, and takes over what was caught of it. Nobody has a grant on a partition: rows are reached through
-- the table alone, under its policies; a partition has the same ones.
create function app.make_partition(month date) returns void language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    named text := 'usage_events_' || to_char(month, 'YYYY_MM');
    behind date := month + interval '1 month';
begin
    -- Every load of a day changes its row in place.
    execute format('create table public.%I (like public.usage_events including defaults including constraints '
        'including indexes including storage) with (fillfactor = 80)', named);
    -- Nobody adds to it from here on.
    lock table public.usage_events_default in access exclusive mode;
    execute format('with caught as (delete from public.usage_events where day >= %L and day < %L returning *) '
        'insert into public.%I select * from caught', month, behind, named);
    execute format('alter table public.usage_events attach partition public.%I for values from (%L) to (%L)', named, month, behind);
    perform app.protect(format('public.%I', named)::regclass);
    execute format('alter table public.%I alter column user_id set (n_distinct = -0.02)', named);
end $$;

-- The months that have a partition.
create function app.partitioned_months(out month date, out part regclass) returns setof record language sql stable
set search_path = pg_catalog as $$
    select to_date(right(c.relname, 7), 'YYYY_MM'), c.oid::regclass
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'public.usage_events'::regclass and c.relname ~ '^usage_events_[0-9]{4}_[0-9]{2}$'
    order by 1
$$;

-- Sees to it that this month and the three after it have a partition; how many were made. The worker asks now and then, and migrate.
-- One at a time makes or drops partitions; who waits for a table is in the way of all who come behind, so not for long.
create function app.ensure_partitions(today date default (now() at time zone 'UTC')::date) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
declare
    wanted date;
    made integer := 0;
begin
    perform app.begin_rolling_up();
    for ahead in 0..3 loop
        wanted := (date_trunc('month', today::timestamp) + make_interval(months => ahead))::date;
        continue when exists (select from app.partitioned_months() m where m.month = wanted);
        if made = 0 then
            perform pg_advisory_xact_lock(hashtextextended('knowhow.usage_events', 0));
            perform set_config('lock_timeout', '1s', true);
        end if;
        -- Whoever had the lock before may have made it.
        if not exists (select from app.partitioned_months() m where m.month = wanted) then
            perform app.make_partition(wanted);
            made := made + 1;
        end if;
    end loop;
    return made;
end $$;

-- Sums up at most so many rows of months that ended 60 days ago, of all users, from one user on, and takes them away. A row is
-- counted in one of the two tables at any time, whatever happens half way. `removed` is null where another worker is at it.
create function app.sum_up_step(today date, most integer, inout of_tenant uuid, inout of_user uuid, out removed bigint)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
declare
    before constant date := date_trunc('month', (today - 60)::timestamp)::date;
begin
    perform app.begin_rolling_up();
    if not pg_try_advisory_xact_lock(hashtextextended('knowhow.usage_events', 0)) then
        return;
    end if;
    with due as materialized (
        select e.tableoid as part, e.ctid as place, e.tenant_id, e.user_id from usage_events e
        where e.day < before and (e.tenant_id, e.user_id) >= (of_tenant, of_user)
        order by e.tenant_id, e.user_id
        limit most
    ), gone as (
        delete from usage_events e using due
        where e.day < before and e.tenant_id = due.tenant_id and e.user_id = due.user_id
          and e.tableoid = due.part and e.ctid = due.place
        returning e.*
    ), summed as (
        insert into usage_days as d (tenant_id, user_id, day, skill_id, via, times, successes, failures, partials)
        select g.tenant_id, g.user_id, g.day, g.skill_id, coalesce(g.via, '{}'), sum(g.times),
               count(*) filter (where g.outcome = 'success'), count(*) filter (where g.outcome = 'failure'),
               count(*) filter (where g.outcome = 'partial')
        from gone g
        group by g.tenant_id, g.user_id, g.day, g.skill_id, coalesce(g.via, '{}')
        on conflict (tenant_id, user_id, day, skill_id, via) do update
        set times = d.times + excluded.times, successes = d.successes + excluded.successes,
            failures = d.failures + excluded.failures, partials = d.partials + excluded.partials
    )
    select (select count(*) from gone), l.tenant_id, l.user_id into removed, of_tenant, of_user
    from (select 1) one
    left join (select tenant_id, user_id from due order by tenant_id desc, user_id desc limit 1) l on true;
end $$;

-- Drops the partitions of months that ended 60 days ago, where nothing is in them any more; how many. Readers wait for that moment alone.
create function app.drop_partitions(today date) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
declare
    before constant date := date_trunc('month', (today - 60)::timestamp)::date;
    due record;
    dropped integer := 0;
begin
    perform app.begin_rolling_up();
    if not exists (select from app.partitioned_months() m where m.month < before)
       or not pg_try_advisory_xact_lock(hashtextextended('knowhow.usage_events', 0)) then
        return 0;
    end if;
    perform set_config('lock_timeout', '1s', true);
    for due in select m.month, m.part from app.partitioned_months() m where m.month < before loop
        -- As dropping it does, so that nobody holds the one and waits for the other.
        lock table only usage_events in access exclusive mode;
        if not exists (select from usage_events e where e.day >= due.month and e.day < due.month + interval '1 month') then
            execute format('drop table %s', due.part);
            dropped := dropped + 1;
        end if;
    end loop;
    return dropped;
end $$;

-- How many months after this one have a partition, without a gap; and whether the default one has caught anything.
create function app.look_at_partitions(today date, out months_ahead integer, out has_caught boolean)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
begin
    perform app.begin_rolling_up();
    months_ahead := 0;
    while exists (
        select from app.partitioned_months() m
        where m.month = date_trunc('month', today::timestamp) + make_interval(months => months_ahead + 1))
    loop
        months_ahead := months_ahead + 1;
    end loop;
    has_caught := exists (select from usage_events e where e.tableoid = 'usage_events_default'::regclass);
end $$;
revoke all on function app.make_partition(date), app.partitioned_months(), app.ensure_partitions(date),
    app.sum_up_step(date, integer, uuid, uuid), app.drop_partitions(date), app.look_at_partitions(date) from public;
grant execute on function app.ensure_partitions(date), app.sum_up_step(date, integer, uuid, uuid), app.drop_partitions(date),
    app.look_at_partitions(date) to knowhow_system;

-- WHAT THERE IS

-- Of the months that rows are of, at most 15 back; what is older is caught. The first round of clearing up sums up what is due.
select app.begin_rolling_up();
do $$
declare
    month date;
begin
    for month in
        select distinct date_trunc('month', day::timestamp)::date from usage_events_whole
        where day > now() - interval '15 months' and day < now() + interval '3 months'
        order by 1
    loop
        perform app.make_partition(month);
    end loop;
end $$;
select app.ensure_partitions();
alter table usage_events no force row level security;
insert into usage_events select * from usage_events_whole;
alter table usage_events force row level security;
drop table usage_events_whole;
analyze usage_events;

reset role;
