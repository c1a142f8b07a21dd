set local role knowhow_owner;

-- Goes up when a user's example vectors change. Apart from `revision`: with that the whole catalogue of recall is built anew,
-- and what was learned is a few vectors beside it.
alter table user_catalogs add column examples_revision bigint not null default 0;
grant update (examples_revision) on user_catalogs to knowhow_system;

-- Messages after which a skill was used. session_id and turn say where one was learned, confirmed_in and confirmed_turn where it
-- was last confirmed: taint of the first, and a failure in either, take it away. No foreign key to sessions: an example
-- outlives the log of its conversation. The text is kept so that another model can embed it anew; there is one vector, of
-- the model that was last at it.
create table skill_examples (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    example_id uuid not null,
    message text not null check (char_length(message) <= 300),
    message_digest bytea not null check (length(message_digest) = 32),
    session_id uuid,
    turn integer,
    confirmed_in uuid,
    confirmed_turn integer,
    confirmations integer not null default 1,
    model text,
    embedding halfvec,
    learned_at timestamptz not null,
    confirmed_at timestamptz not null,
    primary key (tenant_id, user_id, example_id),
    unique (tenant_id, user_id, skill_id, message_digest),
    check ((model is null) = (embedding is null)),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
create index skill_examples_of_tenant on skill_examples (tenant_id, confirmed_at);
create statistics skill_examples_of_owner (ndistinct, dependencies) on tenant_id, user_id from skill_examples;
select app.protect('skill_examples');
select app.open_to_system('skill_examples');
grant select, insert, update, delete on skill_examples to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, example_id, model, confirmed_at), delete on skill_examples to knowhow_system;

-- Turns in which a skill failed: their message does not become its example, however often it is used again in the turn.
create table failed_lessons (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    turn integer not null,
    skill_id uuid not null,
    primary key (tenant_id, user_id, session_id, turn, skill_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('failed_lessons');
grant select, insert on failed_lessons to knowhow_tenant, knowhow_admin;

-- The session that a caller names by its id or its key, the last one of that key.
create function app.find_session(session text) returns uuid language sql stable set search_path = pg_catalog, public
    return coalesce(
        (select s.session_id from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id()
           and s.session_id = (case when pg_input_is_valid(session, 'uuid') then session end)::uuid),
        (select s.session_id from sessions s
         where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.key = session
         order by s.session_id desc limit 1));

-- The message of a session's last turn, as far as an example can need it; none of a session that is tainted, or silent since
-- then.
create function app.current_lesson(session text, since timestamptz)
returns table (session_id uuid, turn integer, message text)
language sql stable set search_path = pg_catalog, public
begin atomic
    select s.session_id, s.turns, left(said.content, 2000)
    from sessions s
    cross join lateral (
        select m.content from messages m
        where m.tenant_id = app.tenant_id() and m.user_id = app.user_id() and m.session_id = s.session_id
          and m.turn = s.turns and m.speaker = 'user'
        order by m.message_id desc
        limit 1) said
    where s.tenant_id = app.tenant_id() and s.user_id = app.user_id() and s.session_id = app.find_session(session)
      and s.tainted_by = '{}' and s.last_message_at > since;
end;
revoke all on function app.find_session(text), app.current_lesson(text, timestamptz) from public;
grant execute on function app.find_session(text), app.current_lesson(text, timestamptz) to knowhow_tenant, knowhow_admin;

reset role;
