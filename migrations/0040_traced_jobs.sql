set local role knowhow_owner;

-- A job is linked with the request that has enqueued it, where that is traced: its payload holds the request's span, in the form of
-- W3C Trace Context, which the transaction brings along. The seal is over that, too.
create function app.traced(ids jsonb) returns jsonb language sql stable set search_path = pg_catalog as $$
    -- After a transaction with SET LOCAL a setting reads as '', not NULL.
    select case when coalesce(current_setting('app.trace', true), '') = '' then ids
                else ids || jsonb_build_object('trace', current_setting('app.trace', true)) end
$$;
revoke all on function app.traced(jsonb) from public;

create or replace function app.enqueue(task text, ids jsonb, subject text) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, app.traced(ids), subject);
end $$;

create or replace function app.enqueue(task text, ids jsonb, subject text, bulk boolean) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform app.enqueue_for(app.tenant_id(), app.user_id(), task, app.traced(ids), subject, bulk);
end $$;

reset role;
