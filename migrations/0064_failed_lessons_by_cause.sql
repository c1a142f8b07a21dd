set local role knowhow_owner;

-- Whether anything else than a report that the skill did not apply keeps it from learning in that turn: a failure, or a message that
-- forbids it or asks about it. A later success takes back the report alone. Rows of before have one flag for both, and stay.
alter table failed_lessons add column failed boolean not null default true;
grant update (failed) on failed_lessons to knowhow_tenant, knowhow_admin;

reset role;
