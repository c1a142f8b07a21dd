-- The queue of jobs: the worker's role and the doors to the queue. Its tables are those of the library that works on
-- them; `knowhow migrate` lets it make them, as knowhow_owner, and then calls app.open_queue().
do $$
begin
    if not exists (select from pg_roles where rolname = 'knowhow_queue') then
        create role knowhow_queue nologin noinherit;
    end if;
exception when duplicate_object or unique_violation then
    null;
end $$;

do $$
begin
    perform pg_advisory_xact_lock(hashtext('knowhow roles'));
    grant knowhow_queue to knowhow_login with inherit false, set true;
end $$;

set local role knowhow_owner;

create schema graphile_worker;
grant usage on schema graphile_worker to knowhow_queue, knowhow_admin, knowhow_system;

-- Who may do what with the queue's tables. The worker, knowhow_queue, works on all jobs and reaches no other table of the
-- service; an admin sees the jobs of the tenant, the system role also those of no tenant. Calling it again is harmless.
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
        -- A worker that was taken for dead may come back and be done: the job is another's by now, or there for a later
        -- cause, and not its own to remove. The library does not ask.
        create policy own on graphile_worker._private_jobs as restrictive for delete to knowhow_queue
            using (locked_by = current_setting('app.worker', true));
    end if;
    if to_regclass('graphile_worker.jobs_of_tenant') is null then
        -- An admin's page of jobs, newest first.
        create index jobs_of_tenant on graphile_worker._private_jobs (coalesce(payload ->> 'tenant_id', ''), id);
    end if;
end $$;
revoke all on function app.open_queue() from public;

-- The way into the queue. The payload is ids alone. Where a job of this task about this subject waits, it is that one,
-- with the new ids; where one is being worked on, a fresh one follows it.
-- It does not NOTIFY: transactions that do commit one after the other, each with its own flush (818 a second from 16
-- connections, against 4,676 without). Workers look by themselves.
create function app.enqueue_for(tenant_id uuid, user_id uuid, task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
    whole json := (ids || jsonb_build_object('tenant_id', tenant_id, 'user_id', user_id))::json;
    own_key text := concat_ws(':', tenant_id, user_id, task, subject);
begin
    insert into graphile_worker._private_jobs as j (task_id, payload, max_attempts, key)
    select t.id, whole, 10, own_key from graphile_worker._private_tasks t where t.identifier = task
    on conflict (key) do update
        set payload = excluded.payload, run_at = excluded.run_at, attempts = 0, max_attempts = excluded.max_attempts,
            last_error = null, revision = j.revision + 1, updated_at = excluded.updated_at
        where j.locked_at is null;
    if not found then
        -- Being worked on, or the first of its task: the library's own way.
        perform graphile_worker.add_job(task, whole, job_key => own_key, max_attempts => 10);
    end if;
end $$;

-- The same from a caller's transaction: whose the job is, is what the transaction is. Nobody can enqueue for another, nor
-- touch another's key.
create function app.enqueue(task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, ids, subject);
end $$;
revoke all on function app.enqueue_for(uuid, uuid, text, jsonb, text), app.enqueue(text, jsonb, text) from public;
grant execute on function app.enqueue_for(uuid, uuid, text, jsonb, text) to knowhow_system;
grant execute on function app.enqueue(text, jsonb, text) to knowhow_tenant, knowhow_admin;

-- Which skills have no vector of the present model is asked over all tenants, a page at a time.
select app.open_to_system('skills'), app.open_to_system('skill_embeddings');
grant select (tenant_id, user_id, skill_id) on skills to knowhow_system;
grant select (tenant_id, user_id, skill_id, model) on skill_embeddings to knowhow_system;

reset role;
