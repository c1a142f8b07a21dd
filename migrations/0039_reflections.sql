-- Reflections: what is told of a user's days, weeks and months.
set local role knowhow_owner;

create table reflections (
    tenant_id uuid not null,
    user_id uuid not null,
    reflection_id uuid not null,
    cadence text not null check (cadence in ('daily', 'weekly', 'monthly')),
    -- The first day of what it tells of, where the user is.
    period date not null,
    state text not null check (state in ('queued', 'made', 'quiet', 'skipped', 'failed')),
    reason text,
    -- What it is kept as: a memory of what is to be trusted, and one of what is not.
    memory_ids uuid[] not null default '{}',
    -- The conversations that it was made of, by itself or by those below it: of a day, none of them is told of again.
    session_ids uuid[] not null default '{}',
    -- The run of what it proposes to do.
    run_id uuid,
    -- Answers of a model that were of no use.
    tries integer not null default 0,
    tokens bigint not null default 0,
    -- What a chat model was asked and answered.
    calls jsonb not null default '[]',
    created_at timestamptz not null,
    finished_at timestamptz,
    -- Questions and answers are kept as long as the archive.
    texts_until timestamptz not null,
    primary key (tenant_id, user_id, reflection_id),
    foreign key (tenant_id, user_id) references users
);
create unique index reflections_of_period on reflections (tenant_id, user_id, cadence, period);
create index reflections_by_texts on reflections (texts_until) where calls <> '[]';
create index reflections_by_age on reflections (created_at);
select app.protect('reflections');
-- Users gather rows: plans must suit those who have many.
alter table reflections alter column user_id set (n_distinct = -0.02);
select app.open_to_system('reflections');
grant select, insert, update on reflections to knowhow_tenant;
grant select (tenant_id, user_id, reflection_id, cadence, period, state, tries, calls, created_at, finished_at, texts_until), delete,
    update (calls) on reflections to knowhow_system;

-- The time zone of this name, or UTC where Postgres knows none: nobody's day may fail for a name.
create function app.zone(name text) returns text language plpgsql stable parallel safe set search_path = pg_catalog as $$
begin
    perform now() at time zone name;
    return coalesce(name, 'UTC');
exception when invalid_parameter_value then
    return 'UTC';
end $$;
revoke all on function app.zone(text) from public;
grant execute on function app.zone(text) to knowhow_tenant, knowhow_system;

-- Whether a period is done with. What somebody asked for before its time, and was quiet or skipped then, is not.
create function app.is_reflected(state text, tries integer, finished_at timestamptz, due_at timestamptz) returns boolean
language sql immutable parallel safe set search_path = pg_catalog
return case state when 'made' then true when 'failed' then tries >= 3 when 'queued' then false else finished_at >= due_at end;
revoke all on function app.is_reflected(text, integer, timestamptz, timestamptz) from public;
grant execute on function app.is_reflected(text, integer, timestamptz, timestamptz) to knowhow_system;

reset role;
