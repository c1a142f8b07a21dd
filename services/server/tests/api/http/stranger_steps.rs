//! One request for every operation of the document, with the names and ids of another user.

use reqwest::Method;
use serde_json::{Value, json};

use super::stranger_walk::{Names, STREAM};
use crate::callers::skill;

pub(super) enum Body {
    None,
    Json(Value),
    /// A JSON body, sent with an idempotency key, so that a repeated request has no second effect and returns the
    /// same answer.
    Once(Value),
    Bytes,
    Form,
}

pub(super) type Step = (&'static str, Method, String, Body);

/// Returns one request for every operation.
pub(super) fn walk(names: &Names) -> Vec<Step> {
    let skill = |rest: &str| format!("/v1/skills/{}{rest}", names.skill.replace('/', "%2F"));
    let admin = |rest: &str| format!("/v1/admin/{rest}?tenant={}", names.tenant);
    let tenant = format!("/v1/admin/tenants/{}", names.tenant);
    let edit = json!({"edits": [{"old_string": "First", "new_string": "Stolen"}]});
    let issuer = json!({"iss": "https://mine.example", "algorithm": "HS256", "secret": "s".repeat(40)});
    let file = "/resources/references/a.md";
    let (get, post, put, patch, delete) = (Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE);
    let mut steps = vec![
        ("check_health", get.clone(), "/healthz".to_owned(), Body::None),
        ("check_readiness", get.clone(), "/readyz".to_owned(), Body::None),
        ("get_resource_metadata", get.clone(), "/.well-known/oauth-protected-resource/mcp".to_owned(), Body::None),
        ("save_skill", post.clone(), "/v1/skills".to_owned(), Body::Json(based_on_theirs())),
        ("list_skills", get.clone(), "/v1/skills".to_owned(), Body::None),
        ("load_skill", get.clone(), skill(""), Body::None),
        ("read_skill_md", get.clone(), skill("/SKILL.md"), Body::None),
        ("patch_skill", patch.clone(), skill(""), Body::Json(edit)),
        ("put_fields", put.clone(), skill("/fields"), Body::Json(json!({"tags": ["stolen"]}))),
        ("delete_skill", delete.clone(), skill(""), Body::None),
        ("list_versions", get.clone(), skill("/versions"), Body::None),
        ("get_findings", get.clone(), skill("/findings"), Body::None),
        ("get_version", get.clone(), skill("/versions/1"), Body::None),
        ("diff_versions", get.clone(), skill("/diff?from=1&to=2"), Body::None),
        ("rollback_skill", post.clone(), skill("/rollback"), Body::Json(json!({"version": 1}))),
        ("list_examples", get.clone(), skill("/examples"), Body::None),
        ("delete_example", delete.clone(), skill(&format!("/examples/{}", names.example)), Body::None),
        ("delete_examples", delete.clone(), skill("/examples"), Body::None),
        ("get_resource", get.clone(), skill(file), Body::None),
        ("put_resource", put, skill(file), Body::Bytes),
        ("delete_resource", delete.clone(), skill(file), Body::None),
        ("report_use", post.clone(), "/v1/skills/used".to_owned(), Body::Json(json!({"skill": names.skill}))),
        ("match_skills", post.clone(), "/v1/skills/match".to_owned(), Body::Json(json!({"message": "use mcp/plan"}))),
        ("suggest_skills", get.clone(), "/v1/skills/suggest?context=plan%20this".to_owned(), Body::None),
    ];
    steps.extend(walk_of_exchange());
    steps.extend(walk_of_erasures(names));
    steps.extend(walk_of_sessions(names));
    steps.extend(walk_of_memories(names).into_iter().chain(walk_of_graph(names)));
    steps.extend(walk_of_submissions(names).into_iter().chain(walk_of_library(names)));
    steps.extend(walk_of_dreams(names));
    steps.extend([
        ("create_tenant", post.clone(), "/v1/admin/tenants".to_owned(), Body::Json(json!({"slug": "stolen"}))),
        ("list_tenants", get.clone(), "/v1/admin/tenants".to_owned(), Body::None),
        ("get_tenant", get.clone(), tenant.clone(), Body::None),
        ("update_tenant", patch, tenant, Body::Json(json!({"name": "stolen"}))),
        ("create_user", post.clone(), admin("users"), Body::Json(json!({"external_id": "stolen"}))),
        ("list_users", get.clone(), admin("users"), Body::None),
        ("get_user", get.clone(), admin(&format!("users/{}", names.user)), Body::None),
        ("create_issuer", post.clone(), admin("issuers"), Body::Json(issuer)),
        ("list_issuers", get.clone(), admin("issuers"), Body::None),
        ("delete_issuer", delete.clone(), admin(&format!("issuers/{}", names.issuer)), Body::None),
        ("create_key", post.clone(), admin("keys"), Body::Json(json!({"name": "k", "scopes": ["admin"]}))),
        ("list_keys", get.clone(), admin("keys"), Body::None),
        ("revoke_key", delete.clone(), admin(&format!("keys/{}", names.key)), Body::None),
        ("get_stats", get.clone(), "/v1/admin/stats".to_owned(), Body::None),
        ("list_audit", get.clone(), admin("audit"), Body::None),
        ("list_archive", get.clone(), admin("archive"), Body::None),
        (
            "restore_skill",
            post.clone(),
            admin(&format!("archive/{}/restore", names.archived)),
            Body::Json(json!({"reason": "r"})),
        ),
        (
            "review_version",
            get.clone(),
            admin(&format!("skills/{}/versions/1", names.archived)) + "&reason=curiosity",
            Body::None,
        ),
        (
            "approve_version",
            post.clone(),
            admin(&format!("skills/{}/versions/1/approve", names.archived)),
            Body::Json(json!({"reason": "curiosity"})),
        ),
        ("list_jobs", get, admin("jobs"), Body::None),
        ("retry_job", post, admin(&format!("jobs/{}/retry", names.job)), Body::None),
        ("discard_job", delete, admin(&format!("jobs/{}", names.job)), Body::None),
    ]);
    steps
}

fn walk_of_erasures(names: &Names) -> Vec<Step> {
    let admin = |path: &str| format!("/v1/admin/{path}?tenant={}", names.tenant);
    vec![
        (
            "erase_user",
            Method::DELETE,
            admin(&format!("users/{}", names.user)) + "&reason=by%20a%20stranger",
            Body::None,
        ),
        (
            "hold_user",
            Method::PUT,
            admin(&format!("users/{}/hold", names.user)),
            Body::Json(json!({"reason": "by a stranger"})),
        ),
        ("release_user", Method::DELETE, admin(&format!("users/{}/hold", names.user)), Body::None),
        (
            "rotate_key",
            Method::POST,
            admin(&format!("keys/{}/rotate", names.key)),
            Body::Json(json!({"overlap_hours": 1})),
        ),
        (
            "suspend_user",
            Method::PUT,
            admin(&format!("users/{}/suspension", names.user)),
            Body::Json(json!({"reason": "by a stranger"})),
        ),
        ("resume_user", Method::DELETE, admin(&format!("users/{}/suspension", names.user)), Body::None),
        (
            "suspend_tenant",
            Method::PUT,
            format!("/v1/admin/tenants/{}/suspension", names.tenant),
            Body::Json(json!({"reason": "by a stranger"})),
        ),
        ("resume_tenant", Method::DELETE, format!("/v1/admin/tenants/{}/suspension", names.tenant), Body::None),
        ("export_user", Method::GET, admin(&format!("users/{}/export", names.user)), Body::None),
        ("list_erasures", Method::GET, admin("erasures"), Body::None),
        ("list_user_sessions", Method::GET, admin(&format!("users/{}/sessions", names.user)), Body::None),
        (
            "end_user_session",
            Method::DELETE,
            admin(&format!("users/{}/sessions/{}", names.user, names.session)),
            Body::None,
        ),
        ("list_job_queues", Method::GET, admin("queues"), Body::None),
        ("list_processes", Method::GET, "/v1/admin/processes".to_owned(), Body::None),
        ("get_models", Method::GET, "/v1/admin/models".to_owned(), Body::None),
    ]
}

fn walk_of_exchange() -> Vec<Step> {
    // The caller does not have this skill, so there is no other digest to compare with.
    let digests = json!({"skills": [{"name": "mcp/plan", "digest": "0".repeat(64)}]});
    vec![
        ("check_import", Method::POST, "/v1/skills/import/check".to_owned(), Body::Json(digests)),
        ("import_skills", Method::POST, "/v1/skills/import".to_owned(), Body::Form),
        ("export_skills", Method::GET, "/v1/skills/export".to_owned(), Body::None),
        ("list_digests", Method::GET, "/v1/skills/export/digests".to_owned(), Body::None),
    ]
}

fn walk_of_library(names: &Names) -> Vec<Step> {
    let skills = |rest: &str| format!("/v1/admin/starter-skills{rest}?tenant={}", names.tenant);
    let directive = |rest: &str| format!("/v1/directives{rest}?tenant={}", names.tenant);
    let webhook = |rest: &str| format!("/v1/admin/webhook{rest}?tenant={}", names.tenant);
    let get = Method::GET;
    let stolen = json!({"skill_md": "---\nname: plan\ndescription: Stolen.\n---\n\nStolen.\n"});
    vec![
        ("list_starter_skills", get.clone(), skills(""), Body::None),
        ("get_starter_skill", get.clone(), skills("/plan"), Body::None),
        ("put_starter_skill", Method::PUT, skills("/plan"), Body::Json(stolen)),
        ("delete_starter_skill", Method::DELETE, skills("/plan"), Body::None),
        ("list_starter_versions", get.clone(), skills("/plan/versions"), Body::None),
        ("get_starter_version", get.clone(), skills("/plan/versions/1"), Body::None),
        ("list_starter_users", get.clone(), skills("/plan/users"), Body::None),
        ("list_directives", get.clone(), directive(""), Body::None),
        ("get_directive", get.clone(), directive("/summary"), Body::None),
        ("put_directive", Method::PUT, directive("/summary"), Body::Json(json!({"text": "Stolen."}))),
        ("delete_directive", Method::DELETE, directive("/summary"), Body::None),
        ("list_directive_versions", get.clone(), directive("/summary/versions"), Body::None),
        ("put_webhook", Method::PUT, webhook(""), Body::Json(json!({"url": "https://stolen.example"}))),
        ("get_webhook", get, webhook(""), Body::None),
        ("delete_webhook", Method::DELETE, webhook(""), Body::None),
        ("test_webhook", Method::POST, webhook("/test"), Body::None),
    ]
}

fn walk_of_sessions(names: &Names) -> Vec<Step> {
    let session = |rest: &str| format!("/v1/sessions/{}{rest}", names.session);
    let (get, post) = (Method::GET, Method::POST);
    let said = || Body::Json(json!({"message": "what do we have in store"}));
    vec![
        ("open_session", post.clone(), "/v1/sessions".to_owned(), Body::Json(json!({"key": STREAM}))),
        ("list_sessions", get.clone(), format!("/v1/sessions?key={STREAM}"), Body::None),
        ("get_session", get.clone(), session(""), Body::None),
        ("take_turn", post.clone(), session("/turns"), said()),
        ("get_turn", get.clone(), session("/turns/1"), Body::None),
        ("add_reply", post.clone(), session("/reply"), said()),
        ("list_messages", get.clone(), session("/messages"), Body::None),
        ("taint_session", post.clone(), session("/taint"), Body::Json(json!({"source": "a stranger"}))),
        ("give_feedback", post.clone(), session("/feedback"), Body::Json(json!({"kind": "thumbs_down"}))),
        ("end_session", post.clone(), session("/end"), Body::None),
        ("get_snapshot", get.clone(), "/v1/snapshot".to_owned(), Body::None),
        ("refresh_snapshot", post, "/v1/snapshot/refresh".to_owned(), Body::None),
        ("list_conversations", get, "/v1/conversations?q=attic".to_owned(), Body::None),
    ]
}

fn walk_of_graph(names: &Names) -> Vec<Step> {
    let skill = |rest: &str| format!("/v1/skills/{}{rest}", names.skill.replace('/', "%2F"));
    let relation = skill("/relations/requires/mcp%2Fplan");
    vec![
        ("get_knowledge", Method::GET, skill("/knowledge"), Body::None),
        ("put_importance", Method::PUT, skill("/importance"), Body::Json(json!({"importance": 0.1}))),
        ("list_relations", Method::GET, skill("/relations"), Body::None),
        ("declare_relation", Method::PUT, relation.clone(), Body::None),
        ("remove_relation", Method::DELETE, relation, Body::None),
        ("get_graph", Method::GET, "/v1/graph".to_owned(), Body::None),
        ("list_entities", Method::GET, "/v1/entities".to_owned(), Body::None),
        ("analyse_skills", Method::GET, "/v1/analytics/skills".to_owned(), Body::None),
    ]
}

fn walk_of_memories(names: &Names) -> Vec<Step> {
    let (get, delete) = (Method::GET, Method::DELETE);
    let soul = json!({"text": "Be a stranger.", "expected_version": 1});
    vec![
        ("save_memory", Method::POST, "/v1/memories".to_owned(), Body::Once(json!({"content": "Was a stranger"}))),
        ("list_memories", get.clone(), "/v1/memories".to_owned(), Body::None),
        ("approve_memory", Method::POST, format!("/v1/memories/{}/approve", names.memory), Body::None),
        ("get_memory", get.clone(), format!("/v1/memories/{}", names.memory), Body::None),
        (
            "change_memory",
            Method::PATCH,
            format!("/v1/memories/{}", names.memory),
            Body::Json(json!({"content": "Was changed by a stranger"})),
        ),
        ("list_memory_versions", get.clone(), format!("/v1/memories/{}/versions", names.memory), Body::None),
        ("delete_memory", delete, format!("/v1/memories/{}", names.memory), Body::None),
        ("recall", get.clone(), "/v1/recall?q=night%20trains".to_owned(), Body::None),
        ("list_reflections", get.clone(), "/v1/reflections".to_owned(), Body::None),
        ("start_reflection", Method::POST, "/v1/reflections".to_owned(), Body::Json(json!({"cadence": "daily"}))),
        ("get_soul", get.clone(), "/v1/soul".to_owned(), Body::None),
        ("list_souls", get, "/v1/soul/versions".to_owned(), Body::None),
        ("approve_soul", Method::POST, "/v1/soul/versions/1/approve".to_owned(), Body::None),
        ("put_soul", Method::PUT, "/v1/soul".to_owned(), Body::Json(soul)),
    ]
}

fn walk_of_submissions(names: &Names) -> Vec<Step> {
    let submission = |rest: &str| format!("/v1/submissions/{}{rest}", names.submission);
    let (get, post) = (Method::GET, Method::POST);
    let comment = || Body::Json(json!({"comment": "by a stranger"}));
    vec![
        (
            "share_skill",
            post.clone(),
            format!("/v1/skills/{}/share", names.skill.replace('/', "%2F")),
            Body::Json(json!({"reason": "by a stranger"})),
        ),
        ("submit_skill", post.clone(), "/v1/submissions".to_owned(), Body::Json(based_on_theirs())),
        ("list_submissions", get.clone(), "/v1/submissions".to_owned(), Body::None),
        ("get_submission", get, submission(""), Body::None),
        ("approve_submission", post.clone(), submission("/approve"), comment()),
        ("reject_submission", post.clone(), submission("/reject"), comment()),
        ("rebase_submission", post.clone(), submission("/rebase"), Body::None),
        ("withdraw_submission", post, submission("/withdraw"), comment()),
    ]
}

pub(super) fn walk_of_dreams(names: &Names) -> Vec<Step> {
    let dream = |rest: &str| format!("/v1/dreams/{}{rest}", names.dream);
    let (get, post) = (Method::GET, Method::POST);
    let zone = json!({"time_zone": "Pacific/Auckland"});
    vec![
        ("start_dreams", post.clone(), "/v1/dreams".to_owned(), Body::Once(json!({"dry_run": true}))),
        ("list_dreams", get.clone(), "/v1/dreams".to_owned(), Body::None),
        ("list_dream_candidates", get.clone(), "/v1/dreams/candidates".to_owned(), Body::None),
        ("get_dream", get.clone(), dream(""), Body::None),
        ("apply_dream", post.clone(), dream("/apply"), Body::Json(json!({"ops": [0]}))),
        ("reject_dream", post.clone(), dream("/reject"), Body::Json(json!({"comment": "by a stranger"}))),
        ("undo_dream", post, dream("/undo"), Body::None),
        ("get_learning", get, "/v1/learning".to_owned(), Body::None),
        ("put_learning", Method::PUT, "/v1/learning".to_owned(), Body::Json(zone)),
    ]
}

/// A save based on version 3 of the owner's skill. A user without the skill is at version 0.
fn based_on_theirs() -> Value {
    let mut body = skill("mcp/plan");
    body["content"] = json!("# Stolen\n");
    body["expected_version"] = json!(3);
    body
}
