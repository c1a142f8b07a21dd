set local role knowhow_owner;

-- Who may do what with the queue's tables is one thing, by what its jobs are found another; both are done after each of
-- the library's own migrations.
alter function app.open_queue() rename to admit_to_queue;

create function app.open_queue() returns void language plpgsql set search_path = pg_catalog as $$
begin
    perform app.admit_to_queue();
    if to_regclass('graphile_worker.bulk_in_line') is null then
        -- Where the line of bulk jobs begins, and where that of one tenant ends. What failed once is no part of it: it may
        -- wait for hours, and holds nobody's place meanwhile.
        create index bulk_in_line on graphile_worker._private_jobs (priority)
            where priority >= 100 and attempts = 0 and is_available = true;
        create index bulk_of_tenant on graphile_worker._private_jobs (coalesce(payload ->> 'tenant_id', ''), priority)
            where priority >= 100 and attempts = 0 and is_available = true;
    end if;
end $$;
revoke all on function app.open_queue() from public;

-- As before, and for bulk: what nobody waits for. Workers take jobs by priority, then by age. What a person causes has
-- priority 0. Bulk stands from 100 on, in a line where tenants take turns (self-clocked fair queueing): a job's place is one
-- behind the tenant's last, or behind the head of the line where the tenant has none in it. So whoever comes with ten jobs
-- while another has two thousand there is served in turn with them. Nothing is locked for it: two transactions at once may
-- take the same place, which does no harm. The last place there is, is the column's largest number; there, jobs go by age.
create function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text, bulk boolean) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
    whole json := (ids || jsonb_build_object('tenant_id', tenant_id, 'user_id', user_id))::json;
    own_key text := concat_ws(':', tenant_id, user_id, task, subject);
    place smallint := 0;
begin
    if bulk then
        place := least(32767, 1 + greatest(
            100,
            (select min(j.priority) from graphile_worker._private_jobs j
             where j.priority >= 100 and j.attempts = 0 and j.is_available = true),
            (select max(j.priority) from graphile_worker._private_jobs j
             where coalesce(j.payload ->> 'tenant_id', '') = coalesce(whole ->> 'tenant_id', '')
               and j.priority >= 100 and j.attempts = 0 and j.is_available = true)));
    end if;
    insert into graphile_worker._private_jobs as j (task_id, payload, max_attempts, key, priority)
    select t.id, whole, 10, own_key, place from graphile_worker._private_tasks t where t.identifier = task
    on conflict (key) do update
        set payload = excluded.payload, run_at = excluded.run_at, attempts = 0, max_attempts = excluded.max_attempts,
            last_error = null, revision = j.revision + 1, updated_at = excluded.updated_at,
            -- A person's cause moves a waiting job up; bulk moves none down. A dead one has no place any more.
            priority = case when j.attempts < j.max_attempts then least(j.priority, excluded.priority)
                            else excluded.priority end
        where j.locked_at is null;
    if not found then
        -- Being worked on, or the first of its task: the library's own way.
        perform graphile_worker.add_job(task, whole, job_key => own_key, max_attempts => 10, priority => place);
    end if;
end $$;

create function app.enqueue(task text, ids jsonb, subject text, bulk boolean) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, ids, subject, bulk);
end $$;

-- Those that do not say: processes of the version before, and what one person causes.
create or replace function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(tenant_id, user_id, task, ids, subject, false);
end $$;

revoke all on function app.enqueue_for(uuid, uuid, text, jsonb, text, boolean), app.enqueue(text, jsonb, text, boolean)
    from public;
grant execute on function app.enqueue_for(uuid, uuid, text, jsonb, text, boolean) to knowhow_system;
grant execute on function app.enqueue(text, jsonb, text, boolean) to knowhow_tenant, knowhow_admin;

reset role;
