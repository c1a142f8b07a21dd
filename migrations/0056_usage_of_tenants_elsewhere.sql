set local role knowhow_owner;

-- As before (0050), but for tenants that are elsewhere. The rows of one that is on its way here are summed up where it comes from, and
-- replication brings the sums. The rows of one that leaves are compared with those that have arrived. A row that was summed up
-- here as well would make the two differ.
create or replace function app.sum_up_step(today date, most integer, inout of_tenant uuid, inout of_user uuid, out removed bigint)
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

reset role;
