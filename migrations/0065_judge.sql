set local role knowhow_owner;

-- Counts what judging the skills of messages took of the chat model: one row for each user and day, kept for 400 days. No foreign key
-- to users: its check would lock the user's row at every judged turn.
create table judge_usage (
    tenant_id uuid not null,
    user_id uuid not null,
    -- In UTC, which no change of the user's zone moves.
    day date not null,
    questions bigint not null,
    tokens bigint not null,
    primary key (tenant_id, user_id, day)
) with (fillfactor = 80);
-- Rows arrive in order of time, so a few pages of BRIN find what is past its time.
create index judge_usage_by_day on judge_usage using brin (day);
select app.protect('judge_usage');
select app.open_to_system('judge_usage');
alter table judge_usage alter column user_id set (n_distinct = -0.02);
grant select, insert, update on judge_usage to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day), delete on judge_usage to knowhow_system;

reset role;
