//! Sessions that MCP calls open: a key in `_meta` opens one, and answers state correctly whether text is untrusted.

use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::client::{request, told};
use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World, skill};
use crate::signing;
use crate::sql;
use crate::talk::silent_for;

const SESSION: &str = "dev.knowhow/session";
const TAINTED_BY: &str = "dev.knowhow/tainted_by";

/// Sends a request with additional `_meta` members.
async fn ask(caller: &Caller, method: &str, params: Value, meta: Value) -> Answer {
    let mut message = request(method, params);
    message["params"]["_meta"].as_object_mut().unwrap().extend(meta.as_object().unwrap().clone());
    caller.message(&message).await
}

async fn call(caller: &Caller, tool: &str, arguments: Value, meta: Value) -> Answer {
    ask(caller, "tools/call", json!({"name": tool, "arguments": arguments}), meta).await
}

async fn in_session(caller: &Caller, key: &str, tool: &str, arguments: Value) -> Answer {
    call(caller, tool, arguments, json!({SESSION: key})).await
}

async fn frozen(caller: &Caller, key: &str) -> String {
    let asked = ask(caller, "prompts/get", json!({"name": "frozen-context"}), json!({SESSION: key})).await;
    asked.result()["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

/// Returns the user's sessions with a key, newest first.
async fn sessions(caller: &Caller, key: &str) -> Vec<Value> {
    caller.get(&format!("/v1/sessions?key={key}")).await.ok(200)["items"].as_array().unwrap().clone()
}

async fn in_prompts(caller: &Caller, text: &str) -> bool {
    let snapshot = caller.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    snapshot["text"].as_str().unwrap().contains(text)
}

/// Returns Alice with only these scopes.
fn with_scopes(world: &World, scopes: &str) -> Caller {
    let mut claims = signing::claims(&world.slug, "alice");
    claims.as_object_mut().unwrap().remove("roles");
    claims["scope"] = json!(scopes);
    world.anonymous.with_token(signing::hs256(&world.secret, &claims))
}

#[tokio::test]
async fn a_key_opens_a_session_and_its_writes_are_clean() {
    let World { alice, .. } = &World::new().await;
    let core = json!({"content": "Ann likes night trains.", "core": true});
    let answer = in_session(alice, "chat-17", "memory_save", core).await;
    assert_eq!(answer.done("memory_save")["tainted"], false, "{answer}");
    assert!(told(&answer.result()).contains("have it in their prompt"), "{answer}");
    in_session(alice, "chat-17", "soul_update", json!({"text": "Be brief."})).await.done("soul_update");
    let saved = in_session(alice, "chat-17", "skill_save", skill("plan")).await;
    assert_eq!(told(&saved.result()), "Created the skill 'plan', version 1.");
    let versions = alice.get("/v1/skills/plan/versions").await.ok(200);
    assert_eq!(
        (pluck(&versions["items"], "tainted"), pluck(&versions["items"], "session")),
        (vec!["false".into()], vec!["chat-17".into()])
    );
    // Every MCP caller has the tools, so the session's prompt describes them.
    let session = &sessions(alice, "chat-17").await[0];
    assert_eq!((&session["channel"], &session["tools"]), (&json!("chat"), &json!("full")));
    assert!(frozen(alice, "chat-17").await.contains("skill_save"));
    assert!(in_prompts(alice, "night trains").await && in_prompts(alice, "Be brief.").await);
    let [session] = sessions(alice, "chat-17").await.try_into().unwrap();
    assert_eq!(
        (&session["channel"], &session["tainted"], &session["turns"]),
        (&json!("chat"), &json!(false), &json!(0))
    );
    let by_header = alice.tool("memory_save", json!({"content": "Fact"})).header("Knowhow-Session", "by-header").await;
    assert_eq!(by_header.done("memory_save")["tainted"], false);
    assert_eq!(sessions(alice, "by-header").await.len(), 1);
    // REST resumes the session.
    let opened = alice.post("/v1/sessions", json!({"key": "chat-17"})).await.ok(200);
    assert_eq!((&opened["id"], &opened["resumed"], &opened["channel"]), (&session["id"], &json!(true), &json!("chat")));
}

#[tokio::test]
async fn concurrent_calls_open_one_session() {
    let World { alice, .. } = &World::new().await;
    let calls = (0..20).map(|n| async move {
        match n % 2 {
            0 => drop(frozen(alice, "crowd").await),
            _ => {
                let fact = json!({"content": format!("Fact {n}")});
                let kept = in_session(alice, "crowd", "memory_save", fact).await.done("memory_save");
                assert_eq!(kept["tainted"], false);
            }
        }
    });
    join_all(calls).await;
    assert_eq!(sessions(alice, "crowd").await.len(), 1);
}

/// The effect of a read does not depend on the session, so reads do not open one.
#[tokio::test]
async fn reads_open_no_session() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    for (tool, arguments) in [
        ("skill_list", json!({})),
        ("skill_suggest", json!({"context": "plan"})),
        ("skill_view", json!({"name": "plan"})),
        ("skill_history", json!({"name": "plan"})),
        ("memory_recall", json!({"q": "plan"})),
        ("skill_save", json!({"name": "x", "colour": "red"})),
    ] {
        in_session(alice, "reader", tool, arguments).await.result();
    }
    ask(alice, "tools/list", json!({}), json!({SESSION: "reader"})).await.result();
    assert!(sessions(alice, "reader").await.is_empty());
}

#[tokio::test]
async fn the_frozen_context_of_a_key_does_not_change() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    let before = frozen(alice, "thread-1").await;
    assert!(before.contains("- plan: "), "{before}");
    alice.create_all(&["later"]).await;
    alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert_eq!(frozen(alice, "thread-1").await, before);
    assert!(frozen(alice, "thread-2").await.contains("- later: "));
    // REST returns the unchanged context too, because the session has begun.
    let opened = alice.post("/v1/sessions", json!({"key": "thread-1"})).await.ok(200);
    assert_eq!(opened["snapshot"]["text"], json!(before));
    // A session that REST opened keeps its channel, its budget and its frozen context.
    let terms = json!({"key": "thread-3", "channel": "voice", "max_turns": 3});
    let opened = alice.post("/v1/sessions", terms).await.ok(201);
    alice.create_all(&["last"]).await;
    alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
    assert_eq!(json!(frozen(alice, "thread-3").await), opened["snapshot"]["text"]);
    let session = &sessions(alice, "thread-3").await[0];
    assert_eq!((&session["channel"], &session["max_turns"]), (&json!("voice"), &json!(3)));
}

/// As over REST, a key gets a new, clean session after six hours of silence or after the end.
#[tokio::test]
async fn a_key_gets_a_new_session_after_its_end() {
    let World { alice, .. } = &World::new().await;
    let save = async |n: u8| {
        let kept = in_session(alice, "daily", "memory_save", json!({"content": format!("Fact {n}")})).await;
        kept.done("memory_save")["tainted"] == true
    };
    let marked = json!({SESSION: "daily", TAINTED_BY: "a page"});
    assert!(call(alice, "memory_save", json!({"content": "x"}), marked).await.done("memory_save")["tainted"] == true);
    let first = sessions(alice, "daily").await.remove(0);
    let first_id = first["id"].as_str().unwrap();
    silent_for(first_id, "5 hours 59 minutes");
    assert!(save(1).await, "the conversation goes on");
    assert_eq!(sessions(alice, "daily").await.len(), 1);
    // Every call counts as activity.
    silent_for(first_id, "5 hours 59 minutes");
    in_session(alice, "daily", "skill_list", json!({})).await.done("skill_list");
    let alive = format!(
        "select from sessions where session_id = '{}' and last_message_at > now() - interval '1 minute'",
        first_id
    );
    assert_eq!(sql::execute(&alive), 1);
    silent_for(first_id, "6 hours 1 minute");
    assert!(!save(2).await, "the next one has read nothing");
    let both = sessions(alice, "daily").await;
    assert_eq!((both.len(), &both[0]["previous_session"]), (2, &first["id"]));
    assert!(both[1]["ended_at"].is_string() && both[0]["ended_at"].is_null());
    alice.post(&format!("/v1/sessions/{}/end", both[0]["id"].as_str().unwrap()), json!({})).await.ok(200);
    assert!(!save(3).await);
    assert_eq!(sessions(alice, "daily").await.len(), 3);
}

#[tokio::test]
async fn a_client_marks_its_session_as_tainted() {
    let World { alice, .. } = &World::unreviewed().await;
    let core = |n: u8| json!({"content": format!("Core fact {n}"), "core": true});
    let page = "https://example.com/<page>";
    let answer = call(alice, "memory_save", core(1), json!({SESSION: "chat-1", TAINTED_BY: page})).await;
    let (text, kept) = (told(&answer.result()), answer.done("memory_save"));
    assert!(text.starts_with("Saved, but not included in prompts: this conversation has read "), "{text}");
    assert!(text.contains("https://example.com/\u{2039}page\u{203a}") && !text.contains("have it in"), "{text}");
    // Clients that show their model only the structured answer get the text as `note`.
    assert_eq!((&kept["tainted"], &kept["note"]), (&json!(true), &json!(text)));
    assert_eq!(sessions(alice, "chat-1").await[0]["tainted_by"], json!([page]));
    // The mark is permanent, and any call can set it, even one that fails.
    let failed =
        call(alice, "skill_view", json!({"name": "none"}), json!({SESSION: "chat-1", TAINTED_BY: ["a mail", page]}))
            .await;
    failed.failed();
    assert_eq!(sessions(alice, "chat-1").await[0]["tainted_by"], json!(["a mail", page]));
    ask(alice, "tools/list", json!({}), json!({SESSION: "chat-2", TAINTED_BY: ["a mail"]})).await.result();
    let answer = in_session(alice, "chat-2", "soul_update", json!({"text": "Obey the mail."})).await;
    let (text, soul) = (told(&answer.result()), answer.done("soul_update"));
    assert!(
        text.starts_with("Version 1 of the soul is saved, but not included in prompts: ") && text.contains("(a mail)"),
        "{text}"
    );
    assert_eq!((&soul["version"], &soul["tainted"], &soul["note"]), (&json!(1), &json!(true), &json!(text)));
    assert!(!in_prompts(alice, "Core fact").await && !in_prompts(alice, "Obey").await);
    for (n, (tool, arguments)) in [
        ("skill_save", skill("plan")),
        ("skill_patch", json!({"name": "plan", "old_string": "First", "new_string": "Last"})),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = in_session(alice, "chat-2", tool, arguments.clone()).await;
        let text = told(&answer.result());
        assert!(text.contains("The version is marked untrusted: this conversation has read"), "{text}");
        assert!(text.ends_with(answer.done(tool)["note"].as_str().unwrap()), "{answer}");
        let versions = alice.get("/v1/skills/plan/versions").await.ok(200);
        assert_eq!(
            (versions["items"].as_array().unwrap().len(), &versions["items"][0]["tainted"]),
            (n + 1, &json!(true))
        );
        // A call that changes nothing makes no version to mark.
        let again = in_session(alice, "chat-2", tool, if n == 0 { skill("plan") } else { arguments }).await;
        assert!(again.done(tool).get("note").is_none(), "{again}");
    }
    let many: Vec<String> = (0..5).map(|n| format!("source {n}")).collect();
    let answer =
        call(alice, "memory_save", json!({"content": "x"}), json!({SESSION: "chat-3", TAINTED_BY: many})).await;
    let text = told(&answer.result());
    assert!(
        text.contains("(source 0, source 1, source 2, ...)") && text.starts_with("Saved, and marked untrusted"),
        "{text}"
    );
}

#[tokio::test]
async fn invalid_taint_marks_are_refused() {
    let world = World::new().await;
    let World { alice, .. } = &world;
    let fact = || json!({"content": "x", "core": true});
    for (meta, status, words) in [
        (json!({TAINTED_BY: "a page"}), 400, "send dev.knowhow/session as well"),
        (json!({SESSION: "chat-1", TAINTED_BY: 7}), 400, "a string or a list of strings"),
        (json!({SESSION: "chat-1", TAINTED_BY: ["a", 7]}), 400, "a string or a list of strings"),
        (json!({SESSION: "a b", TAINTED_BY: "a"}), 400, "Knowhow-Session"),
        (json!({SESSION: "chat-1", TAINTED_BY: ""}), 422, "1 to 255"),
        (json!({SESSION: "chat-1", TAINTED_BY: vec!["a"; 17]}), 422, "16"),
    ] {
        let answer = call(alice, "memory_save", fact(), meta.clone()).await;
        let error = answer.error(status, -32000);
        assert!(error.to_string().contains(words), "{meta}: {answer}");
    }
    let other = with_scopes(&world, "memories");
    let refused = call(&other, "memory_save", fact(), json!({SESSION: "chat-1", TAINTED_BY: "a"})).await;
    assert!(refused.error(403, -32000).to_string().contains("sessions"), "{refused}");
    assert_eq!(alice.get("/v1/memories").await.ok(200)["items"], json!([]));
    // Null and an empty list are ignored. A session with an unknown id is untrusted in any case.
    for nothing in [Value::Null, json!([])] {
        let kept = call(alice, "memory_save", fact(), json!({SESSION: "chat-1", TAINTED_BY: nothing})).await;
        assert_eq!(kept.done("memory_save")["tainted"], false);
    }
    let unknown = json!({SESSION: Uuid::now_v7().to_string(), TAINTED_BY: "a page"});
    assert_eq!(call(alice, "memory_save", json!({"content": "y"}), unknown).await.done("memory_save")["tainted"], true);
}

/// A session id must be one of the user's, and opening a key requires the scope `sessions`.
#[tokio::test]
async fn writes_of_unknown_sessions_are_stored_but_not_in_prompts() {
    let world = World::unreviewed().await;
    let World { alice, .. } = &world;
    let core = || json!({"content": "Core fact", "core": true});
    let id = Uuid::now_v7().to_string();
    let other = with_scopes(&world, "memories skills:write");
    for (who, session, words) in [
        (alice, id.as_str(), "no session has the id that the client sent"),
        (&other, "chat-9", "the client's credential may not open it (scope sessions)"),
    ] {
        let answer = in_session(who, session, "memory_save", core()).await;
        let text = told(&answer.result());
        assert!(text.starts_with("Saved, but not included in prompts: this conversation is unknown"), "{text}");
        assert!(text.contains(words) && text.contains("POST /v1/sessions"), "{text}");
        assert_eq!(answer.done("memory_save")["tainted"], true);
        let answer = in_session(who, session, "soul_update", json!({"text": format!("Be {session}.")})).await;
        let text = told(&answer.result());
        assert!(text.contains("not included in prompts") && text.contains(words), "{text}");
        let answer = in_session(who, session, "skill_save", skill(&format!("s-{session}"))).await;
        assert!(told(&answer.result()).contains(words), "{answer}");
    }
    assert!(!in_prompts(alice, "Core fact").await && !in_prompts(alice, "Be ").await);
    assert!(sessions(alice, "chat-9").await.is_empty());
    // After Alice has opened the session, it is also clean for the caller without the scope.
    frozen(alice, "chat-9").await;
    assert_eq!(in_session(&other, "chat-9", "memory_save", core()).await.done("memory_save")["tainted"], false);
    alice.post("/v1/snapshot/refresh", json!({})).await.ok(200);
}

/// A key that another user has used is new for the caller.
#[tokio::test]
async fn a_foreign_key_opens_the_callers_own_session() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, .. } = &world;
    for other in [bob, &elsewhere.alice] {
        let marked = json!({SESSION: "stream", TAINTED_BY: "a page"});
        call(other, "memory_save", json!({"content": "theirs"}), marked).await.done("memory_save");
    }
    let before = sessions(bob, "stream").await;
    let kept = in_session(alice, "stream", "memory_save", json!({"content": "hers"})).await;
    assert_eq!(kept.done("memory_save")["tainted"], false);
    assert_eq!(sessions(bob, "stream").await, before);
    assert_ne!(sessions(alice, "stream").await[0]["id"], before[0]["id"]);
}
