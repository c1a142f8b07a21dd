set local role knowhow_owner;

-- A worker does a job as the user whom its payload names. So whoever could write any payload could act as any user, and the
-- worker's own role, knowhow_queue, must be able to write rows. Therefore each job that app.enqueue_for puts into the queue
-- carries a seal over its task and payload, made with keys that no role of the service can read; a job whose seal does not fit
-- is not run. (A hash within a hash, each with a key of its own, as in HMAC; the keys are of 488 random bits each.)
create table app.seal_keys (
    is_the_only_row boolean primary key default true check (is_the_only_row),
    inner_key bytea not null,
    outer_key bytea not null
);
revoke all on app.seal_keys from public;
insert into app.seal_keys (inner_key, outer_key)
select string_agg(uuid_send(gen_random_uuid()), ''::bytea) filter (where n <= 4),
       string_agg(uuid_send(gen_random_uuid()), ''::bytea) filter (where n > 4)
from generate_series(1, 8) n;

create function app.seal_of(task text, payload jsonb) returns text language sql stable set search_path = pg_catalog as $$
    select encode(sha256(k.outer_key || sha256(k.inner_key || convert_to(task || E'\n' || (payload - 'seal')::text, 'UTF8'))),
                  'hex')
    from app.seal_keys k
$$;

-- Whether that payload was put into the queue by app.enqueue_for, for that task.
create function app.is_sealed(task text, payload jsonb) returns boolean language sql stable security definer
set search_path = pg_catalog as $$
    select coalesce(payload ->> 'seal' = app.seal_of(task, payload), false)
$$;
revoke all on function app.seal_of(text, jsonb), app.is_sealed(text, jsonb) from public;
-- The worker asks it in the statement that looks for the job's user, which is the system's.
grant execute on function app.is_sealed(text, jsonb) to knowhow_system;

-- As before (0008), with the seal.
create or replace function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text, bulk boolean)
returns void language plpgsql security definer set search_path = pg_catalog as $$
declare
    bare jsonb := ids || jsonb_build_object('tenant_id', tenant_id, 'user_id', user_id);
    whole json := (bare || jsonb_build_object('seal', app.seal_of(task, bare)))::json;
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

-- Jobs that wait already were enqueued by the version before, which is the last time that this is taken on trust.
do $$
begin
    if to_regclass('graphile_worker._private_jobs') is not null then
        update graphile_worker._private_jobs j
        set payload = (j.payload::jsonb || jsonb_build_object('seal', app.seal_of(t.identifier, j.payload::jsonb)))::json
        from graphile_worker._private_tasks t
        where t.id = j.task_id and j.payload ->> 'tenant_id' is not null;
    end if;
end $$;

-- Some of a worker's places are for what persons cause alone: there the worker sees no job behind this priority. As a policy
-- it bounds the index of waiting jobs, so that ten thousand bulk jobs cost such a place nothing.
alter function app.open_queue() rename to open_queue_by_place;
create function app.open_queue() returns void language plpgsql set search_path = pg_catalog as $$
begin
    perform app.open_queue_by_place();
    if not exists (select from pg_policies where schemaname = 'graphile_worker' and policyname = 'in_reach') then
        create policy in_reach on graphile_worker._private_jobs as restrictive for select to knowhow_queue
            using (priority <= coalesce(nullif(current_setting('app.last_priority', true), ''), '32767')::smallint);
    end if;
end $$;
revoke all on function app.open_queue() from public;

reset role;
