-- Indexes that are of use only to a statement that says what they begin with. Postgres also takes an index whose later columns are
-- tenant and user to look for a user's rows, and then goes through the rows of all users. In a table that is next to empty it expects
-- no more of the primary key, and the plan that it makes then is kept while the table grows. `is not null` leaves out no row that is
-- looked for, and follows from no condition but one on that column. The test of plans sees where a version of Postgres is cleverer.

-- All in one transaction, so that no lookup is ever without its index. Their tables stand still while it lasts, some seconds for a
-- million rows: nothing was released before it.
-- squawk-ignore-file require-concurrent-index-creation, require-concurrent-index-deletion

set local role knowhow_owner;

drop index sessions_of_key, sessions_of_snapshot, sessions_open_by_age, skill_versions_of_document, snapshots_by_content,
    skill_redirects_to, user_catalogs_by_related, user_catalogs_by_rules;
create index sessions_of_key on sessions (key, user_id, tenant_id, session_id) where key is not null;
create index sessions_of_snapshot on sessions (snapshot_id, user_id, tenant_id) where snapshot_id is not null;
create index sessions_open_by_age on sessions (started_at) where started_at is not null and ended_at is null;
create index skill_versions_of_document on skill_versions (document_digest, user_id, tenant_id) where document_digest is not null;
create index snapshots_by_content on snapshots (sha256, user_id, tenant_id) where sha256 is not null;
create index skill_redirects_to on skill_redirects (skill_id, user_id, tenant_id) where skill_id is not null;
create index user_catalogs_by_related on user_catalogs (related_rules) where related_rules is not null and starters_at is null;
create index user_catalogs_by_rules on user_catalogs (scanned_rules) where scanned_rules is not null and starters_at is null;

reset role;
