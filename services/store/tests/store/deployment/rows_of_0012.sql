-- Rows of every table of a tenant as migration 0012 left the schema, of two users in two tenants. A test applies the later migrations
-- to them. A release with new migrations adds a file with the rows of its schema, and this one stays as it is.
insert into tenants (tenant_id, slug, name, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, 'i-' || '01900000-0000-7000-8000-000000001001'::uuid::text, 'Test', now());
insert into users (tenant_id, user_id, external_id, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, now());
insert into erasures (tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at, finished_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '\x00', 'Test', 'test', now(), now() - interval '1 year');
insert into user_catalogs (tenant_id, user_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid);
insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, 'knowhow', 'RS256', 'https://login.test.example/keys', now());
insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '\x00', 'Test', '{}', now());
insert into console_sessions (tenant_id, user_id, secret_hash, scopes, issuer_id, created_at, used_at, ends_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, sha256('01900000-0000-7000-8000-000000001003'::uuid::text::bytea), '{}', '01900000-0000-7000-8000-000000001003'::uuid, now(), now(), now() + interval '12 hours');
insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, now(), 'test', 'test', 'test');
insert into audit_seals (tenant_id, number, behind, last_id, entries, entries_hash, previous_hash, seal_hash, mac, mac_under, first_at, last_at,
    sealed_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, 1, '00000000-0000-0000-0000-000000000000', '01900000-0000-7000-8000-000000001003'::uuid, 1, '\x00', '\x00', '\x00', '\x00', '\x00', now(), now(),
    now());
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
insert into usage_days (tenant_id, user_id, day, skill_id, times, successes, failures, partials)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, current_date - 90, '01900000-0000-7000-8000-000000001003'::uuid, 1, 0, 0, 0);
insert into judge_usage (tenant_id, user_id, day, questions, tokens) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, current_date, 1, 700);
insert into skill_offers (tenant_id, user_id, day, skill_id, offered, ignored, inapplicable) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, current_date, '01900000-0000-7000-8000-000000001003'::uuid, 1, 0, 0);
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
insert into memory_versions (tenant_id, user_id, memory_id, version, importance, core, created_at, tags, content)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, 0.5, false, now(), '{}', 'text');
insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'test', '[1,0]');
insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'skill', '01900000-0000-7000-8000-000000001003'::uuid::text, '01900000-0000-7000-8000-000000001003'::uuid::text, now()),
    ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '00000000-0000-7000-8000-000000000001', 'thing', 'test', 'Test', now());
insert into entity_aliases (tenant_id, user_id, kind, canonical, entity_id, name) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 'thing', '01900000-0000-7000-8000-000000001003'::uuid::text, '00000000-0000-7000-8000-000000000001', 'T');
insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence, reinforced_at, said_by)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '00000000-0000-7000-8000-000000000001', 'requires', 'declared', 1, 1, 1, now(), '01900000-0000-7000-8000-000000001003'::uuid);
insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'later', 'requires', 1, 1);
insert into mentions (tenant_id, user_id, entity_id, memory_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid);
insert into skill_mentions (tenant_id, user_id, skill_id, entity_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '00000000-0000-7000-8000-000000000001');
insert into pending_mentions (tenant_id, user_id, session_id, skill_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid);
insert into session_vectors (tenant_id, user_id, session_id, model, embedding) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'test', '[1,0]');
insert into learning (tenant_id, user_id, time_zone) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 'UTC');
insert into dream_passes (tenant_id, user_id, pass) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 'gaps');
insert into dream_runs (tenant_id, user_id, run_id, pass, cause, mode, dry_run, state, started_by, created_at, texts_until)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'gaps', 'demand', 'propose', false, 'queued', 'test', now(), now() + interval '30 days');
insert into dream_ops (tenant_id, user_id, run_id, position, kind, op, outcome) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 0, 'create', '{}', 'proposed');
insert into dream_rests (tenant_id, user_id, key, rests_until) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, now() + interval '90 days');
insert into archived_skills (tenant_id, user_id, archive_id, skill_id, name, state, version, version_count, deleted_by, deleted_at, purge_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '{}', 1, 1, 'test', now(), now() + interval '30 days');
insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'test', '\x00', '[1,2,3]', now());
insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, model, embedding, learned_at, confirmed_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'text', sha256('text'), 'test', '[1,2,3]', now(), now());
insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'skill', '01900000-0000-7000-8000-000000001003'::uuid, 1);
insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, 1, '01900000-0000-7000-8000-000000001003'::uuid, 1);
insert into failed_lessons (tenant_id, user_id, session_id, turn, skill_id) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, '01900000-0000-7000-8000-000000001003'::uuid);
insert into submissions (tenant_id, user_id, submission_id, skill_id, name, kind, state, source, submitter, base_version, tainted, checks,
    bytes, created_at, expires_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, 'save', 'needs_review', 'agent', 'test', 0, false, '[]', 4, now(),
    now() + interval '30 days');
insert into submission_files (tenant_id, user_id, submission_id, digest, content) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, sha256('text'), 'text');
insert into skill_scans (tenant_id, user_id, skill_id, rules, verdict, findings, scanned_at)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 1, 'review', '[]', now());
insert into library_texts (tenant_id, starter_id, name, version, actor, created_at, description, tags, triggers, see_also, attributes,
    frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
    content_at_byte)
    overriding system value
    values ('01900000-0000-7000-8000-000000001001'::uuid, 1073741824, '01900000-0000-7000-8000-000000001001'::uuid::text, 1, 'test', now(), 'Test', '{}', '{}', '{}', '{}', '{}', sha256('text'),
    sha256('text'), 'text', 4, 0, 0, 0);
insert into library_vectors (tenant_id, starter_id, model, text_digest, embedding) values ('01900000-0000-7000-8000-000000001001'::uuid, 1073741824, 'test', '\x00', '[1,2,3]');
insert into library_scans (tenant_id, starter_id, rules, verdict, findings, scanned_at) values ('01900000-0000-7000-8000-000000001001'::uuid, 1073741824, 1, 'ok', '[]', now());
insert into webhooks (tenant_id, url, sealed_secret, created_at) values ('01900000-0000-7000-8000-000000001001'::uuid, 'https://test.example', '\x00', now());
insert into directives (tenant_id, name, version, text, digest, actor, created_at, in_force)
    values ('01900000-0000-7000-8000-000000001001'::uuid, 'summary', 1, 'text', sha256('text'), 'test', now(), true);
insert into reflections (tenant_id, user_id, reflection_id, cadence, period, state, created_at, texts_until)
    values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid, 'daily', current_date, 'quiet', now(), now());
insert into library_releases (tenant_id, release, starter_ids) values ('01900000-0000-7000-8000-000000001001'::uuid, sha256('text'), '{1073741824}');
insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at) values ('01900000-0000-7000-8000-000000001001'::uuid, '01900000-0000-7000-8000-000000001002'::uuid, '01900000-0000-7000-8000-000000001003'::uuid::text, '\x00', now());
insert into tenants (tenant_id, slug, name, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, 'i-' || '01900000-0000-7000-8000-000000002001'::uuid::text, 'Test', now());
insert into users (tenant_id, user_id, external_id, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, now());
insert into erasures (tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at, finished_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '\x00', 'Test', 'test', now(), now() - interval '1 year');
insert into user_catalogs (tenant_id, user_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid);
insert into issuers (tenant_id, issuer_id, iss, audience, algorithm, jwks_url, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, 'knowhow', 'RS256', 'https://login.test.example/keys', now());
insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '\x00', 'Test', '{}', now());
insert into console_sessions (tenant_id, user_id, secret_hash, scopes, issuer_id, created_at, used_at, ends_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, sha256('01900000-0000-7000-8000-000000002003'::uuid::text::bytea), '{}', '01900000-0000-7000-8000-000000002003'::uuid, now(), now(), now() + interval '12 hours');
insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, now(), 'test', 'test', 'test');
insert into audit_seals (tenant_id, number, behind, last_id, entries, entries_hash, previous_hash, seal_hash, mac, mac_under, first_at, last_at,
    sealed_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, 1, '00000000-0000-0000-0000-000000000000', '01900000-0000-7000-8000-000000002003'::uuid, 1, '\x00', '\x00', '\x00', '\x00', '\x00', now(), now(),
    now());
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
insert into usage_days (tenant_id, user_id, day, skill_id, times, successes, failures, partials)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, current_date - 90, '01900000-0000-7000-8000-000000002003'::uuid, 1, 0, 0, 0);
insert into judge_usage (tenant_id, user_id, day, questions, tokens) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, current_date, 1, 700);
insert into skill_offers (tenant_id, user_id, day, skill_id, offered, ignored, inapplicable) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, current_date, '01900000-0000-7000-8000-000000002003'::uuid, 1, 0, 0);
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
insert into memory_versions (tenant_id, user_id, memory_id, version, importance, core, created_at, tags, content)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, 0.5, false, now(), '{}', 'text');
insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'test', '[1,0]');
insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, created_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'skill', '01900000-0000-7000-8000-000000002003'::uuid::text, '01900000-0000-7000-8000-000000002003'::uuid::text, now()),
    ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '00000000-0000-7000-8000-000000000001', 'thing', 'test', 'Test', now());
insert into entity_aliases (tenant_id, user_id, kind, canonical, entity_id, name) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 'thing', '01900000-0000-7000-8000-000000002003'::uuid::text, '00000000-0000-7000-8000-000000000001', 'T');
insert into relations (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence, reinforced_at, said_by)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '00000000-0000-7000-8000-000000000001', 'requires', 'declared', 1, 1, 1, now(), '01900000-0000-7000-8000-000000002003'::uuid);
insert into relation_hints (tenant_id, user_id, from_id, to_name, type, mentions, confidence)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'later', 'requires', 1, 1);
insert into mentions (tenant_id, user_id, entity_id, memory_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid);
insert into skill_mentions (tenant_id, user_id, skill_id, entity_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '00000000-0000-7000-8000-000000000001');
insert into pending_mentions (tenant_id, user_id, session_id, skill_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid);
insert into session_vectors (tenant_id, user_id, session_id, model, embedding) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'test', '[1,0]');
insert into learning (tenant_id, user_id, time_zone) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 'UTC');
insert into dream_passes (tenant_id, user_id, pass) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 'gaps');
insert into dream_runs (tenant_id, user_id, run_id, pass, cause, mode, dry_run, state, started_by, created_at, texts_until)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'gaps', 'demand', 'propose', false, 'queued', 'test', now(), now() + interval '30 days');
insert into dream_ops (tenant_id, user_id, run_id, position, kind, op, outcome) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 0, 'create', '{}', 'proposed');
insert into dream_rests (tenant_id, user_id, key, rests_until) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, now() + interval '90 days');
insert into archived_skills (tenant_id, user_id, archive_id, skill_id, name, state, version, version_count, deleted_by, deleted_at, purge_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '{}', 1, 1, 'test', now(), now() + interval '30 days');
insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'test', '\x00', '[1,2,3]', now());
insert into skill_examples (tenant_id, user_id, skill_id, example_id, message, message_digest, model, embedding, learned_at, confirmed_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'text', sha256('text'), 'test', '[1,2,3]', now(), now());
insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'skill', '01900000-0000-7000-8000-000000002003'::uuid, 1);
insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, 1, '01900000-0000-7000-8000-000000002003'::uuid, 1);
insert into failed_lessons (tenant_id, user_id, session_id, turn, skill_id) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, '01900000-0000-7000-8000-000000002003'::uuid);
insert into submissions (tenant_id, user_id, submission_id, skill_id, name, kind, state, source, submitter, base_version, tainted, checks,
    bytes, created_at, expires_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, 'save', 'needs_review', 'agent', 'test', 0, false, '[]', 4, now(),
    now() + interval '30 days');
insert into submission_files (tenant_id, user_id, submission_id, digest, content) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, sha256('text'), 'text');
insert into skill_scans (tenant_id, user_id, skill_id, rules, verdict, findings, scanned_at)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 1, 'review', '[]', now());
insert into library_texts (tenant_id, starter_id, name, version, actor, created_at, description, tags, triggers, see_also, attributes,
    frontmatter, digest, document_digest, document, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
    content_at_byte)
    overriding system value
    values ('01900000-0000-7000-8000-000000002001'::uuid, 1073741824, '01900000-0000-7000-8000-000000002001'::uuid::text, 1, 'test', now(), 'Test', '{}', '{}', '{}', '{}', '{}', sha256('text'),
    sha256('text'), 'text', 4, 0, 0, 0);
insert into library_vectors (tenant_id, starter_id, model, text_digest, embedding) values ('01900000-0000-7000-8000-000000002001'::uuid, 1073741824, 'test', '\x00', '[1,2,3]');
insert into library_scans (tenant_id, starter_id, rules, verdict, findings, scanned_at) values ('01900000-0000-7000-8000-000000002001'::uuid, 1073741824, 1, 'ok', '[]', now());
insert into webhooks (tenant_id, url, sealed_secret, created_at) values ('01900000-0000-7000-8000-000000002001'::uuid, 'https://test.example', '\x00', now());
insert into directives (tenant_id, name, version, text, digest, actor, created_at, in_force)
    values ('01900000-0000-7000-8000-000000002001'::uuid, 'summary', 1, 'text', sha256('text'), 'test', now(), true);
insert into reflections (tenant_id, user_id, reflection_id, cadence, period, state, created_at, texts_until)
    values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid, 'daily', current_date, 'quiet', now(), now());
insert into library_releases (tenant_id, release, starter_ids) values ('01900000-0000-7000-8000-000000002001'::uuid, sha256('text'), '{1073741824}');
insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at) values ('01900000-0000-7000-8000-000000002001'::uuid, '01900000-0000-7000-8000-000000002002'::uuid, '01900000-0000-7000-8000-000000002003'::uuid::text, '\x00', now());
