-- Jobs: access to the queue, and how jobs are enqueued. The queue's tables belong to the library graphile_worker. `knowhow migrate` lets
-- the library create them, as knowhow_owner, after these migrations, and then calls app.open_queue().
set local role knowhow_owner;

create schema graphile_worker;
grant usage on schema graphile_worker to knowhow_queue, knowhow_admin, knowhow_system;

-- Grants access to the queue's tables, and creates their policies and indexes. It may be called again.
-- - A worker, as knowhow_queue, works on all jobs, and reaches no other table of the service.
-- - An admin has access to the jobs of the tenant, the system role to all jobs.
create function app.open_queue() returns void language plpgsql set search_path = pg_catalog as $$
declare
    opened record;
begin
    revoke all on all functions in schema graphile_worker from public;
    grant execute on all functions in schema graphile_worker to knowhow_queue;
    for opened in
        select *
        from (values ('migrations', 'queue', 'select', 'knowhow_queue', 'true'),
                     ('_private_tasks', 'queue', 'select, insert', 'knowhow_queue', 'true'),
                     ('_private_jobs', 'queue', 'select, insert, update, delete', 'knowhow_queue', 'true'),
                     ('_private_job_queues', 'queue', 'select, insert, update, delete', 'knowhow_queue', 'true'),
                     ('_private_job_retirements', 'queue', 'select, insert, delete', 'knowhow_queue', 'true'),
                     ('_private_known_crontabs', 'queue', 'select, insert, update', 'knowhow_queue', 'true'),
                     ('_private_workers', 'queue', 'select, insert, update, delete', 'knowhow_queue', 'true'),
                     ('migrations', 'system', 'select', 'knowhow_system', 'true'),
                     ('_private_tasks', 'system', 'select', 'knowhow_system', 'true'),
                     ('_private_jobs', 'system', 'select, update (attempts, max_attempts, run_at, updated_at), delete', 'knowhow_system',
                      'true'),
                     ('_private_tasks', 'tenant_admin', 'select', 'knowhow_admin', 'true'),
                     ('_private_jobs', 'tenant_admin', 'select, update (attempts, max_attempts, run_at, updated_at), delete', 'knowhow_admin',
                      'coalesce(payload ->> ''tenant_id'', '''') = app.tenant_id()::text')
             ) as o (relation, policy, verbs, role, rows)
    loop
        execute format('grant %s on graphile_worker.%I to %I', opened.verbs, opened.relation, opened.role);
        if not exists (select from pg_policies where schemaname = 'graphile_worker'
                       and tablename = opened.relation and policyname = opened.policy) then
            execute format('alter table graphile_worker.%I enable row level security', opened.relation);
            execute format('create policy %I on graphile_worker.%I to %I using (%s) with check (%s)',
                opened.policy, opened.relation, opened.role, opened.rows, opened.rows);
        end if;
    end loop;
    if not exists (select from pg_policies where schemaname = 'graphile_worker' and policyname = 'own') then
        -- A worker that was taken for dead may come back and finish. Then the job belongs to another worker, or was enqueued again, and
        -- the first worker must not delete it. The library does not check this.
        create policy own on graphile_worker._private_jobs as restrictive for delete to knowhow_queue
            using (locked_by = current_setting('app.worker', true));
    end if;
    if not exists (select from pg_policies where schemaname = 'graphile_worker' and policyname = 'in_reach') then
        -- Some slots of a worker are only for jobs that persons cause: there the worker sees no job of a larger priority number. As a
        -- policy this limits the scan of the index of waiting jobs, so ten thousand bulk jobs do not slow down such a slot.
        create policy in_reach on graphile_worker._private_jobs as restrictive for select to knowhow_queue
            using (priority <= coalesce(nullif(current_setting('app.last_priority', true), ''), '32767')::smallint);
    end if;
    if to_regclass('graphile_worker.jobs_of_tenant') is null then
        -- An admin's page of jobs, newest first.
        create index jobs_of_tenant on graphile_worker._private_jobs (coalesce(payload ->> 'tenant_id', ''), id);
    end if;
    if to_regclass('graphile_worker.bulk_in_line') is null then
        -- The first place of waiting bulk jobs. A job that has failed once is not included: it may wait for hours, and must keep no place
        -- meanwhile.
        create index bulk_in_line on graphile_worker._private_jobs (priority)
            where priority >= 100 and attempts = 0 and is_available = true;
    end if;
    if to_regclass('graphile_worker.waiting_of_tenant') is null then
        -- The last place of a tenant's waiting jobs, for bulk jobs and for those of persons.
        create index waiting_of_tenant on graphile_worker._private_jobs (coalesce(payload ->> 'tenant_id', ''), priority)
            where attempts = 0 and is_available = true;
    end if;
end $$;
revoke all on function app.open_queue() from public;

-- THE SEAL OF A JOB

-- A worker runs a job as the user that its payload names. So a role that could write any payload could act as any user, and the worker's
-- own role, knowhow_queue, must be able to write rows. Therefore app.enqueue_for adds a seal over task and payload, made with keys that no
-- role of the service can read. A job with a wrong seal is not run. (The seal is a hash within a hash, each with its own key, as in HMAC.
-- Each key has 488 random bits.)
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

-- Whether app.enqueue_for added this payload to the queue, for this task.
create function app.is_sealed(task text, payload jsonb) returns boolean language sql stable security definer
set search_path = pg_catalog as $$
    select coalesce(payload ->> 'seal' = app.seal_of(task, payload), false)
$$;
revoke all on function app.seal_of(text, jsonb), app.is_sealed(text, jsonb) from public;
-- The worker checks the seal in the statement that looks for the job's user, which runs as the system role.
grant execute on function app.is_sealed(text, jsonb) to knowhow_system;

-- ENQUEUING

-- Adds a job. The payload has ids only. If a job of this task about this subject waits, it gets the new ids. If one is being worked on, a
-- new job follows it.
-- There is no NOTIFY: transactions with one commit one after the other, each with its own flush (818 a second from 16 connections,
-- against 4,676 without). Workers poll instead.
-- Workers take jobs by priority, then by age. Priorities are places, so that tenants take turns:
-- - Jobs that persons cause have the places 0 to 99. The first waiting job of a tenant is at 0, each further one a place behind, and
--   those after the hundredth at 99. Otherwise a tenant that enqueues six thousand jobs would make all others wait for them.
-- - Bulk jobs, which no person waits for, have places from 100 on (self-clocked fair queueing): one behind the tenant's last bulk job, or
--   behind the first waiting bulk job if the tenant has none. So a tenant with ten jobs takes turns with one that has two thousand.
-- Nothing is locked for this: two concurrent transactions may take the same place, which does no harm. The last place is the largest
-- number of the column; jobs there run by age.
create function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text, bulk boolean)
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
            -- A person's job moves a waiting job up, and a bulk job moves none down. A dead job has no place any more.
            priority = case when j.attempts < j.max_attempts then least(j.priority, excluded.priority)
                            else excluded.priority end
        where j.locked_at is null;
    if not found then
        -- The job is being worked on, or is the first one of its task: the library's own function handles both.
        perform graphile_worker.add_job(task, whole, job_key => own_key, max_attempts => 10, priority => place);
    end if;
end $$;

-- Adds a job that a person causes.
create function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(tenant_id, user_id, task, ids, subject, false);
end $$;

-- Links a job with the request that enqueues it, if that is traced: adds the request's span, in the form of W3C Trace Context, which the
-- service sets for the transaction. The seal covers it.
create function app.traced(ids jsonb) returns jsonb language sql stable set search_path = pg_catalog as $$
    -- After a transaction with SET LOCAL a setting reads as '', not NULL.
    select case when coalesce(current_setting('app.trace', true), '') = '' then ids
                else ids || jsonb_build_object('trace', current_setting('app.trace', true)) end
$$;
revoke all on function app.traced(jsonb) from public;

-- Adds a job for the tenant and user of the transaction. So no caller can enqueue for another user, or change another user's job.
create function app.enqueue(task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, app.traced(ids), subject);
end $$;

create function app.enqueue(task text, ids jsonb, subject text, bulk boolean) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, app.traced(ids), subject, bulk);
end $$;
revoke all on function app.enqueue_for(uuid, uuid, text, jsonb, text), app.enqueue_for(uuid, uuid, text, jsonb, text, boolean),
    app.enqueue(text, jsonb, text), app.enqueue(text, jsonb, text, boolean) from public;
grant execute on function app.enqueue_for(uuid, uuid, text, jsonb, text), app.enqueue_for(uuid, uuid, text, jsonb, text, boolean)
    to knowhow_system;
grant execute on function app.enqueue(text, jsonb, text), app.enqueue(text, jsonb, text, boolean) to knowhow_tenant, knowhow_admin;

-- Does what follows a new text of a skill, in the statement that writes it. As statements of their own these steps would cost every save
-- a tenth of a millisecond, mostly to find that there is no work.
-- `its_name` is null if the text is unchanged: then no relations are read. A job replaces the vector of `kept_model`.
create function app.follow_text(of_skill uuid, its_name text, tasks text[], bulk boolean, relate_task text,
    outdates_vectors boolean, kept_model text) returns boolean
language plpgsql volatile set search_path = pg_catalog, public as $$
declare
    of_tenant constant uuid := app.tenant_id();
    of_user constant uuid := app.user_id();
begin
    if outdates_vectors then
        delete from skill_embeddings e
        where e.tenant_id = of_tenant and e.user_id = of_user and e.skill_id = of_skill
          and e.model is distinct from kept_model;
    end if;
    -- A text that mentions no other skill is still read for relations. Another text may state a relation to its name, and it may name a
    -- thing of the user.
    if its_name is not null and (
        exists (select from relation_hints h where h.tenant_id = of_tenant and h.user_id = of_user and h.to_name = its_name)
        or exists (select from entities t where t.tenant_id = of_tenant and t.user_id = of_user and t.kind <> 'skill'))
    then
        update entities t set read_by = least(t.read_by, 0) - 1
        where t.tenant_id = of_tenant and t.user_id = of_user and t.entity_id = of_skill;
        if not found then
            insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
            values (of_tenant, of_user, of_skill, 'skill', replace(its_name, '-', ' '), its_name, now())
            on conflict do nothing;
        end if;
        perform app.enqueue(relate_task, '{}', 'all', bulk);
    end if;
    perform app.enqueue(task, jsonb_build_object('skill_id', of_skill), of_skill::text, bulk) from unnest(tasks) task;
    return true;
end $$;
revoke all on function app.follow_text(uuid, text, text[], boolean, text, boolean, text) from public;
grant execute on function app.follow_text(uuid, text, text[], boolean, text, boolean, text) to knowhow_tenant;

reset role;
