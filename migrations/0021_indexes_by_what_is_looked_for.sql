-- Indexes that begin with what is looked for. The policies say once more whose a row is, and Postgres takes that for one more
-- condition: it expects one row of any user in any table. As long as it has no statistics, an index that begins with tenant and
-- user is as good to it as the primary key, and a session or a version was looked for among all of its user's.

set local role knowhow_owner;

drop index sessions_of_key, sessions_of_snapshot, skill_versions_of_document, snapshots_by_content, skill_redirects_to;
create index sessions_of_key on sessions (key, user_id, tenant_id, session_id);
create index sessions_of_snapshot on sessions (snapshot_id, user_id, tenant_id);
create index skill_versions_of_document on skill_versions (document_digest, user_id, tenant_id);
create index snapshots_by_content on snapshots (sha256, user_id, tenant_id);
create index skill_redirects_to on skill_redirects (skill_id, user_id, tenant_id);

reset role;
