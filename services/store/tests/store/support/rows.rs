//! One row of every tenant table for an owner, in the order of the foreign keys. A migration that adds a table adds
//! its row here, and the isolation matrix reports a missing one.

use knowhow_domain::new_id;
use sqlx::{AssertSqlSafe, Executor, PgConnection};
use uuid::Uuid;

/// Values of one row per table. `{t}`, `{u}` and `{i}` stand for the owner's tenant, user and item. The rest is the
/// same for every owner.
const ROWS: &[(&str, &str)] = &[
    ("tenants", "(tenant_id, slug, name, created_at) values ({t}, 'i-' || {t}::text, 'Test', now())"),
    ("users", "(tenant_id, user_id, external_id, created_at) values ({t}, {u}, {i}::text, now())"),
    (
        "erasures",
        "(tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at, finished_at)
         values ({t}, {i}, {i}, '\\x00', 'Test', 'test', now(), now() - interval '1 year')",
    ),
    ("user_catalogs", "(tenant_id, user_id) values ({t}, {u})"),
    (
        "issuers",
        "(tenant_id, issuer_id, iss, audience, algorithm, jwks_url, created_at)
         values ({t}, {i}, {i}::text, 'knowhow', 'RS256', 'https://login.test.example/keys', now())",
    ),
    (
        "api_keys",
        "(tenant_id, key_id, prefix, secret_hash, name, scopes, created_at)
         values ({t}, {i}, {i}::text, '\\x00', 'Test', '{}', now())",
    ),
    (
        "console_sessions",
        "(tenant_id, user_id, secret_hash, scopes, issuer_id, created_at, used_at, ends_at)
         values ({t}, {u}, sha256({i}::text::bytea), '{}', {i}, now(), now(), now() + interval '12 hours')",
    ),
    (
        "audit_log",
        "(tenant_id, user_id, audit_id, at, actor, action, target)
         values ({t}, {u}, {i}, now(), 'test', 'test', 'test')",
    ),
    (
        "audit_seals",
        "(tenant_id, number, behind, last_id, entries, entries_hash, previous_hash, seal_hash, mac, mac_under, first_at, last_at,
          sealed_at)
         values ({t}, 1, '00000000-0000-0000-0000-000000000000', {i}, 1, '\\x00', '\\x00', '\\x00', '\\x00', '\\x00', now(), now(),
                 now())",
    ),
    (
        "idempotency_keys",
        "(tenant_id, user_id, key, request_digest, created_at) values ({t}, {u}, {i}::text, '\\x00', now())",
    ),
    ("skill_resources", "(tenant_id, user_id, digest, content) values ({t}, {u}, sha256('text'), 'text')"),
    (
        "skills",
        "(tenant_id, user_id, skill_id, name, description, tags, triggers, see_also, attributes, source, version, digest,
          document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources,
          resource_bytes, created_at, updated_at)
         values ({t}, {u}, {i}, {i}::text, 'Test', '{}', '{}', '{}', '{}', 'user', 1, sha256('text'), sha256('text'), 4,
                 0, 0, 0, '[]', 0, now(), now())",
    ),
    (
        "skill_versions",
        "(tenant_id, user_id, skill_id, version, change, actor, digest, document_digest, document_bytes, resources,
          created_at)
         values ({t}, {u}, {i}, 1, 'save', 'test', sha256('text'), sha256('text'), 4, '[]', now())",
    ),
    (
        "skill_files",
        "(tenant_id, user_id, digest, skill_id, last_version) values ({t}, {u}, sha256('text'), {i}, 2147483647)",
    ),
    ("skill_usage", "(tenant_id, user_id, skill_id) values ({t}, {u}, {i})"),
    (
        "usage_events",
        "(tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
         values ({t}, {u}, current_date, {i}, 'view', '', 1, now())",
    ),
    (
        "usage_days",
        "(tenant_id, user_id, day, skill_id, times, successes, failures, partials)
         values ({t}, {u}, current_date - 90, {i}, 1, 0, 0, 0)",
    ),
    (
        "judge_usage",
        "(tenant_id, user_id, day, questions, tokens) values ({t}, {u}, current_date, 1, 700)",
    ),
    (
        "skill_offers",
        "(tenant_id, user_id, day, skill_id, offered, ignored, inapplicable) values ({t}, {u}, current_date, {i}, 1, 0, 0)",
    ),
    (
        "skill_redirects",
        "(tenant_id, user_id, name, skill_id, created_at) values ({t}, {u}, 'old-' || {i}::text, {i}, now())",
    ),
    (
        "snapshots",
        "(tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
         values ({t}, {u}, {i}, sha256('text'), 'text', '{}', now())",
    ),
    (
        "current_snapshots",
        "(tenant_id, user_id, index_budget, snapshot_id, revision, rendered_at, used_at)
         values ({t}, {u}, 16000, {i}, 1, now(), now())",
    ),
    (
        "sessions",
        "(tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top, snapshot_id, started_at)
         values ({t}, {u}, {i}, {i}::text, 'sms', 10, 16000, false, {i}, now())",
    ),
    (
        "turns",
        "(tenant_id, user_id, session_id, turn, request_digest, answer, created_at)
         values ({t}, {u}, {i}, 1, '\\x00', '{}', now())",
    ),
    (
        "messages",
        "(tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, at)
         values ({t}, {u}, {i}, {i}, 1, 'user', 'text', 0, now())",
    ),
    (
        "session_feedback",
        "(tenant_id, user_id, session_id, feedback_id, kind, turn, at) values ({t}, {u}, {i}, {i}, 'correction', 1, now())",
    ),
    (
        "conversation_summaries",
        "(tenant_id, user_id, session_id, title, summary, made_by, terms, channel, started_at, ended_at)
         values ({t}, {u}, {i}, 'Test', '{}', 'extract', '{}', 'sms', now(), now())",
    ),
    (
        "souls",
        "(tenant_id, user_id, version, content, actor, tainted, created_at)
         values ({t}, {u}, 1, 'text', 'test', false, now())",
    ),
    (
        "memories",
        "(tenant_id, user_id, memory_id, kind, content, tags, importance, core, tainted, created_at)
         values ({t}, {u}, {i}, 'semantic', 'text', '{}', 0.5, false, false, now())",
    ),
    (
        "memory_versions",
        "(tenant_id, user_id, memory_id, version, importance, core, created_at, tags, content)
         values ({t}, {u}, {i}, 1, 0.5, false, now(), '{}', 'text')",
    ),
    (
        "memory_embeddings",
        "(tenant_id, user_id, memory_id, model, embedding) values ({t}, {u}, {i}, 'test', '[1,0]')",
    ),
    (
        "entities",
        "(tenant_id, user_id, entity_id, kind, canonical, name, created_at)
         values ({t}, {u}, {i}, 'skill', {i}::text, {i}::text, now()),
                ({t}, {u}, '00000000-0000-7000-8000-000000000001', 'thing', 'test', 'Test', now())",
    ),
    (
        "entity_aliases",
        "(tenant_id, user_id, kind, canonical, entity_id, name) values ({t}, {u}, 'thing', {i}::text, '00000000-0000-7000-8000-000000000001', 'T')",
    ),
    (
        "relations",
        "(tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence, reinforced_at, said_by)
         values ({t}, {u}, {i}, '00000000-0000-7000-8000-000000000001', 'requires', 'declared', 1, 1, 1, now(), {i})",
    ),
    (
        "relation_hints",
        "(tenant_id, user_id, from_id, to_name, type, mentions, confidence)
         values ({t}, {u}, {i}, 'later', 'requires', 1, 1)",
    ),
    ("mentions", "(tenant_id, user_id, entity_id, memory_id) values ({t}, {u}, {i}, {i})"),
    (
        "skill_mentions",
        "(tenant_id, user_id, skill_id, entity_id) values ({t}, {u}, {i}, '00000000-0000-7000-8000-000000000001')",
    ),
    ("pending_mentions", "(tenant_id, user_id, session_id, skill_id) values ({t}, {u}, {i}, {i})"),
    (
        "session_vectors",
        "(tenant_id, user_id, session_id, model, embedding) values ({t}, {u}, {i}, 'test', '[1,0]')",
    ),
    ("learning", "(tenant_id, user_id, time_zone) values ({t}, {u}, 'UTC')"),
    ("dream_passes", "(tenant_id, user_id, pass) values ({t}, {u}, 'gaps')"),
    (
        "dream_runs",
        "(tenant_id, user_id, run_id, pass, cause, mode, dry_run, state, started_by, created_at, texts_until)
         values ({t}, {u}, {i}, 'gaps', 'demand', 'propose', false, 'queued', 'test', now(), now() + interval '30 days')",
    ),
    (
        "dream_ops",
        "(tenant_id, user_id, run_id, position, kind, op, outcome) values ({t}, {u}, {i}, 0, 'create', '{}', 'proposed')",
    ),
    ("dream_rests", "(tenant_id, user_id, key, rests_until) values ({t}, {u}, {i}::text, now() + interval '90 days')"),
    (
        "archived_skills",
        "(tenant_id, user_id, archive_id, skill_id, name, state, version, version_count, deleted_by, deleted_at, purge_at)
         values ({t}, {u}, {i}, {i}, {i}::text, '{}', 1, 1, 'test', now(), now() + interval '30 days')",
    ),
    (
        "skill_embeddings",
        "(tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
         values ({t}, {u}, {i}, 'test', '\\x00', '[1,2,3]', now())",
    ),
    (
        "skill_examples",
        "(tenant_id, user_id, skill_id, example_id, message, message_digest, model, embedding, learned_at, confirmed_at)
         values ({t}, {u}, {i}, {i}, 'text', sha256('text'), 'test', '[1,2,3]', now(), now())",
    ),
    (
        "session_texts",
        "(tenant_id, user_id, session_id, kind, text_id, version) values ({t}, {u}, {i}, 'skill', {i}, 1)",
    ),
    (
        "tainted_passages",
        "(tenant_id, user_id, passage, source_id, source_version) values ({t}, {u}, 1, {i}, 1)",
    ),
    ("failed_lessons", "(tenant_id, user_id, session_id, turn, skill_id) values ({t}, {u}, {i}, 1, {i})"),
    (
        "submissions",
        "(tenant_id, user_id, submission_id, skill_id, name, kind, state, source, submitter, base_version, tainted, checks,
          bytes, created_at, expires_at)
         values ({t}, {u}, {i}, {i}, {i}::text, 'save', 'needs_review', 'agent', 'test', 0, false, '[]', 4, now(),
                 now() + interval '30 days')",
    ),
    (
        "submission_files",
        "(tenant_id, user_id, submission_id, digest, content) values ({t}, {u}, {i}, sha256('text'), 'text')",
    ),
    (
        "skill_scans",
        "(tenant_id, user_id, skill_id, rules, verdict, findings, scanned_at)
         values ({t}, {u}, {i}, 1, 'review', '[]', now())",
    ),
    (
        "library_texts",
        "(tenant_id, starter_id, name, version, actor, created_at, description, tags, triggers, see_also, attributes,
          frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
          content_at_byte)
         overriding system value
         values ({t}, 1073741824, {t}::text, 1, 'test', now(), 'Test', '{}', '{}', '{}', '{}', '{}', sha256('text'),
                 sha256('text'), 'text', 4, 0, 0, 0)",
    ),
    (
        "library_vectors",
        "(tenant_id, starter_id, model, text_digest, embedding) values ({t}, 1073741824, 'test', '\\x00', '[1,2,3]')",
    ),
    (
        "library_scans",
        "(tenant_id, starter_id, rules, verdict, findings, scanned_at) values ({t}, 1073741824, 1, 'ok', '[]', now())",
    ),
    ("webhooks", "(tenant_id, url, sealed_secret, created_at) values ({t}, 'https://test.example', '\\x00', now())"),
    (
        "directives",
        "(tenant_id, name, version, text, digest, actor, created_at, in_force)
         values ({t}, 'summary', 1, 'text', sha256('text'), 'test', now(), true)",
    ),
    (
        "reflections",
        "(tenant_id, user_id, reflection_id, cadence, period, state, created_at, texts_until)
         values ({t}, {u}, {i}, 'daily', current_date, 'quiet', now(), now())",
    ),
    ("library_releases", "(tenant_id, release, starter_ids) values ({t}, sha256('text'), '{1073741824}')"),
    (
        "starter_installs",
        "(tenant_id, user_id, name, document_digest, installed_at) values ({t}, {u}, {i}::text, '\\x00', now())",
    ),
];

/// Owner of a row.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    /// The tenant.
    pub tenant: Uuid,
    /// The user.
    pub user: Uuid,
    /// Id of all items of the owner.
    item: Uuid,
}

impl Owner {
    /// Returns the owner for a user of a tenant, with a new item id.
    pub fn new(tenant: Uuid, user: Uuid) -> Self {
        Self { tenant, user, item: new_id() }
    }

    /// Returns an owner with the same user id in a new tenant. Ids do not collide by chance, but a policy must not
    /// rely on that.
    pub fn namesake(self) -> Self {
        Self::new(new_id(), self.user)
    }
}

/// Returns the statement that inserts the owner's row into a table; `None` for an unknown table.
pub fn insert(table: &str, owner: Owner) -> Option<String> {
    let (_, row) = ROWS.iter().find(|(name, _)| *name == table)?;
    let literal = |id: Uuid| format!("'{id}'::uuid");
    let row = row
        .replace("{t}", &literal(owner.tenant))
        .replace("{u}", &literal(owner.user))
        .replace("{i}", &literal(owner.item));
    Some(format!("insert into {table} {row}"))
}

/// Inserts every row of every owner as the superuser.
pub async fn seed(conn: &mut PgConnection, owners: &[Owner]) {
    for owner in owners {
        for (table, _) in ROWS {
            let sql = insert(table, *owner).unwrap() + " on conflict do nothing";
            conn.execute(AssertSqlSafe(sql.clone())).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        }
    }
}
