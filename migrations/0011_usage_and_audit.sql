-- The use of skills, and the audit log.
set local role knowhow_owner;

-- COUNTERS

-- Counters of skills, separate from the text and without an index: every count is a HOT update of a few bytes.
create table skill_usage (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    times_used bigint not null default 0,
    last_used_at timestamptz,
    successes bigint not null default 0,
    failures bigint not null default 0,
    partials bigint not null default 0,
    primary key (tenant_id, user_id, skill_id),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
) with (fillfactor = 80);
select app.protect('skill_usage');
alter table skill_usage alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skill_usage');
grant select, insert, update, delete on skill_usage to knowhow_tenant, knowhow_admin;
-- The text of a snapshot also depends on when skills were last used.
grant select (tenant_id, user_id, last_used_at) on skill_usage to knowhow_system;

-- Counts the offers of turns: at most one row for each skill and day, kept for 400 days as `usage_days` is. There is no foreign key to
-- skills: its check would lock the skill's row at every turn.
create table skill_offers (
    tenant_id uuid not null,
    user_id uuid not null,
    day date not null,
    skill_id uuid not null,
    offered bigint not null default 0,
    ignored bigint not null default 0,
    inapplicable bigint not null default 0,
    primary key (tenant_id, user_id, day, skill_id)
) with (fillfactor = 80);
-- Rows arrive in the order of time, so a few pages of BRIN are enough to find expired rows.
create index skill_offers_by_day on skill_offers using brin (day);
select app.protect('skill_offers');
alter table skill_offers alter column user_id set (n_distinct = -0.02);
select app.open_to_system('skill_offers');
grant select, insert, update on skill_offers to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day, skill_id), delete on skill_offers to knowhow_system;

-- Counts the questions and tokens that judging the skills of messages took of the chat model: one row for each user and day, kept for 400
-- days. There is no foreign key to users: its check would lock the user's row at every judged turn.
create table judge_usage (
    tenant_id uuid not null,
    user_id uuid not null,
    -- In UTC, so a change of the user's zone does not move it.
    day date not null,
    questions bigint not null,
    tokens bigint not null,
    primary key (tenant_id, user_id, day)
) with (fillfactor = 80);
create index judge_usage_by_day on judge_usage using brin (day);
select app.protect('judge_usage');
alter table judge_usage alter column user_id set (n_distinct = -0.02);
select app.open_to_system('judge_usage');
grant select, insert, update on judge_usage to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day), delete on judge_usage to knowhow_system;

-- USES BY MONTH

-- The uses of skills have a partition for each month. Rows are kept for 60 days at least. Then they are summed up by day, and the month's
-- partition is dropped as a whole, so that no vacuum is needed. The sums are kept for 400 days, for charts.

-- Whether one of the functions below runs, or has run in this transaction. They run as the owner. The policies apply to the owner too, and
-- give access to the rows of all users only if this is true. Another role of the service gains nothing by setting it, because the policies
-- are the owner's.
create function app.rolls_up() returns boolean language sql stable parallel safe
return coalesce(current_setting('app.rolls_up', true), '') = 'on';

-- Starts work on all users. The policies of a user's rows need a tenant: this one does not exist.
create function app.begin_rolling_up() returns void language plpgsql volatile set search_path = pg_catalog as $$
begin
    perform set_config('app.rolls_up', 'on', true),
            set_config('app.tenant_id', '00000000-0000-0000-0000-000000000000', true);
end $$;
revoke all on function app.rolls_up(), app.begin_rolling_up() from public;

-- A day's loads of a skill are one row, and each reported use is a row of at most 200 bytes: the caller's words that identify a use are
-- stored as a digest. There is no foreign key to skills: its check would lock, and so rewrite, the skill's row at every load. The deletion
-- of a skill deletes its events by key.
create table usage_events (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    version integer not null,
    kind text not null check (kind in ('view', 'used')),
    outcome text check (outcome in ('success', 'failure', 'partial')),
    day date not null,
    at timestamptz not null,
    times integer not null default 1,
    use_digest bytea not null check (length(use_digest) in (0, 16)),
    -- The time of the report of the outcome, which may be long after the use.
    outcome_at timestamptz,
    -- The uses of a skill that another one absorbed count for the successor. The skill that each use came from and its digest there, the
    -- last absorption last, so that the uses can be given back.
    via uuid[],
    via_digest bytea[],
    -- Whether the outcome was reported after the use. This distinguishes a report that adds an outcome from one that counts: Postgres
    -- returns no xmax for an insert into a partition.
    told_later boolean not null default false,
    primary key (tenant_id, user_id, day, skill_id, kind, use_digest)
) partition by range (day);
select app.protect('usage_events');
alter table usage_events alter column user_id set (n_distinct_inherited = -0.02);
create policy rolls_up on usage_events to knowhow_owner using (app.rolls_up()) with check (app.rolls_up());
grant select, insert, update, delete on usage_events to knowhow_tenant, knowhow_admin;

-- Takes the rows that have no month, so that a missing partition fails no write.
create table usage_events_default partition of usage_events default with (fillfactor = 80);
select app.protect('usage_events_default');

-- The sums of days whose rows were deleted. `via` has the skills that were absorbed, the last one last, as in usage_events. It is part of
-- the key, so that absorbed uses can be given back.
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
-- Rows arrive a month at a time, so a few pages of BRIN are enough to find expired rows.
create index usage_days_by_day on usage_days using brin (day);
select app.protect('usage_days');
alter table usage_days alter column user_id set (n_distinct = -0.02);
select app.open_to_system('usage_days');
create policy rolls_up on usage_days to knowhow_owner using (app.rolls_up()) with check (app.rolls_up());
grant select, update (skill_id, via) on usage_days to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day, skill_id, via), delete on usage_days to knowhow_system;

-- Creates the partition of a month, and moves the month's rows out of the default partition. No role has a grant on a partition: rows are
-- reached through the table alone, under its policies. A partition has the same policies.
create function app.make_partition(month date) returns void language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    named text := 'usage_events_' || to_char(month, 'YYYY_MM');
    behind date := month + interval '1 month';
begin
    -- Every load of a day updates its row in place.
    execute format('create table public.%I (like public.usage_events including defaults including constraints '
        'including indexes including storage) with (fillfactor = 80)', named);
    -- From here on no other transaction can insert into it.
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

-- Creates missing partitions of this month and the next three; returns how many. Called by the worker now and then, and by migrate. An
-- advisory lock serializes the creation and deletion of partitions. Other statements queue behind the lock of the table, so the lock
-- timeout is short.
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
        -- The process that had the lock before may have created it.
        if not exists (select from app.partitioned_months() m where m.month = wanted) then
            perform app.make_partition(wanted);
            made := made + 1;
        end if;
    end loop;
    return made;
end $$;

-- Sums up and deletes at most `most` rows of months that ended 60 days ago, of all users, from one user on. A row is counted in exactly
-- one of the two tables at any time, even after an interruption. `removed` is null if another worker runs it.
-- Tenants that live elsewhere are left out. A tenant that is being moved here is summed up at its old place, and replication copies the
-- sums. The rows of a tenant that leaves are compared with those that have arrived, and would differ if they were summed up here too.
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
          and e.tenant_id <> all (array(select x.tenant from tenants_elsewhere x))
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

-- Drops the empty partitions of months that ended 60 days ago; returns how many. Readers wait only for that moment.
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
        -- `drop table` takes this lock too. Taken first, it prevents a deadlock.
        lock table only usage_events in access exclusive mode;
        if not exists (select from usage_events e where e.day >= due.month and e.day < due.month + interval '1 month') then
            execute format('drop table %s', due.part);
            dropped := dropped + 1;
        end if;
    end loop;
    return dropped;
end $$;

-- The number of months after this one that have a partition, without a gap; and whether the default partition has rows.
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

-- THE AUDIT LOG

-- The number of days that a tenant keeps its entries: `audit_days` of its settings, by default 400. At least 30, so that a role that can
-- write settings cannot hide recent actions.
create function app.audit_days(of_tenant uuid) returns integer language sql stable set search_path = pg_catalog, public
return app.retention_days((select t.settings -> 'audit_days' from tenants t where t.tenant_id = of_tenant), 30, 400);
revoke all on function app.audit_days(uuid) from public;
grant execute on function app.audit_days(uuid) to knowhow_system;

-- Append-only: no role has UPDATE, and DELETE is only possible for expired entries. The nil user stands for the tenant as a whole.
create table audit_log (
    tenant_id uuid not null,
    user_id uuid not null,
    audit_id uuid not null,
    at timestamptz not null,
    actor text not null,
    action text not null,
    target text not null,
    detail jsonb not null default '{}',
    -- Taken from the transaction by default, so that no statement can forget them.
    request_id uuid default app.origin(1)::uuid,
    address inet default app.origin(2)::inet,
    -- Digests of the text before and after.
    before_digest bytea,
    after_digest bytea,
    -- An erasure removes the content of an entry (target, detail, request, address, digests) and stores the digest of it. So digests over
    -- the entry stay the same. The salt is removed with it: then the content cannot be found by trying.
    salt uuid default gen_random_uuid(),
    erased_digest bytea,
    primary key (tenant_id, user_id, audit_id)
);
create index audit_log_of_tenant on audit_log (tenant_id, audit_id);
select app.protect('audit_log');
alter table audit_log alter column user_id set (n_distinct = -0.02);
select app.open_to_system('audit_log');
grant insert on audit_log to knowhow_tenant, knowhow_admin, knowhow_system;
grant select on audit_log to knowhow_admin;
grant select (tenant_id, user_id, audit_id, at), delete on audit_log to knowhow_system;
-- The system may delete entries, and this policy allows it only for expired ones, by the clock of the database.
create policy past_its_time on audit_log as restrictive for delete to knowhow_system
    using (at < now() - make_interval(days => app.audit_days(tenant_id)));
-- The system role may only read the owner and the time of an entry. app.digest_entries reads entries as the owner.
create policy sealing on audit_log for select to knowhow_owner using (tenant_id = app.tenant_id());

-- The digest of an entry's content.
create function app.content_of_entry(e audit_log) returns bytea language sql stable set search_path = pg_catalog
return coalesce((e).erased_digest, sha256(convert_to(jsonb_build_array(
    (e).salt, (e).target, (e).detail, (e).request_id, host((e).address), encode((e).before_digest, 'hex'),
    encode((e).after_digest, 'hex'))::text, 'UTF8')));
revoke all on function app.content_of_entry(audit_log) from public;

-- A seal has the number and the digest of a tenant's entries after one id, up to another, and the digest of the seal before it. So a role
-- that changes, deletes or adds an entry must make every later seal again. `mac` authenticates the seal with the deployment's secret, so
-- access to the database is not enough to make one. A worker makes seals for entries that are some minutes old: a transaction that writes
-- an entry does not wait.
create table audit_seals (
    tenant_id uuid not null,
    number bigint not null check (number > 0),
    behind uuid not null,
    last_id uuid not null check (last_id > behind),
    entries integer not null check (entries > 0),
    entries_hash bytea not null,
    previous_hash bytea not null,
    seal_hash bytea not null,
    mac bytea not null,
    mac_under bytea not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    sealed_at timestamptz not null,
    primary key (tenant_id, number)
);
select app.protect('audit_seals');
select app.open_to_system('audit_seals');
grant select, insert, delete on audit_seals to knowhow_system;
-- A seal can be deleted only when all of its entries have expired.
create policy past_its_time on audit_seals as restrictive for delete to knowhow_system
    using (last_at < now() - make_interval(days => app.audit_days(tenant_id)));

-- The digest of one entry, which is the same after its content was removed.
create function app.leaf_of_entry(e audit_log) returns bytea language sql stable set search_path = pg_catalog
return sha256(convert_to(jsonb_build_array(
    (e).tenant_id, (e).user_id, (e).audit_id, extract(epoch from (e).at), (e).actor, (e).action,
    encode(app.content_of_entry(e), 'hex'))::text, 'UTF8'));

-- The digest of at most `most` entries of a tenant after one id, up to another, in the order of ids. It also returns their number, the
-- last id and their times. `unexplained` counts the entries without content whose user was not erased, and those with new content after
-- the removal, which no digest covers.
create function app.digest_entries(of_tenant uuid, behind uuid, upto uuid, most integer, out entries integer, out hash bytea,
    out last_id uuid, out first_at timestamptz, out last_at timestamptz, out unexplained integer)
language plpgsql volatile security definer set search_path = pg_catalog, public as $$
begin
    perform set_config('app.tenant_id', of_tenant::text, true);
    select count(*)::integer, sha256(coalesce(string_agg(app.leaf_of_entry(a), ''::bytea order by a.audit_id), '')),
           (array_agg(a.audit_id order by a.audit_id desc))[1], min(a.at), max(a.at),
           (count(*) filter (where a.erased_digest is not null and (
               not exists (select from erasures r where r.tenant_id = of_tenant and r.subject_id = a.user_id)
               or exists (select from users u where u.tenant_id = of_tenant and u.user_id = a.user_id and u.erased_at is null)
               or a.salt is not null or a.target <> '' or a.detail <> '{}' or a.request_id is not null or a.address is not null
               or a.before_digest is not null or a.after_digest is not null)))::integer
    into entries, hash, last_id, first_at, last_at, unexplained
    from (select l.* from audit_log l
          where l.tenant_id = of_tenant and l.audit_id > behind and l.audit_id <= upto
          order by l.audit_id limit most) a;
end $$;
revoke all on function app.leaf_of_entry(audit_log), app.digest_entries(uuid, uuid, uuid, integer) from public;
grant execute on function app.digest_entries(uuid, uuid, uuid, integer) to knowhow_system;

reset role;
