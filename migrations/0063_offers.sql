set local role knowhow_owner;

-- Counts what turns offered: at most one row for each skill and day, kept for 400 days as `usage_days` is. No foreign key to skills:
-- its check would lock the skill's row at every turn.
create table skill_offers (
    tenant_id uuid not null,
    user_id uuid not null,
    day date not null,
    skill_id uuid not null,
    offered bigint not null default 0,
    ignored bigint not null default 0,
    inapplicable bigint not null default 0,
    primary key (tenant_id, user_id, day, skill_id)
) with (fillfactor = 80);
-- Rows arrive in order of time, so a few pages of BRIN find what is past its time.
create index skill_offers_by_day on skill_offers using brin (day);
select app.protect('skill_offers');
select app.open_to_system('skill_offers');
alter table skill_offers alter column user_id set (n_distinct = -0.02);
grant select, insert, update on skill_offers to knowhow_tenant, knowhow_admin;
grant select (tenant_id, user_id, day, skill_id), delete on skill_offers to knowhow_system;

-- Skills that the last turn offered by name. Those that are not used until the next turn were ignored.
alter table sessions add column offered uuid[] not null default '{}';

reset role;
