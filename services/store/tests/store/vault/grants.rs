//! Grants on tables and columns, and on the queue.

use super::catalogue::{assert_none, texts};
use crate::harness::Place;

/// Expected grants on tables. A migration with a new grant must add it here.
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
    knowhow_admin failed_lessons: delete, insert, select, update (inapplicable, failed)
    knowhow_admin idempotency_keys: delete, insert, select, update
    knowhow_admin issuers: delete, insert, select
    knowhow_admin judge_usage: insert, select, update
    knowhow_admin learning: insert, select, update
    knowhow_admin library_releases: select
    knowhow_admin library_scans: insert, select
    knowhow_admin library_texts: insert, select
    knowhow_admin library_vectors: select
    knowhow_admin memories: delete, insert, select, update (tainted)
    knowhow_admin memory_embeddings: delete, insert, select, update
    knowhow_admin memory_versions: delete, insert, select, update (tainted)
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
    knowhow_system console_sessions: delete, select
    knowhow_system conversation_summaries: select (tenant_id, user_id, made_at)
    knowhow_system current_snapshots: delete, select, update (rendered_at)
    knowhow_system dream_passes: select (tenant_id, user_id, pass, last_night)
    knowhow_system dream_rests: delete, select (tenant_id, user_id, key, rests_until)
    knowhow_system dream_runs: delete, select (tenant_id, user_id, run_id, state, created_at, texts_until), update (state, reason, finished_at)
    knowhow_system entities: select (tenant_id, user_id, entity_id, kind, read_by)
    knowhow_system erasures: select, update (finished_at, removed)
    knowhow_system idempotency_keys: delete, select (tenant_id, user_id, key, created_at)
    knowhow_system issuers: insert, select, update (sealed_secret)
    knowhow_system judge_usage: delete, select (tenant_id, user_id, day)
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
    knowhow_tenant console_sessions: delete, insert, select (tenant_id, user_id, secret_hash, used_at), update (used_at, reason, reason_ends_at, viewed_user)
    knowhow_tenant conversation_summaries: delete, insert, select, update
    knowhow_tenant current_snapshots: delete, insert, select, update
    knowhow_tenant directives: select
    knowhow_tenant dream_ops: insert, select, update
    knowhow_tenant dream_passes: insert, select, update
    knowhow_tenant dream_rests: insert, select, update
    knowhow_tenant dream_runs: delete, insert, select, update
    knowhow_tenant entities: delete, insert, select, update
    knowhow_tenant entity_aliases: delete, insert, select, update
    knowhow_tenant failed_lessons: delete, insert, select, update (inapplicable, failed)
    knowhow_tenant idempotency_keys: delete, insert, select, update
    knowhow_tenant judge_usage: insert, select, update
    knowhow_tenant learning: insert, select, update
    knowhow_tenant library_releases: select
    knowhow_tenant library_texts: select
    knowhow_tenant library_vectors: select
    knowhow_tenant memories: delete, insert, select, update (content, tags, importance, core, tainted, actor, approved_by, approved_at, version, updated_at)
    knowhow_tenant memory_embeddings: delete, insert, select, update
    knowhow_tenant memory_versions: delete, insert, select, update (tainted)
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

/// Expected grants on the tables of the queue. Only the worker takes the role `knowhow_queue`.
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
async fn grants_match_the_expected_list() {
    assert_grants("public", GRANTS).await;
    assert_grants("graphile_worker", QUEUE_GRANTS).await;
}

#[tokio::test]
async fn the_queue_is_open_to_the_worker_and_admins_see_their_jobs() {
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
    // The functions of the library run as their caller, who must be the worker.
    assert_none(
        "select p.oid::regprocedure::text || ' ' || r.rolname from pg_proc p, pg_roles r
         where p.pronamespace = 'graphile_worker'::regnamespace
           and (p.prosecdef or r.rolname in ('knowhow_login', 'knowhow_tenant', 'knowhow_admin', 'knowhow_system')
                               and has_function_privilege(r.oid, p.oid, 'execute'))",
    )
    .await;
}
