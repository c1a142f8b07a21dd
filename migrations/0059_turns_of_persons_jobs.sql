set local role knowhow_owner;

-- Jobs that persons cause went by age alone, so whoever caused six thousand had everybody else wait for all of them. They have
-- places now, 0 to 99: the first one that waits of a tenant is at 0, each next one a place further back, and those behind the
-- hundredth at 99. Of one place the oldest goes first, so tenants take turns.

-- As before (0015), with the place of what is not bulk.
create or replace function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text, bulk boolean)
returns void language plpgsql security definer set search_path = pg_catalog as $$
declare
    bare jsonb := ids || jsonb_build_object('tenant_id', tenant_id, 'user_id', user_id);
    whole json := (bare || jsonb_build_object('seal', app.seal_of(task, bare)))::json;
    own_key text := concat_ws(':', tenant_id, user_id, task, subject);
    first_place smallint := case when bulk then 100 else 0 end;
    last_place smallint := case when bulk then 32767 else 99 end;
    own_last smallint := (select max(j.priority) from graphile_worker._private_jobs j
                          where coalesce(j.payload ->> 'tenant_id', '') = coalesce(whole ->> 'tenant_id', '')
                            and j.priority between first_place and last_place and j.attempts = 0 and j.is_available = true);
    place smallint;
begin
    if bulk then
        place := least(last_place, 1 + greatest(
            first_place,
            (select min(j.priority) from graphile_worker._private_jobs j
             where j.priority >= 100 and j.attempts = 0 and j.is_available = true),
            own_last));
    else
        place := least(last_place, coalesce(1 + own_last, first_place));
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

-- One index says where the line of a tenant ends, that of bulk and that of persons.
create or replace function app.open_queue_by_place() returns void language plpgsql set search_path = pg_catalog as $$
begin
    perform app.admit_to_queue();
    if to_regclass('graphile_worker.bulk_in_line') is null then
        -- Where the line of bulk jobs begins. What failed once is no part of it: it may wait for hours, and holds nobody's place
        -- meanwhile.
        create index bulk_in_line on graphile_worker._private_jobs (priority)
            where priority >= 100 and attempts = 0 and is_available = true;
    end if;
    if to_regclass('graphile_worker.waiting_of_tenant') is null then
        create index waiting_of_tenant on graphile_worker._private_jobs (coalesce(payload ->> 'tenant_id', ''), priority)
            where attempts = 0 and is_available = true;
    end if;
    if to_regclass('graphile_worker.bulk_of_tenant') is not null then
        drop index graphile_worker.bulk_of_tenant;
    end if;
end $$;

reset role;
