-- How the scripts name users and skills.
create schema bench;
grant usage on schema bench to knowhow_login, knowhow_tenant;

create function bench.user_id(n bigint) returns uuid language sql immutable parallel safe
    return ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid;

create function bench.skill_name(k bigint) returns text language sql immutable parallel safe
    return 'skill-' || lpad(k::text, 3, '0');
