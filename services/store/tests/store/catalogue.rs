//! What `pg_catalog` says about the schema: every table behind the same wall, every key in the tenant's order, every
//! grant on one page.

use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::harness::Place;
use crate::matrix::{OPEN_TO_SYSTEM, SHARED};

/// Who may do what with which table. A new grant is written here, knowingly.
const GRANTS: &str = "
    knowhow_admin api_keys: insert, select, update (expires_at, revoked_at, rotated_at, first_expires_at)
    knowhow_admin archived_skills: delete, insert, select, update (purge_at)
    knowhow_admin audit_log: insert, select
    knowhow_admin builtin_releases: select
    knowhow_admin builtin_texts: select
    knowhow_admin builtin_vectors: select
    knowhow_admin conversation_summaries: delete, insert, select, update
    knowhow_admin current_snapshots: delete, insert, select, update
    knowhow_admin directives: delete, insert, select, update (in_force)
    knowhow_admin dream_ops: insert, select, update
    knowhow_admin dream_passes: insert, select, update
    knowhow_admin dream_rests: insert, select, update
    knowhow_admin dream_runs: delete, insert, select, update
    knowhow_admin erasures: insert, select
    knowhow_admin failed_lessons: delete, insert, select, update (inapplicable)
    knowhow_admin idempotency_keys: delete, insert, select, update
    knowhow_admin issuers: delete, insert, select
    knowhow_admin learning: insert, select, update
    knowhow_admin library_releases: select
    knowhow_admin library_scans: select
    knowhow_admin library_texts: insert, select
    knowhow_admin library_vectors: select
    knowhow_admin memories: delete, insert, select, update (tainted)
    knowhow_admin memory_embeddings: delete, insert, select, update
    knowhow_admin messages: insert, select
    knowhow_admin session_feedback: insert, select
    knowhow_admin session_texts: insert, select
    knowhow_admin sessions: delete, insert, select, update
    knowhow_admin skill_embeddings: delete, insert, select, update
    knowhow_admin skill_examples: delete, insert, select, update
    knowhow_admin skill_files: delete, insert, select, update
    knowhow_admin skill_offers: insert, select, update
    knowhow_admin skill_redirects: delete, insert, select, update
    knowhow_admin skill_resources: delete, insert, select
    knowhow_admin skill_scans: delete, insert, select, update
    knowhow_admin skill_states: select
    knowhow_admin skill_usage: delete, insert, select, update
    knowhow_admin skill_versions: delete, insert, select, update (tainted, tainted_in, tainted_by, approved_by, approved_at)
    knowhow_admin skills: delete, insert, select, update
    knowhow_admin snapshots: delete, insert, select
    knowhow_admin souls: delete, insert, select, update (tainted)
    knowhow_admin starter_installs: insert, select, update
    knowhow_admin starter_releases: select
    knowhow_admin starter_texts: select
    knowhow_admin starter_vectors: select
    knowhow_admin submission_files: delete, insert, select
    knowhow_admin submissions: insert, select, update
    knowhow_admin tainted_passages: delete, insert, select
    knowhow_admin tenants: select, update (user_count, library, erasures)
    knowhow_admin turns: insert, select
    knowhow_admin usage_days: select, update (skill_id, via)
    knowhow_admin usage_events: delete, insert, select, update
    knowhow_admin user_catalogs: select, update
    knowhow_admin users: select, update (external_id, held_at, hold_reason, erased_at, suspended_at, suspended_reason)
    knowhow_admin webhooks: delete, insert, select, update
    knowhow_system _sqlx_migrations: select
    knowhow_system api_keys: delete, insert, select, update (secret_hash, last_used_at, hashed_under)
    knowhow_system archived_skills: delete, select (tenant_id, user_id, archive_id, skill_id, purge_at, bytes)
    knowhow_system audit_log: delete, insert, select (tenant_id, user_id, audit_id, at)
    knowhow_system audit_seals: delete, insert, select
    knowhow_system builtin_releases: insert, select
    knowhow_system builtin_texts: insert, select
    knowhow_system builtin_vectors: insert, select
    knowhow_system conversation_summaries: select (tenant_id, user_id, made_at)
    knowhow_system current_snapshots: delete, select, update (rendered_at)
    knowhow_system dream_passes: select (tenant_id, user_id, pass, last_night)
    knowhow_system dream_rests: delete, select (tenant_id, user_id, key, rests_until)
    knowhow_system dream_runs: delete, select (tenant_id, user_id, run_id, state, created_at, texts_until), update (state, reason, finished_at)
    knowhow_system entities: select (tenant_id, user_id, entity_id, kind, read_by)
    knowhow_system erasures: select, update (finished_at, removed)
    knowhow_system idempotency_keys: delete, select (tenant_id, user_id, key, created_at)
    knowhow_system issuers: insert, select, update (sealed_secret)
    knowhow_system learning: select (tenant_id, user_id, time_zone)
    knowhow_system library_releases: insert, select
    knowhow_system library_scans: insert, select, update
    knowhow_system library_texts: select (tenant_id, starter_id, name, version, description, triggers, document)
    knowhow_system library_vectors: insert, select
    knowhow_system memories: select (tenant_id, user_id, memory_id)
    knowhow_system memory_embeddings: delete, select (tenant_id, user_id, memory_id, model, updated_at)
    knowhow_system processes: delete, insert, select, update (seen_at)
    knowhow_system reconciliations: insert, select, update
    knowhow_system reflections: delete, select (tenant_id, user_id, reflection_id, cadence, period, state, tries, calls, created_at, finished_at, texts_until), update (calls)
    knowhow_system sessions: delete, select (tenant_id, user_id, session_id, channel, snapshot_id, started_at, last_message_at, ended_at), update (ended_at)
    knowhow_system skill_embeddings: delete, select (tenant_id, user_id, skill_id, model, updated_at)
    knowhow_system skill_examples: delete, select (tenant_id, user_id, example_id, model, confirmed_at)
    knowhow_system skill_files: delete, select
    knowhow_system skill_offers: delete, select (tenant_id, user_id, day, skill_id)
    knowhow_system skill_resources: delete, select (tenant_id, user_id, digest, bytes)
    knowhow_system skill_scans: select (tenant_id, user_id, skill_id, digest)
    knowhow_system skill_usage: select (tenant_id, user_id, last_used_at)
    knowhow_system skill_versions: delete, select (tenant_id, user_id, skill_id, version, document_digest, resources, bytes)
    knowhow_system skills: select (tenant_id, user_id, skill_id, digest, starter_id, lacks, made_by, enrich_tries)
    knowhow_system snapshots: delete, select (tenant_id, user_id, snapshot_id, created_at)
    knowhow_system submission_files: delete, select (tenant_id, user_id, submission_id)
    knowhow_system submissions: delete, select (tenant_id, user_id, submission_id, state, created_at, expires_at), update (state, document, resources, decided_at, expires_at)
    knowhow_system tenants: insert, select, update
    knowhow_system tenants_elsewhere: select
    knowhow_system usage_days: delete, select (tenant_id, user_id, day, skill_id, via)
    knowhow_system user_catalogs: insert, select, update (revision, examples_revision, stored_bytes)
    knowhow_system users: insert, select
    knowhow_system webhooks: select, update (sealed_secret, previous_sealed_secret, delivered_at, failed_at, failures, last_error)
    knowhow_tenant archived_skills: delete, insert, select (tenant_id, user_id, archive_id, skill_id, purge_at, version, bytes), update (purge_at)
    knowhow_tenant audit_log: insert
    knowhow_tenant builtin_releases: select
    knowhow_tenant builtin_texts: select
    knowhow_tenant builtin_vectors: select
    knowhow_tenant conversation_summaries: delete, insert, select, update
    knowhow_tenant current_snapshots: delete, insert, select, update
    knowhow_tenant directives: select
    knowhow_tenant dream_ops: insert, select, update
    knowhow_tenant dream_passes: insert, select, update
    knowhow_tenant dream_rests: insert, select, update
    knowhow_tenant dream_runs: delete, insert, select, update
    knowhow_tenant entities: delete, insert, select, update
    knowhow_tenant entity_aliases: delete, insert, select, update
    knowhow_tenant failed_lessons: delete, insert, select, update (inapplicable)
    knowhow_tenant idempotency_keys: delete, insert, select, update
    knowhow_tenant learning: insert, select, update
    knowhow_tenant library_releases: select
    knowhow_tenant library_texts: select
    knowhow_tenant library_vectors: select
    knowhow_tenant memories: delete, insert, select, update (tainted, approved_by, approved_at)
    knowhow_tenant memory_embeddings: delete, insert, select, update
    knowhow_tenant mentions: delete, insert, select
    knowhow_tenant messages: insert, select
    knowhow_tenant pending_mentions: delete, insert, select
    knowhow_tenant reflections: insert, select, update
    knowhow_tenant relation_hints: delete, insert, select, update
    knowhow_tenant relations: delete, insert, select, update
    knowhow_tenant session_feedback: insert, select
    knowhow_tenant session_judgements: select
    knowhow_tenant session_texts: insert, select
    knowhow_tenant session_vectors: insert, select, update
    knowhow_tenant sessions: delete, insert, select, update
    knowhow_tenant skill_embeddings: delete, insert, select, update
    knowhow_tenant skill_examples: delete, insert, select, update
    knowhow_tenant skill_files: delete, insert, select, update
    knowhow_tenant skill_mentions: delete, insert, select
    knowhow_tenant skill_offers: insert, select, update
    knowhow_tenant skill_redirects: delete, insert, select, update
    knowhow_tenant skill_resources: delete, insert, select
    knowhow_tenant skill_scans: delete, insert, select, update
    knowhow_tenant skill_states: select
    knowhow_tenant skill_usage: delete, insert, select, update
    knowhow_tenant skill_versions: delete, insert, select, update (tainted, tainted_in, tainted_by, approved_by, approved_at)
    knowhow_tenant skills: delete, insert, select, update
    knowhow_tenant snapshots: delete, insert, select
    knowhow_tenant souls: delete, insert, select, update (tainted, approved_by, approved_at)
    knowhow_tenant starter_installs: delete, insert, select, update
    knowhow_tenant starter_releases: select
    knowhow_tenant starter_texts: select
    knowhow_tenant starter_vectors: select
    knowhow_tenant submission_files: delete, insert, select
    knowhow_tenant submissions: insert, select, update
    knowhow_tenant tainted_passages: delete, insert, select
    knowhow_tenant trusted_relations: select
    knowhow_tenant turns: insert, select
    knowhow_tenant usage_days: select, update (skill_id, via)
    knowhow_tenant usage_events: delete, insert, select, update
    knowhow_tenant user_catalogs: select, update
    knowhow_tenant users: select
    knowhow_tenant webhooks: select (tenant_id)
";

/// Who may do what with the queue's tables; the worker alone takes the role knowhow_queue.
const QUEUE_GRANTS: &str = "
    knowhow_admin _private_jobs: delete, select, update (run_at, attempts, max_attempts, updated_at)
    knowhow_admin _private_tasks: select
    knowhow_queue _private_job_queues: delete, insert, select, update
    knowhow_queue _private_job_retirements: delete, insert, select
    knowhow_queue _private_jobs: delete, insert, select, update
    knowhow_queue _private_known_crontabs: insert, select, update
    knowhow_queue _private_tasks: insert, select
    knowhow_queue _private_workers: delete, insert, select, update
    knowhow_queue migrations: select
    knowhow_system _private_jobs: delete, select, update (run_at, attempts, max_attempts, updated_at)
    knowhow_system _private_tasks: select
    knowhow_system migrations: select
";

/// Functions that run as their owner, and why that is no way around the policies.
const DEFINER_FUNCTIONS: &[(&str, &str)] = &[
    (
        "app.digest_entries(uuid,uuid,uuid,integer)",
        "the system role alone may call it; it tells digests and counts of what that role may count itself",
    ),
    (
        "app.drop_partitions(date)",
        "the system role alone may call it; it drops months that are empty and were over 60 days before a day, and says how many",
    ),
    ("app.enqueue(text,jsonb,text)", "its job is the running transaction's own tenant's and user's"),
    ("app.enqueue(text,jsonb,text,boolean)", "the same"),
    (
        "app.enqueue_for(uuid,uuid,text,jsonb,text)",
        "the system role alone may call it; it adds a job and shows nothing",
    ),
    ("app.enqueue_for(uuid,uuid,text,jsonb,text,boolean)", "the same"),
    ("app.ensure_partitions(date)", "the system role alone may call it; it makes tables that nobody has a grant on"),
    ("app.erase_step(uuid,uuid,integer)", "the system role alone may call it; it removes rows of whom the ledger says"),
    ("app.is_sealed(text,jsonb)", "the system role alone may call it; it says yes or no of what its caller shows"),
    ("app.look_at_partitions(date)", "the system role alone may call it; it tells how many months there are"),
    ("app.require_here()", "it tells whether the running transaction's own tenant lives here"),
    ("app.shown_actor(text)", "it tells the name of a user of the running tenant to who shows that user's id"),
    ("app.shown_user(text)", "the same"),
    (
        "app.sum_up_step(date,integer,uuid,uuid)",
        "the system role alone may call it; it sums up rows of each user by itself and tells how many, and whose were the last",
    ),
    ("app.tables_to_take()", "an admin may call it; it tells names of tables"),
];

/// What the owner, as which the functions above run, may see of the rows of users; beside the one form of policies.
const OF_OWNER: &[(&str, &str)] = &[
    ("audit_log", "sealing SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
    ("erasures", "ledger SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
    ("usage_days", "rolls_up ALL {knowhow_owner} using app.rolls_up() check app.rolls_up()"),
    ("usage_events", "rolls_up ALL {knowhow_owner} using app.rolls_up() check app.rolls_up()"),
    ("users", "names SELECT {knowhow_owner} using (tenant_id = app.tenant_id())"),
];

/// Tables without rows of a tenant, and why that is right.
const WITHOUT_TENANT: &[(&str, &str)] = &[
    ("_sqlx_migrations", "the schema is one for all"),
    ("builtin_releases", "which starters the binary brought"),
    ("builtin_texts", "the built-in skills, which everybody has in the binary; no tenant's role can write them"),
    ("builtin_vectors", "vectors of the built-in skills; no tenant's role can write them"),
    ("processes", "which processes run, for all tenants together; no tenant's role can read them"),
    ("reconciliations", "what was repaired of the graph of all tenants together; no tenant's role can read them"),
    (
        "tenants_elsewhere",
        "which tenants live at another place; it does not go along with one, and no tenant's role can read it",
    ),
];

/// Views. Each runs as its caller, so that the policies of its tables hold.
const VIEWS: &[&str] = &[
    "session_judgements",
    "skill_states",
    "starter_releases",
    "starter_texts",
    "starter_vectors",
    "trusted_relations",
];

/// Unique indexes that do not start with the owner's keys, and why that is no oracle.
const OTHER_UNIQUES: &[(&str, &str)] = &[
    ("tenants_slug_key", "operators name tenants; no tenant's role can write here"),
    ("users_tenant_id_external_id_key", "users are made by the system role alone, within their tenant"),
];

/// Everything that a query answers, one text a row.
async fn texts(conn: &mut PgConnection, sql: &str) -> Vec<String> {
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(conn).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
    rows.iter().map(|row| row.get(0)).collect()
}

/// Asserts that a query for violations finds none.
async fn assert_none(sql: &str) {
    let found = texts(&mut Place::shared().await.owner().await, sql).await;
    assert_eq!(found, Vec::<String>::new());
}

/// The tables of the schema that have a `tenant_id`, with whether they have a `user_id`.
const TENANT_TABLES: &str = "
    with tenant_tables as (
        select c.oid, c.relname::text as name, c.relrowsecurity, c.relforcerowsecurity,
               exists (select from pg_attribute a
                       where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped) as of_users
        from pg_class c
        join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id' and not t.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    ), keys as (
        select i.indexrelid, i.indrelid, i.indisprimary, i.indisunique,
               array(select a.attname::text from unnest(i.indkey::smallint[]) with ordinality k (attnum, at)
                     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                     order by k.at) as columns
        from pg_index i
    )";

#[tokio::test]
async fn every_table_has_a_tenant_and_forced_row_level_security() {
    let sql = "select c.relname::text from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'f')
          and not exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id')
        order by 1";
    let expected: Vec<&str> = WITHOUT_TENANT.iter().map(|(table, _)| *table).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, expected);
    assert!(WITHOUT_TENANT.iter().all(|(_, reason)| !reason.is_empty()));
    assert_none(&format!(
        "{TENANT_TABLES} select name from tenant_tables where not (relrowsecurity and relforcerowsecurity)"
    ))
    .await;
}

#[tokio::test]
async fn every_table_has_the_one_form_of_policies() {
    let owner = "(tenant_id = app.tenant_id()) AND (user_id = app.user_id())";
    let tenant = "(tenant_id = app.tenant_id())";
    let of_users = format!(
        "owner ALL {{knowhow_admin,knowhow_tenant}} using (({owner})) check (({owner})); tenant_admin SELECT {{knowhow_admin}} using ({tenant})"
    );
    let of_tenant = format!("tenant_admin ALL {{knowhow_admin}} using ({tenant}) check ({tenant})");
    let of_tenant_shared = format!("shared SELECT {{knowhow_tenant}} using ({tenant}); {of_tenant}");
    assert!(SHARED.iter().all(|(_, reason)| !reason.is_empty()));
    let sql = format!(
        "{TENANT_TABLES}
        select t.name, t.of_users, coalesce(string_agg(
            p.policyname || ' ' || p.cmd || ' ' || (select array_agg(r order by r) from unnest(p.roles) r)::text
                || ' using (' || p.qual || ')' || coalesce(' check (' || p.with_check || ')', ''),
            '; ' order by p.policyname) filter (where p.permissive = 'PERMISSIVE'), '') as policies
        from tenant_tables t
        left join pg_policies p on p.schemaname = 'public' and p.tablename = t.name and p.policyname <> 'system'
            and p.roles <> array['knowhow_owner']::name[]
        group by t.name, t.of_users"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut Place::shared().await.owner().await).await.unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let name = row.get::<&str, _>(0);
        let is_shared = SHARED.iter().any(|(table, _)| *table == name);
        let expected = match row.get::<bool, _>(1) {
            true => &of_users,
            false if is_shared => &of_tenant_shared,
            false => &of_tenant,
        };
        // Postgres prints one pair of parentheses around each expression of its own accord.
        let policies = row.get::<String, _>(2);
        assert_eq!(policies.replace("((", "(").replace("))", ")"), expected.replace("((", "(").replace("))", ")"));
    }
}

/// Nobody can take the owner's role but the functions that run as it.
#[tokio::test]
async fn the_owner_sees_of_users_what_its_functions_need() {
    let sql = "select tablename || ': ' || policyname || ' ' || cmd || ' ' || roles::text || ' using ' || qual
                   || coalesce(' check ' || with_check, '')
        from pg_policies where schemaname = 'public' and 'knowhow_owner' = any (roles) and policyname <> 'erasure' order by 1";
    let expected: Vec<String> = OF_OWNER.iter().map(|(table, policy)| format!("{table}: {policy}")).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, expected);
    let of_one = "((tenant_id = app.tenant_id()) AND (user_id = app.erased_user()))";
    assert_none(&format!(
        "{TENANT_TABLES} select t.name from tenant_tables t
        where t.of_users and not exists (
            select from pg_policies p where p.schemaname = 'public' and p.tablename = t.name and p.policyname = 'erasure'
            and p.cmd = 'ALL' and p.roles = array['knowhow_owner']::name[] and p.qual = '{of_one}' and p.with_check = p.qual)"
    ))
    .await;
}

#[tokio::test]
async fn only_these_tables_are_open_to_statements_across_tenants() {
    let sql = "select tablename::text from pg_policies
        where schemaname = 'public' and permissive = 'PERMISSIVE' and (policyname = 'system' or 'knowhow_system' = any (roles) or 'public' = any (roles))
        order by 1";
    let mut open: Vec<&str> = OPEN_TO_SYSTEM.iter().map(|(table, _)| *table).collect();
    open.sort_unstable();
    assert_eq!(texts(&mut Place::shared().await.owner().await, sql).await, open);
    assert!(OPEN_TO_SYSTEM.iter().all(|(_, reason)| !reason.is_empty()));
}

#[tokio::test]
async fn every_key_starts_with_the_tenant_and_the_user() {
    let other: Vec<String> = OTHER_UNIQUES.iter().map(|(index, _)| format!("'{index}'")).collect();
    assert_none(&format!(
        "{TENANT_TABLES}
        select k.indexrelid::regclass::text || ' ' || k.columns::text
        from keys k join tenant_tables t on t.oid = k.indrelid
        where k.indisunique and k.indexrelid::regclass::text not in ({})
          and (k.columns[1] <> 'tenant_id' or (t.of_users and k.columns[2] is distinct from 'user_id'))",
        other.join(", ")
    ))
    .await;
    assert_none(&format!(
        "{TENANT_TABLES} select name from tenant_tables t
        where not exists (select from keys k where k.indrelid = t.oid and k.indisprimary)"
    ))
    .await;
}

#[tokio::test]
async fn every_foreign_key_carries_the_tenant_and_the_user() {
    assert_none(&format!(
        "{TENANT_TABLES}, foreign_keys as (
            select f.conname::text as name, f.conrelid, f.confrelid, f.confdeltype,
                   array(select a.attname::text from unnest(f.conkey) with ordinality k (attnum, at)
                         join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.attnum order by k.at) as mine,
                   array(select a.attname::text from unnest(f.confkey) with ordinality k (attnum, at)
                         join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.attnum order by k.at) as theirs
            from pg_constraint f where f.contype = 'f'
        )
        select f.name || ' ' || f.mine::text || ' ' || f.theirs::text
        from foreign_keys f
        join tenant_tables t on t.oid = f.confrelid
        where f.mine[1] <> 'tenant_id' or f.theirs[1] <> 'tenant_id'
           or (t.of_users and (f.mine[2] is distinct from 'user_id' or f.theirs[2] is distinct from 'user_id'))"
    ))
    .await;
}

async fn assert_grants(schema: &str, expected: &str) {
    let sql = "
        with grants as (
            select a.grantee, c.relname, lower(a.privilege_type) as privilege, a.is_grantable
            from pg_class c, lateral aclexplode(c.relacl) a
            where c.relnamespace = 'public'::regnamespace and a.grantee <> c.relowner
            union all
            select a.grantee, c.relname,
                   lower(a.privilege_type) || ' (' || string_agg(t.attname, ', ' order by t.attnum) || ')',
                   bool_or(a.is_grantable)
            from pg_class c
            join pg_attribute t on t.attrelid = c.oid, lateral aclexplode(t.attacl) a
            where c.relnamespace = 'public'::regnamespace and a.grantee <> c.relowner
            group by a.grantee, c.relname, a.privilege_type
        )
        select case grantee when 0 then 'PUBLIC' else grantee::regrole::text end || ' ' || relname || ': '
               || string_agg(privilege || case when is_grantable then ' WITH GRANT OPTION' else '' end, ', '
                             order by privilege)
        from grants
        group by grantee, relname
        order by 1";
    let sql = sql.replace("'public'::regnamespace", &format!("'{schema}'::regnamespace"));
    let grants = texts(&mut Place::shared().await.owner().await, &sql).await;
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(grants, expected, "\n{}\n", grants.join("\n"));
}

#[tokio::test]
async fn grants_are_exactly_these() {
    assert_grants("public", GRANTS).await;
    assert_grants("graphile_worker", QUEUE_GRANTS).await;
}

#[tokio::test]
async fn the_queue_is_open_to_the_worker_and_shows_an_admin_the_jobs_of_the_tenant() {
    let everywhere = "
        select c.relname::text from pg_class c
        where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r' and not c.relrowsecurity";
    assert_none(everywhere).await;
    let policies = "
        select tablename || ' ' || policyname || ' ' || roles::text || ' ' || qual || ' ' || coalesce(with_check, cmd)
        from pg_policies
        where schemaname = 'graphile_worker' and policyname <> 'queue' order by 1";
    let own = "(COALESCE((payload ->> 'tenant_id'::text), ''::text) = (app.tenant_id())::text)";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, policies).await,
        [
            "_private_jobs in_reach {knowhow_queue} (priority <= (COALESCE(NULLIF(current_setting('app.last_priority'::text, \
             true), ''::text), '32767'::text))::smallint) SELECT"
                .to_owned(),
            "_private_jobs own {knowhow_queue} (locked_by = current_setting('app.worker'::text, true)) DELETE"
                .to_owned(),
            "_private_jobs system {knowhow_system} true true".to_owned(),
            format!("_private_jobs tenant_admin {{knowhow_admin}} {own} {own}"),
            "_private_tasks system {knowhow_system} true true".to_owned(),
            "_private_tasks tenant_admin {knowhow_admin} true true".to_owned(),
            "migrations system {knowhow_system} true true".to_owned(),
        ]
    );
    // What the library's functions do they do as their caller, who must be the worker.
    assert_none(
        "select p.oid::regprocedure::text || ' ' || r.rolname from pg_proc p, pg_roles r
         where p.pronamespace = 'graphile_worker'::regnamespace
           and (p.prosecdef or r.rolname in ('knowhow_login', 'knowhow_tenant', 'knowhow_admin', 'knowhow_system')
                               and has_function_privilege(r.oid, p.oid, 'execute'))",
    )
    .await;
}

#[tokio::test]
async fn schemas_are_open_to_the_roles_of_the_service_alone() {
    let schemas = "
        select n.nspname || ' ' || case a.grantee when 0 then 'PUBLIC' else a.grantee::regrole::text end || ': '
               || string_agg(lower(a.privilege_type), ', ' order by a.privilege_type)
        from pg_namespace n, lateral aclexplode(n.nspacl) a
        where n.nspname in ('public', 'app', 'graphile_worker') and a.grantee <> n.nspowner
          -- Another test's, at this moment.
          and not exists (select from pg_roles r where r.oid = a.grantee and r.rolname like 'knowhow_test_%')
        group by n.nspname, a.grantee
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, schemas).await,
        [
            "app knowhow_admin: usage",
            "app knowhow_login: usage",
            "app knowhow_system: usage",
            "app knowhow_tenant: usage",
            "graphile_worker knowhow_admin: usage",
            "graphile_worker knowhow_queue: usage",
            "graphile_worker knowhow_system: usage",
            "public PUBLIC: usage",
            "public knowhow_admin: usage",
            "public knowhow_login: usage",
            "public knowhow_owner: create, usage",
            "public knowhow_system: usage",
            "public knowhow_tenant: usage",
        ]
    );
}

#[tokio::test]
async fn functions_are_open_to_the_roles_of_the_service_alone() {
    let functions = "
        select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = 'app'::regnamespace
          and has_function_privilege('knowhow_tenant', p.oid, 'execute')
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, functions).await,
        [
            "app.added_passages(uuid,integer,integer)",
            "app.admit(boolean,boolean)",
            "app.clear_deleted(uuid,uuid,timestamp with time zone,integer)",
            "app.current_lesson(text,timestamp with time zone)",
            "app.enqueue(text,jsonb,text)",
            "app.enqueue(text,jsonb,text,boolean)",
            "app.find_session(text)",
            "app.find_taint(text[])",
            "app.follow_text(uuid,text,text[],boolean,text,boolean,text)",
            "app.forget_versions(uuid,uuid,uuid[],integer[])",
            "app.has_tainted(bigint[])",
            "app.is_tainted(text)",
            "app.keep_passages(bigint[],uuid,integer)",
            "app.mark_copies(timestamp with time zone)",
            "app.mark_if_copied(uuid,timestamp with time zone)",
            "app.mark_session(uuid,text[],timestamp with time zone)",
            "app.mark_skill(uuid)",
            "app.mark_submissions(uuid)",
            "app.merge_some(text[],text[])",
            "app.most_compared()",
            "app.no_context()",
            "app.open_rows(text)",
            "app.origin(integer)",
            "app.passage(bytea)",
            "app.passages(bytea)",
            "app.put_back(jsonb,text)",
            "app.require_here()",
            "app.require_written(uuid)",
            "app.shown_actor(text)",
            "app.shown_user(text)",
            "app.spread_in_skill(uuid)",
            "app.submitted_passages(uuid)",
            "app.tenant_id()",
            "app.user_id()",
            "app.weigh(text[],boolean,text[],text[],bytea[],bytea[],bytea,bytea[],uuid,integer)",
            "app.zone(text)",
        ]
    );
    let of_system = functions.replace("'knowhow_tenant'", "'knowhow_system'");
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, &of_system).await,
        [
            "app.audit_days(uuid)",
            "app.clear_deleted(uuid,uuid,timestamp with time zone,integer)",
            "app.digest_entries(uuid,uuid,uuid,integer)",
            "app.drop_partitions(date)",
            "app.enqueue_for(uuid,uuid,text,jsonb,text)",
            "app.enqueue_for(uuid,uuid,text,jsonb,text,boolean)",
            "app.ensure_partitions(date)",
            "app.erase_step(uuid,uuid,integer)",
            "app.flag_setting(jsonb,boolean)",
            "app.forget_versions(uuid,uuid,uuid[],integer[])",
            "app.is_reflected(text,integer,timestamp with time zone,timestamp with time zone)",
            "app.is_sealed(text,jsonb)",
            "app.look_at_partitions(date)",
            "app.no_context()",
            "app.origin(integer)",
            "app.require_here()",
            "app.retention_days(jsonb,integer,integer)",
            "app.sum_up_step(date,integer,uuid,uuid)",
            "app.tenant_id()",
            "app.user_id()",
            "app.whole_setting(jsonb,integer,integer)",
            "app.zone(text)",
        ]
    );
}

#[tokio::test]
async fn no_way_leads_around_the_policies() {
    // Views and materialized views run as their owner. Partitions have policies of their own, which the tests above compare; rows are
    // reached through their table alone.
    let parts = "select inhrelid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where c.relkind = 'r' and (i.inhparent <> 'usage_events'::regclass or c.relacl is distinct from null
            and exists (select from aclexplode(c.relacl) a where a.grantee <> c.relowner))";
    assert_none(parts).await;
    let views = "select c.relname::text from pg_class c
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'v' and 'security_invoker=true' = any (c.reloptions)
         order by 1";
    assert_eq!(texts(&mut Place::shared().await.owner().await, views).await, VIEWS);
    assert_none(
        "select c.relname || ' ' || c.relkind::text from pg_class c
         where c.relnamespace in ('public'::regnamespace, 'app'::regnamespace)
           and (c.relkind in ('v', 'm', 'f') or c.relkind = 'p' and c.relname <> 'usage_events')
           and not (c.relkind = 'v' and 'security_invoker=true' = any (coalesce(c.reloptions, '{}')))
           and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')",
    )
    .await;
    assert_none(
        "select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace in ('public'::regnamespace, 'app'::regnamespace)
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
           -- A body of standard SQL was resolved when the function was made.
           and p.prosqlbody is null
           and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')",
    )
    .await;
    let definers = "select p.oid::regprocedure::text from pg_proc p
         where p.prosecdef and p.pronamespace in ('public'::regnamespace, 'app'::regnamespace)
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') order by 1";
    let excused: Vec<&str> = DEFINER_FUNCTIONS.iter().map(|(function, _)| *function).collect();
    assert_eq!(texts(&mut Place::shared().await.owner().await, definers).await, excused);
    assert!(DEFINER_FUNCTIONS.iter().all(|(_, reason)| !reason.is_empty()));
    assert_none(
        "select t.tgname::text from pg_trigger t join pg_class c on c.oid = t.tgrelid
         where c.relnamespace = 'public'::regnamespace and not t.tgisinternal",
    )
    .await;
    assert_none("select evtname::text from pg_event_trigger").await;
}

#[tokio::test]
async fn the_roles_can_do_nothing_but_what_is_granted() {
    let roles = "
        select rolname || concat(
            case when rolcanlogin then ' login' end, case when rolinherit then ' inherit' end,
            case when rolsuper then ' superuser' end, case when rolbypassrls then ' bypassrls' end,
            case when rolcreaterole then ' createrole' end, case when rolcreatedb then ' createdb' end,
            case when rolreplication then ' replication' end)
        from pg_roles where rolname in ('knowhow_owner', 'knowhow_login', 'knowhow_tenant', 'knowhow_admin', 'knowhow_system',
                                            'knowhow_queue')
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, roles).await,
        ["knowhow_admin", "knowhow_login login", "knowhow_owner", "knowhow_queue", "knowhow_system", "knowhow_tenant"]
    );
    // Each migration of a database of this server grants them too, so they may be there more than once.
    let memberships = "
        select distinct m.member::regrole::text || ' in ' || m.roleid::regrole::text
               || concat(case when m.inherit_option then ' inherit' end, case when m.set_option then ' set' end,
                         case when m.admin_option then ' admin' end)
        from pg_auth_members m
        where m.member in ('knowhow_owner'::regrole, 'knowhow_login'::regrole, 'knowhow_tenant'::regrole,
                           'knowhow_admin'::regrole, 'knowhow_system'::regrole, 'knowhow_queue'::regrole)
        order by 1";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, memberships).await,
        [
            "knowhow_login in knowhow_admin set",
            "knowhow_login in knowhow_queue set",
            "knowhow_login in knowhow_system set",
            "knowhow_login in knowhow_tenant set"
        ]
    );
    let timeout = "select unnest(setconfig) from pg_db_role_setting where setrole = 'knowhow_login'::regrole";
    assert_eq!(
        texts(&mut Place::shared().await.owner().await, timeout).await,
        ["idle_in_transaction_session_timeout=10s"]
    );
}

#[tokio::test]
async fn everything_belongs_to_the_owner_role() {
    assert_none(
        "select c.relname::text from pg_class c
         where c.relnamespace in ('public'::regnamespace, 'app'::regnamespace, 'graphile_worker'::regnamespace)
           and c.relkind in ('r', 'S', 'v')
           and c.relname <> '_sqlx_migrations' and c.relowner <> 'knowhow_owner'::regrole
         union all
         select p.oid::regprocedure::text from pg_proc p
         where p.pronamespace = 'app'::regnamespace and p.proowner <> 'knowhow_owner'::regrole",
    )
    .await;
}
