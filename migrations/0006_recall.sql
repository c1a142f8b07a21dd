-- Recall: the vectors of skills, and the messages that skills were used for.
set local role knowhow_owner;

-- Vectors of skills, filled by a job. They are not in `skills`: a vector index on that table would make saves seven times slower. There is
-- one vector for each model: while a model is replaced, processes with either model find their vectors.
create table skill_embeddings (
    tenant_id uuid not null,
    user_id uuid not null,
    skill_id uuid not null,
    model text not null,
    text_digest bytea not null,
    embedding halfvec not null,
    updated_at timestamptz not null,
    primary key (tenant_id, user_id, skill_id, model),
    foreign key (tenant_id, user_id, skill_id) references skills on delete cascade
);
select app.protect('skill_embeddings');
alter table skill_embeddings alter column user_id set (n_distinct = -0.02);
-- The system looks across tenants, a page at a time, for skills without a vector of the present model, and for vectors of past models.
select app.open_to_system('skill_embeddings');
grant select, insert, update, delete on skill_embeddings to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, skill_id, model, updated_at), delete on skill_embeddings to knowhow_system;

-- Messages after which a skill was used. The example was learned in the session `session_id` and its `turn`, and last confirmed in
-- `confirmed_in` and `confirmed_turn`. Taint of the first session, and a failure in either turn, delete it. There is no foreign key to
-- sessions: an example outlives the log of its conversation. The text is kept, so that another model can embed it again. There is one
-- vector, of the model that last embedded it.
-- A counter-example is a message that a skill did not apply to. It is in the same table, so that limits, erasure, retention and vectors
-- are the same, and so that no message is both.
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
    is_counter boolean not null default false,
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

-- Turns whose message does not become an example of a skill, however often the skill is used again in the turn.
create table failed_lessons (
    tenant_id uuid not null,
    user_id uuid not null,
    session_id uuid not null,
    turn integer not null,
    skill_id uuid not null,
    -- Whether it was reported that the skill did not apply. A later success in the same turn deletes this report alone.
    inapplicable boolean not null default false,
    -- Whether there is another reason: a failure, or a message that forbids the skill or asks about it.
    failed boolean not null default true,
    primary key (tenant_id, user_id, session_id, turn, skill_id),
    foreign key (tenant_id, user_id, session_id) references sessions on delete cascade
);
select app.protect('failed_lessons');
grant select, insert, update (inapplicable, failed), delete on failed_lessons to knowhow_tenant, knowhow_admin;

-- The message of a session's last turn, cut to the length that an example can need. No row if the session is tainted or has no message
-- since then.
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
revoke all on function app.current_lesson(text, timestamptz) from public;
grant execute on function app.current_lesson(text, timestamptz) to knowhow_tenant, knowhow_admin;

reset role;
