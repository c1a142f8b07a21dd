-- Rows of every table of a tenant as migration 0016 left the schema, of two users in two tenants: what the migrations behind it
-- are tried on. A release adds a file with the rows of its schema; this one stays as it is.
insert into tenants (tenant_id, slug, name, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, 'i-' || '01900000-0000-7000-8000-000000001001'::uuid::text, 'Test', now());
insert into users (tenant_id, user_id, external_id, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, now());
insert into user_catalogs (tenant_id, user_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid);
insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, 'knowhow', 'RS256', 'https://login.test.example/keys', now());
insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '\x00', 'Test', '{}', now());
insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, now(), 'test', 'test', 'test');
insert into idempotency_keys (tenant_id, user_id, key, request_digest, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '\x00', now());
insert into skill_resources (tenant_id, user_id, digest, content) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, sha256('text'), 'text');
insert into skills (tenant_id, user_id, skill_id, name, description, tags, triggers, see_also, attributes, source, version, digest,
    document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources,
    resource_bytes, created_at, updated_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, 'Test', '{}', '{}', '{}', '{}', 'user', 1, sha256('text'), sha256('text'), 4,
    0, 0, 0, '[]', 0, now(), now());
insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, document_digest, document_bytes, resources,
    created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, 'save', 'test', sha256('text'), sha256('text'), 4, '[]', now());
insert into skill_files (tenant_id, user_id, digest, skill_id, last_version) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, sha256('text'), '01900000-0000-7000-8000-000000001003'::uuid, 2147483647);
insert into skill_usage (tenant_id, user_id, skill_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid);
insert into usage_events (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, current_date, '01900000-0000-7000-8000-000000001003'::uuid, 'view', '', 1, now());
insert into skill_redirects (tenant_id, user_id, name, skill_id, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 'old-' || '01900000-0000-7000-8000-000000001003'::uuid::text, '01900000-0000-7000-8000-000000001003'::uuid, now());
insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, sha256('text'), 'text', '{}', now());
insert into current_snapshots (tenant_id, user_id, index_budget, snapshot_id, revision, rendered_at, used_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 16000, '01900000-0000-7000-8000-000000001003'::uuid, 1, now(), now());
insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top, snapshot_id, started_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, 'sms', 10, 16000, false, '01900000-0000-7000-8000-000000001003'::uuid, now());
insert into turns (tenant_id, user_id, session_id, turn, request_digest, answer, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, '\x00', '{}', now());
insert into messages (tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, 'user', 'text', 0, now());
insert into session_feedback (tenant_id, user_id, session_id, feedback_id, kind, turn, at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'correction', 1, now());
insert into conversation_summaries (tenant_id, user_id, session_id, title, summary, made_by, terms, channel, started_at, ended_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'Test', '{}', 'extract', '{}', 'sms', now(), now());
insert into souls (tenant_id, user_id, version, content, actor, tainted, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 1, 'text', 'test', false, now());
insert into memories (tenant_id, user_id, memory_id, kind, content, tags, importance, core, tainted, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'semantic', 'text', '{}', 0.5, false, false, now());
insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'test', '[1,0]');
insert into archived_skills (tenant_id, user_id, archive_id, skill_id, name, state, version, version_count, deleted_by, deleted_at, purge_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '{}', 1, 1, 'test', now(), now() + interval '30 days');
insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'test', '\x00', '[1,2,3]', now());
insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, model, embedding, learned_at, confirmed_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'text', sha256('text'), 'test', '[1,2,3]', now(), now());
insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'skill', '01900000-0000-7000-8000-000000001003'::uuid, 1);
insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 1, '01900000-0000-7000-8000-000000001003'::uuid, 1);
insert into failed_lessons (tenant_id, user_id, session_id, turn, skill_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, '01900000-0000-7000-8000-000000001003'::uuid);
insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '\x00', now());
insert into tenants (tenant_id, slug, name, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, 'i-' || '01900000-0000-7000-8000-000000002001'::uuid::text, 'Test', now());
insert into users (tenant_id, user_id, external_id, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, now());
insert into user_catalogs (tenant_id, user_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid);
insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, 'knowhow', 'RS256', 'https://login.test.example/keys', now());
insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '\x00', 'Test', '{}', now());
insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, now(), 'test', 'test', 'test');
insert into idempotency_keys (tenant_id, user_id, key, request_digest, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '\x00', now());
insert into skill_resources (tenant_id, user_id, digest, content) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, sha256('text'), 'text');
insert into skills (tenant_id, user_id, skill_id, name, description, tags, triggers, see_also, attributes, source, version, digest,
    document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources,
    resource_bytes, created_at, updated_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, 'Test', '{}', '{}', '{}', '{}', 'user', 1, sha256('text'), sha256('text'), 4,
    0, 0, 0, '[]', 0, now(), now());
insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, document_digest, document_bytes, resources,
    created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, 'save', 'test', sha256('text'), sha256('text'), 4, '[]', now());
insert into skill_files (tenant_id, user_id, digest, skill_id, last_version) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, sha256('text'), '01900000-0000-7000-8000-000000002003'::uuid, 2147483647);
insert into skill_usage (tenant_id, user_id, skill_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid);
insert into usage_events (tenant_id, user_id, day, skill_id, kind, use_digest, version, at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, current_date, '01900000-0000-7000-8000-000000002003'::uuid, 'view', '', 1, now());
insert into skill_redirects (tenant_id, user_id, name, skill_id, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 'old-' || '01900000-0000-7000-8000-000000002003'::uuid::text, '01900000-0000-7000-8000-000000002003'::uuid, now());
insert into snapshots (tenant_id, user_id, snapshot_id, sha256, content, omitted, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, sha256('text'), 'text', '{}', now());
insert into current_snapshots (tenant_id, user_id, index_budget, snapshot_id, revision, rendered_at, used_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 16000, '01900000-0000-7000-8000-000000002003'::uuid, 1, now(), now());
insert into sessions (tenant_id, user_id, session_id, key, channel, max_turns, index_budget, inline_top, snapshot_id, started_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, 'sms', 10, 16000, false, '01900000-0000-7000-8000-000000002003'::uuid, now());
insert into turns (tenant_id, user_id, session_id, turn, request_digest, answer, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, '\x00', '{}', now());
insert into messages (tenant_id, user_id, session_id, message_id, turn, speaker, content, tool_calls, at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, 'user', 'text', 0, now());
insert into session_feedback (tenant_id, user_id, session_id, feedback_id, kind, turn, at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'correction', 1, now());
insert into conversation_summaries (tenant_id, user_id, session_id, title, summary, made_by, terms, channel, started_at, ended_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'Test', '{}', 'extract', '{}', 'sms', now(), now());
insert into souls (tenant_id, user_id, version, content, actor, tainted, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 1, 'text', 'test', false, now());
insert into memories (tenant_id, user_id, memory_id, kind, content, tags, importance, core, tainted, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'semantic', 'text', '{}', 0.5, false, false, now());
insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'test', '[1,0]');
insert into archived_skills (tenant_id, user_id, archive_id, skill_id, name, state, version, version_count, deleted_by, deleted_at, purge_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '{}', 1, 1, 'test', now(), now() + interval '30 days');
insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'test', '\x00', '[1,2,3]', now());
insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, model, embedding, learned_at, confirmed_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'text', sha256('text'), 'test', '[1,2,3]', now(), now());
insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'skill', '01900000-0000-7000-8000-000000002003'::uuid, 1);
insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 1, '01900000-0000-7000-8000-000000002003'::uuid, 1);
insert into failed_lessons (tenant_id, user_id, session_id, turn, skill_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, '01900000-0000-7000-8000-000000002003'::uuid);
insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '\x00', now());
