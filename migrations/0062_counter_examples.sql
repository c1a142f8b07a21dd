set local role knowhow_owner;

-- A counter-example is a message to which a skill did not apply. It lies among the examples, so that bounds, erasure, retention
-- and vectors are the same, and so that one message is never both.
alter table skill_examples add column is_counter boolean not null default false;

-- Whether the skill did not apply in that turn. A later success in the same turn takes that back, unlike a failure.
alter table failed_lessons add column inapplicable boolean not null default false;
grant update (inapplicable), delete on failed_lessons to knowhow_tenant, knowhow_admin;

reset role;
