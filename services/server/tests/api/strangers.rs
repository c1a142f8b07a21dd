//! A stranger walks every operation with somebody else's names and ids. The walk fails where an operation of the
//! document is missing from it.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, World, skill};
use crate::examples::learned;
use crate::exchange::zip;
use crate::jobs;

/// What each caller is answered: anonymous, a bad token, another user, another tenant's user, another tenant's admin,
/// and the owner with the scope `skills:read` alone.
const GOLDEN: [(&str, [u16; 6]); 130] = [
    ("check_health", [200, 200, 200, 200, 200, 200]),
    ("check_readiness", [200, 200, 200, 200, 200, 200]),
    ("get_resource_metadata", [200, 200, 200, 200, 200, 200]),
    ("save_skill", [401, 401, 409, 409, 409, 403]),
    ("list_skills", [401, 401, 200, 200, 200, 200]),
    ("load_skill", [401, 401, 404, 404, 404, 200]),
    ("read_skill_md", [401, 401, 404, 404, 404, 200]),
    ("patch_skill", [401, 401, 404, 404, 404, 403]),
    ("put_fields", [401, 401, 404, 404, 404, 403]),
    ("delete_skill", [401, 401, 404, 404, 404, 403]),
    ("list_versions", [401, 401, 404, 404, 404, 200]),
    ("get_findings", [401, 401, 403, 403, 404, 403]),
    ("get_version", [401, 401, 404, 404, 404, 200]),
    ("diff_versions", [401, 401, 404, 404, 404, 200]),
    ("rollback_skill", [401, 401, 404, 404, 404, 403]),
    ("list_examples", [401, 401, 404, 404, 404, 200]),
    ("delete_example", [401, 401, 404, 404, 404, 403]),
    ("delete_examples", [401, 401, 404, 404, 404, 403]),
    ("get_knowledge", [401, 401, 404, 404, 404, 200]),
    ("put_importance", [401, 401, 404, 404, 404, 403]),
    ("list_relations", [401, 401, 404, 404, 404, 200]),
    ("declare_relation", [401, 401, 404, 404, 404, 403]),
    ("remove_relation", [401, 401, 404, 404, 404, 403]),
    ("get_resource", [401, 401, 404, 404, 404, 200]),
    ("put_resource", [401, 401, 404, 404, 404, 403]),
    ("delete_resource", [401, 401, 404, 404, 404, 403]),
    ("report_use", [401, 401, 404, 404, 404, 200]),
    ("match_skills", [401, 401, 200, 200, 200, 200]),
    ("suggest_skills", [401, 401, 200, 200, 200, 200]),
    ("check_import", [401, 401, 200, 200, 200, 200]),
    ("import_skills", [401, 401, 200, 200, 200, 403]),
    ("export_skills", [401, 401, 200, 200, 200, 200]),
    ("list_digests", [401, 401, 200, 200, 200, 200]),
    ("open_session", [401, 401, 200, 200, 200, 403]),
    ("list_sessions", [401, 401, 200, 200, 200, 403]),
    ("get_session", [401, 401, 404, 404, 404, 403]),
    ("take_turn", [401, 401, 404, 404, 404, 403]),
    ("get_turn", [401, 401, 404, 404, 404, 403]),
    ("add_reply", [401, 401, 404, 404, 404, 403]),
    ("list_messages", [401, 401, 404, 404, 404, 403]),
    ("taint_session", [401, 401, 404, 404, 404, 403]),
    ("give_feedback", [401, 401, 404, 404, 404, 403]),
    ("end_session", [401, 401, 404, 404, 404, 403]),
    ("get_snapshot", [401, 401, 200, 200, 200, 403]),
    ("refresh_snapshot", [401, 401, 200, 200, 200, 403]),
    ("list_conversations", [401, 401, 200, 200, 200, 403]),
    ("save_memory", [401, 401, 201, 201, 201, 403]),
    ("list_memories", [401, 401, 200, 200, 200, 403]),
    ("approve_memory", [401, 401, 403, 403, 404, 403]),
    ("delete_memory", [401, 401, 404, 404, 404, 403]),
    ("recall", [401, 401, 200, 200, 200, 403]),
    ("list_reflections", [401, 401, 200, 200, 200, 403]),
    ("start_reflection", [401, 401, 409, 409, 409, 403]),
    ("get_graph", [401, 401, 200, 200, 200, 200]),
    ("list_entities", [401, 401, 200, 200, 200, 403]),
    ("analyse_skills", [401, 401, 200, 200, 200, 200]),
    ("get_soul", [401, 401, 200, 200, 200, 403]),
    ("list_souls", [401, 401, 200, 200, 200, 403]),
    ("approve_soul", [401, 401, 403, 403, 404, 403]),
    ("put_soul", [401, 401, 409, 409, 409, 403]),
    ("share_skill", [401, 401, 404, 404, 404, 403]),
    ("submit_skill", [401, 401, 409, 409, 409, 403]),
    ("list_submissions", [401, 401, 200, 200, 200, 200]),
    ("get_submission", [401, 401, 404, 404, 403, 200]),
    ("approve_submission", [401, 401, 403, 403, 403, 403]),
    ("reject_submission", [401, 401, 403, 403, 403, 403]),
    ("withdraw_submission", [401, 401, 404, 404, 403, 403]),
    ("rebase_submission", [401, 401, 404, 404, 403, 403]),
    ("start_dreams", [401, 401, 202, 202, 202, 403]),
    ("list_dreams", [401, 401, 200, 200, 200, 200]),
    ("list_dream_candidates", [401, 401, 200, 200, 200, 403]),
    ("get_dream", [401, 401, 404, 404, 404, 200]),
    ("apply_dream", [401, 401, 403, 403, 404, 403]),
    ("reject_dream", [401, 401, 403, 403, 404, 403]),
    ("undo_dream", [401, 401, 404, 404, 404, 403]),
    ("get_learning", [401, 401, 200, 200, 200, 200]),
    ("put_learning", [401, 401, 200, 200, 200, 403]),
    ("create_tenant", [401, 401, 403, 403, 403, 403]),
    ("list_tenants", [401, 401, 403, 403, 403, 403]),
    ("get_tenant", [401, 401, 403, 403, 403, 403]),
    ("update_tenant", [401, 401, 403, 403, 403, 403]),
    ("suspend_tenant", [401, 401, 403, 403, 403, 403]),
    ("resume_tenant", [401, 401, 403, 403, 403, 403]),
    ("create_user", [401, 401, 403, 403, 404, 403]),
    ("list_users", [401, 401, 403, 403, 404, 403]),
    ("get_user", [401, 401, 403, 403, 404, 403]),
    ("suspend_user", [401, 401, 403, 403, 404, 403]),
    ("resume_user", [401, 401, 403, 403, 404, 403]),
    ("erase_user", [401, 401, 403, 403, 404, 403]),
    ("export_user", [401, 401, 403, 403, 404, 403]),
    ("hold_user", [401, 401, 403, 403, 404, 403]),
    ("release_user", [401, 401, 403, 403, 404, 403]),
    ("list_erasures", [401, 401, 403, 403, 404, 403]),
    ("create_issuer", [401, 401, 403, 403, 404, 403]),
    ("list_issuers", [401, 401, 403, 403, 404, 403]),
    ("delete_issuer", [401, 401, 403, 403, 404, 403]),
    ("create_key", [401, 401, 403, 403, 404, 403]),
    ("list_keys", [401, 401, 403, 403, 404, 403]),
    ("rotate_key", [401, 401, 403, 403, 404, 403]),
    ("revoke_key", [401, 401, 403, 403, 404, 403]),
    ("list_audit", [401, 401, 403, 403, 404, 403]),
    ("list_archive", [401, 401, 403, 403, 404, 403]),
    ("restore_skill", [401, 401, 403, 403, 404, 403]),
    ("review_version", [401, 401, 403, 403, 404, 403]),
    ("approve_version", [401, 401, 403, 403, 404, 403]),
    ("list_starter_skills", [401, 401, 403, 403, 404, 403]),
    ("get_starter_skill", [401, 401, 403, 403, 404, 403]),
    ("put_starter_skill", [401, 401, 403, 403, 404, 403]),
    ("delete_starter_skill", [401, 401, 403, 403, 404, 403]),
    ("list_starter_versions", [401, 401, 403, 403, 404, 403]),
    ("get_starter_version", [401, 401, 403, 403, 404, 403]),
    ("list_starter_users", [401, 401, 403, 403, 404, 403]),
    ("list_directives", [401, 401, 403, 403, 404, 403]),
    ("get_directive", [401, 401, 403, 403, 404, 403]),
    ("put_directive", [401, 401, 403, 403, 404, 403]),
    ("delete_directive", [401, 401, 403, 403, 404, 403]),
    ("list_directive_versions", [401, 401, 403, 403, 404, 403]),
    ("put_webhook", [401, 401, 403, 403, 404, 403]),
    ("get_webhook", [401, 401, 403, 403, 404, 403]),
    ("delete_webhook", [401, 401, 403, 403, 404, 403]),
    ("test_webhook", [401, 401, 403, 403, 404, 403]),
    ("list_user_sessions", [401, 401, 403, 403, 404, 403]),
    ("end_user_session", [401, 401, 403, 403, 404, 403]),
    ("list_job_queues", [401, 401, 403, 403, 404, 403]),
    ("list_jobs", [401, 401, 403, 403, 404, 403]),
    ("retry_job", [401, 401, 403, 403, 404, 403]),
    ("discard_job", [401, 401, 403, 403, 404, 403]),
    ("list_processes", [401, 401, 403, 403, 403, 403]),
    ("get_models", [401, 401, 403, 403, 403, 403]),
    ("get_stats", [401, 401, 403, 403, 403, 403]),
];

/// Passages of what is Alice's.
pub const HERS: [&str; 9] = [
    "somebody asks",
    "First this",
    "then this",
    "alpha",
    "the attic",
    "the cellar",
    "night trains",
    "Call me Al",
    "parrots",
];

/// The stream of Alice's session; everybody may have one of that name.
const STREAM: &str = "chat-alice";

/// What a request needs to name.
#[derive(Clone)]
pub struct Names {
    /// A skill, by name or id.
    pub skill: String,
    /// A session.
    pub session: String,
    memory: String,
    example: String,
    tenant: String,
    user: String,
    issuer: String,
    key: String,
    archived: String,
    submission: String,
    dream: String,
    job: i64,
}

impl Names {
    /// The same with another skill and another submission.
    pub fn about(&self, skill: &str, submission: &str) -> Self {
        Self { skill: skill.to_owned(), submission: submission.to_owned(), ..self.clone() }
    }
}

enum Body {
    None,
    Json(Value),
    /// With an idempotency key: however often it is sent, it is done and answered once.
    Once(Value),
    Bytes,
    Form,
}

type Step = (&'static str, Method, String, Body);

/// One request for every operation.
fn walk(names: &Names) -> Vec<Step> {
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
    // Of a skill that the caller does not have there is nothing to compare with.
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

fn walk_of_dreams(names: &Names) -> Vec<Step> {
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

/// A save under their name that says it is based on their version: a user without such a skill is at version 0.
fn based_on_theirs() -> Value {
    let mut body = skill("mcp/plan");
    body["content"] = json!("# Stolen\n");
    body["expected_version"] = json!(3);
    body
}

async fn take(caller: &Caller, step: &Step) -> Answer {
    let (name, method, path, body) = step;
    let sending = caller.send(method.clone(), path);
    match body {
        Body::None => sending.await,
        Body::Json(value) => sending.json(value).await,
        Body::Once(value) => sending.header("Idempotency-Key", name).json(value).await,
        Body::Bytes => sending.body("application/octet-stream", "stolen").await,
        Body::Form => sending.files(&[("x.zip", &zip(&[("README.md", b"a stray")]))]).await,
    }
}

/// Calls an operation about things that are not there.
pub async fn take_missing(caller: &Caller, operation: &str) -> Answer {
    let steps = walk(&nobody());
    take(caller, steps.iter().find(|step| step.0 == operation).unwrap()).await
}

/// Takes every step as this caller; what each was answered.
pub async fn take_all(caller: &Caller, names: &Names) -> Vec<(&'static str, Answer)> {
    let mut answers = Vec::new();
    for step in walk(names) {
        answers.push((step.0, take(caller, &step).await));
    }
    answers
}

async fn first_id(admin: &Caller, list: &str) -> String {
    admin.get(&format!("/v1/admin/{list}")).await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned()
}

/// Alice's skill with three versions and a file, a deleted one, a session, a memory, a soul, a key: something of every
/// kind.
pub async fn furnish(world: &World) -> (Names, String) {
    let alice = &world.alice;
    let id = alice.create(skill("mcp/plan")).await["id"].as_str().unwrap().to_owned();
    alice.replace("mcp/plan", "then that", "then this").await.ok(200);
    let file = "/v1/skills/mcp%2Fplan/resources/references/a.md";
    alice.send(Method::PUT, file).body("text/plain", "alpha").await.ok(200);
    alice.create_all(&["gone"]).await;
    alice.delete("/v1/skills/gone").await.empty(204);
    world.backend().await;
    world.admin.put("/v1/directives/summary", json!({"text": "Write of parrots."})).await.ok(200);
    let (session, memory) = talk(alice).await;
    let load = alice.get("/v1/skills/mcp%2Fplan").header("Knowhow-Session", &session);
    load.await.ok(200);
    let waiting =
        json!({"name": "waiting", "description": "Waits. Use never.", "content": "# Waits\n\nIn the attic.\n"});
    let waiting = alice.send(Method::POST, "/v1/skills").header("Knowhow-Session", "nobody-knows-it").json(&waiting);
    let waiting = waiting.await.ok(202)["id"].take();
    let dream = alice.post("/v1/dreams", json!({})).await.ok(202)["items"][0]["id"].take();
    let example = learned(alice, "mcp/plan", &["tidy up the attic today"]).await[0]["id"].take();
    let names = Names {
        skill: "mcp/plan".into(),
        session,
        memory,
        example: example.as_str().unwrap().to_owned(),
        tenant: world.slug.clone(),
        user: "alice".into(),
        issuer: first_id(&world.admin, "issuers").await,
        key: first_id(&world.admin, "keys").await,
        archived: first_id(&world.admin, "archive").await,
        submission: waiting.as_str().unwrap().to_owned(),
        dream: dream.as_str().unwrap().to_owned(),
        job: jobs::enqueue(world, "alice").await,
    };
    (names, id)
}

/// Her conversation and what came of it: its id, and that of a memory.
async fn talk(alice: &Caller) -> (String, String) {
    alice.put("/v1/soul", json!({"text": "Call me Al."})).await.ok(200);
    let memory = json!({"content": "Prefers night trains", "core": true});
    let memory = alice.post("/v1/memories", memory).await.ok(201)["id"].take();
    let session = alice.post("/v1/sessions", json!({"key": STREAM})).await.ok(201)["id"].take();
    let path = format!("/v1/sessions/{}", session.as_str().unwrap());
    alice.post(&format!("{path}/turns"), json!({"message": "tidy up the attic today"})).await.ok(200);
    alice.post(&format!("{path}/reply"), json!({"message": "it is in the cellar"})).await.ok(200);
    (session.as_str().unwrap().to_owned(), memory.as_str().unwrap().to_owned())
}

/// Sees to it that a stranger has a session and a snapshot, as all who come again do, and a dream: its job stands in the list
/// of the tenant's jobs from then on.
pub async fn settle(stranger: &Caller) {
    take(stranger, &walk_of_dreams(&nobody())[0]).await.ok(202);
    stranger.post("/v1/sessions", json!({"key": STREAM})).await.ok(201);
    assert!(stranger.names().await.is_empty());
}

fn nobody() -> Names {
    let id = || uuid::Uuid::now_v7().to_string();
    Names {
        skill: "mcp/none".into(),
        session: id(),
        memory: id(),
        example: id(),
        tenant: "no-such-tenant".into(),
        user: "nobody".into(),
        issuer: id(),
        key: id(),
        archived: id(),
        submission: id(),
        dream: id(),
        job: i64::MAX,
    }
}

/// Everything that is Alice's or her tenant's.
pub async fn inventory(world: &World) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for path in [
        "/v1/skills",
        "/v1/skills/mcp%2Fplan?peek=true",
        "/v1/skills/mcp%2Fplan/versions",
        "/v1/skills/mcp%2Fplan/examples",
        "/v1/skills/export?examples=true",
    ] {
        all.push(world.alice.get(path).await.body);
    }
    for list in ["users", "issuers", "keys", "archive", "jobs"] {
        all.push(world.admin.get(&format!("/v1/admin/{list}")).await.body);
    }
    all.push(world.admin.get("/v1/directives/summary").await.body);
    all.push(world.admin.get("/v1/admin/audit?limit=200&user=alice").await.body);
    // What is kept of all users together grows with strangers too.
    let mut tenant = world.operator.get(&format!("/v1/admin/tenants/{}", world.slug)).await.ok(200);
    for grows in ["stored", "used"] {
        tenant.as_object_mut().unwrap().remove(grows).unwrap();
    }
    all.push(tenant.to_string().into_bytes());
    let sessions = world.alice.get("/v1/sessions").await;
    let id = sessions.json()["items"][0]["id"].take();
    let path = format!("/v1/sessions/{}", id.as_str().unwrap());
    let [turn, messages] = ["/turns/1", "/messages"].map(|rest| format!("{path}{rest}"));
    for path in [
        &path,
        &turn,
        &messages,
        "/v1/memories",
        "/v1/soul/versions",
        "/v1/conversations",
        "/v1/snapshot",
        "/v1/dreams",
        "/v1/learning",
    ] {
        all.push(world.alice.get(path).await.body);
    }
    all.push(sessions.body);
    all
}

/// What of an answer may not tell foreign from missing.
fn telling(answer: &Answer) -> (u16, Vec<(String, Vec<u8>)>, String) {
    let own = answer.header("x-request-id").to_owned();
    let mut headers: Vec<(String, Vec<u8>)> = answer
        .headers
        .iter()
        // A connection is closed where the answer came before the whole body.
        .filter(|(name, _)| !["x-request-id", "date", "connection"].contains(&name.as_str()))
        .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
        .collect();
    headers.sort();
    let mut text = answer.text().replace(&own, "ID");
    // A snapshot that is rendered anew lasts longer, a session that is given again begins later.
    if let Ok(json) = serde_json::from_str::<Value>(&text) {
        let moments = [&json["expires_at"], &json["started_at"], &json["snapshot"]["expires_at"]];
        for moment in moments.into_iter().filter_map(Value::as_str) {
            text = text.replace(moment, "LATER");
            // A moment on a whole millisecond is written with fewer digits; the text itself is compared.
            headers.retain(|(name, _)| name != "content-length");
        }
    }
    (answer.status, headers, text)
}

#[tokio::test]
async fn nobody_gets_at_what_is_somebody_elses() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let (theirs, id) = furnish(&world).await;
    let by_id = Names { skill: id, ..theirs.clone() };
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        settle(stranger).await;
    }
    let bad = world.expired();
    let strangers = [&world.anonymous, &bad, &world.bob, &elsewhere.alice, &elsewhere.admin];
    let before = inventory(&world).await;
    let mut seen: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for caller in strangers {
        for ((step, twin), missing) in walk(&theirs).iter().zip(walk(&by_id)).zip(walk(&nobody())) {
            let answer = take(caller, step).await;
            let theirs = HERS.into_iter().chain([theirs.session.as_str()]).find(|words| answer.text().contains(words));
            assert!(theirs.is_none(), "{theirs:?}: {answer}");
            seen.entry(step.0).or_default().push(answer.status);
            assert_eq!(telling(&answer), telling(&take(caller, &missing).await), "{}", step.0);
            assert_eq!(telling(&answer), telling(&take(caller, &twin).await), "{}", step.0);
        }
    }
    assert_eq!(inventory(&world).await, before);
    for stranger in [&world.bob, &elsewhere.alice, &elsewhere.admin] {
        assert!(stranger.names().await.is_empty());
    }
    for step in walk(&theirs) {
        seen.entry(step.0).or_default().push(take(&world.read_only, &step).await.status);
    }
    let golden: BTreeMap<&str, Vec<u16>> = GOLDEN.iter().map(|(name, row)| (*name, row.to_vec())).collect();
    for (operation, row) in &seen {
        assert_eq!(Some(row), golden.get(operation), "{operation}");
    }
    assert_eq!(inventory(&world).await[2..], before[2..]);
    assert_eq!(walked(&seen), documented(&world.anonymous).await);
}

fn walked(seen: &BTreeMap<&str, Vec<u16>>) -> BTreeSet<String> {
    seen.keys().map(|operation| (*operation).to_owned()).collect()
}

async fn documented(anybody: &Caller) -> BTreeSet<String> {
    let document = anybody.get("/openapi.json").await.ok(200);
    let items = document["paths"].as_object().unwrap().values();
    items
        .flat_map(|item| item.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap().to_owned())
        .collect()
}
