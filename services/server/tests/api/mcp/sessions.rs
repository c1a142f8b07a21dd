//! The session of a call, named in `_meta` or a header: it is stored with writes and uses, and its taint marks the
//! writes.

use serde_json::{Value, json};
use uuid::Uuid;

use super::client::{OLDER, older_request, request};
use crate::answers::{Answer, pluck};
use crate::callers::{Caller, World, skill};
use crate::sql;

const MEMBER: &str = "dev.knowhow/session";

/// A way to name the session of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Header,
    Meta,
    OlderMeta,
}

const WAYS: [Way; 3] = [Way::Header, Way::Meta, Way::OlderMeta];

impl Way {
    /// Combines this way with a session.
    fn to(self, session: &str) -> CallFrom<'_> {
        CallFrom { way: self, session }
    }
}

/// The session of a call and the way to name it.
struct CallFrom<'a> {
    way: Way,
    session: &'a str,
}

/// The session in `_meta`, and whether the message is of the older revision.
struct Meta {
    is_older: bool,
    session: Value,
}

/// Calls a tool with a session in `_meta`.
async fn in_meta(caller: &Caller, meta: Meta, tool: &str, arguments: Value) -> Answer {
    let Meta { is_older, session } = meta;
    let params = json!({"name": tool, "arguments": arguments});
    if is_older {
        let mut message = older_request("tools/call", params);
        message["params"]["_meta"] = json!({MEMBER: session});
        return caller.bare(&message).header("MCP-Protocol-Version", OLDER).json(&message).await;
    }
    let mut message = request("tools/call", params);
    message["params"]["_meta"][MEMBER] = session;
    caller.message(&message).await
}

async fn call(caller: &Caller, from: CallFrom<'_>, tool: &str, arguments: Value) -> Value {
    let session = from.session;
    let answer = match from.way {
        Way::Header => caller.tool(tool, arguments).header("Knowhow-Session", session).await,
        Way::Meta => in_meta(caller, Meta { is_older: false, session: json!(session) }, tool, arguments).await,
        Way::OlderMeta => in_meta(caller, Meta { is_older: true, session: json!(session) }, tool, arguments).await,
    };
    answer.done(tool)
}

/// Opens a session with one turn and returns its id.
async fn open(caller: &Caller, key: &str) -> String {
    let id = caller.post("/v1/sessions", json!({"key": key})).await.ok(201)["id"].take();
    let id = id.as_str().unwrap().to_owned();
    caller.post(&format!("/v1/sessions/{id}/turns"), json!({"message": "hello there"})).await.ok(200);
    id
}

async fn taint(caller: &Caller, id: &str) {
    caller.post(&format!("/v1/sessions/{id}/taint"), json!({"source": "a web page"})).await.ok(200);
}

async fn newest(caller: &Caller, name: &str) -> Value {
    caller.get(&format!("/v1/skills/{name}/versions")).await.ok(200)["items"][0].take()
}

fn is_tainted(version: &Value) -> bool {
    version["tainted"].as_bool().unwrap()
}

/// Recall learns from `skill_view` as it does from loads over REST.
#[tokio::test]
async fn recall_learns_from_views_in_a_session() {
    let World { alice, .. } = &World::new().await;
    for (n, way) in WAYS.into_iter().enumerate() {
        let (key, name) = (format!("chat-{n}"), format!("plan-{n}"));
        alice.create(skill(&name)).await;
        let id = open(alice, &key).await;
        let message = json!({"message": "what do we do about the garden"});
        alice.post(&format!("/v1/sessions/{id}/turns"), message).await.ok(200);
        call(alice, way.to(&key), "skill_view", json!({"name": name})).await;
        crate::examples::learned(alice, &name, &["what do we do about the garden"]).await;
    }
}

#[tokio::test]
async fn writes_store_their_session_and_its_taint() {
    let World { alice, .. } = &World::unreviewed().await;
    for (n, way) in WAYS.into_iter().enumerate() {
        let (key, name) = (format!("chat-{n}"), format!("plan-{n}"));
        let id = open(alice, &key).await;
        for (session, old, new) in [(id.as_str(), "First", "Second"), (key.as_str(), "then", "and then")] {
            call(alice, way.to(session), "skill_save", skill(&name)).await;
            let edits = json!([{"old_string": old, "new_string": new}]);
            call(alice, way.to(session), "skill_patch", json!({"name": name, "edits": edits})).await;
            let version = newest(alice, &name).await;
            assert_eq!((&version["session"], is_tainted(&version)), (&json!(session), false), "{way:?}");
        }
        // The taint also marks what the session wrote before.
        taint(alice, &id).await;
        let edits = json!([{"old_string": "that", "new_string": "those"}]);
        call(alice, way.to(&key), "skill_patch", json!({"name": name, "edits": edits})).await;
        call(alice, way.to(&id), "skill_save", skill(&format!("new-{n}"))).await;
        assert!(is_tainted(&newest(alice, &name).await) && is_tainted(&newest(alice, &format!("new-{n}")).await));
        let history = alice.does("skill_history", json!({"name": name, "limit": 2})).await;
        assert_eq!(pluck(&history["versions"], "tainted"), ["true", "true"]);
        assert!(is_tainted(&call(alice, way.to(&key), "memory_save", json!({"content": format!("Fact {n}")})).await));
        assert_eq!(alice.get("/v1/memories").await.ok(200)["items"][0]["session"], json!(key));
        let soul = call(alice, way.to(&id), "soul_update", json!({"text": format!("Be {n}.")})).await;
        assert!(is_tainted(&soul), "{soul}");
        let recalled = alice.tool("memory_recall", json!({"q": format!("fact {n}")})).await;
        let text = recalled.text();
        assert!(text.contains("- fact of ") && text.contains(", untrusted: Fact"), "{recalled}");
    }
    // The next call without a session is not affected.
    alice.does("skill_save", skill("plain")).await;
    let version = newest(alice, "plain").await;
    assert_eq!((&version["session"], is_tainted(&version)), (&Value::Null, false));
    assert!(!is_tainted(&alice.does("memory_save", json!({"content": "Plain"})).await));
}

/// The session in `_meta` is stored with the version. If either session is tainted, the version is tainted.
#[tokio::test]
async fn the_session_in_meta_takes_precedence_over_the_header() {
    let World { alice, .. } = &World::unreviewed().await;
    let (clean, tainted) = (open(alice, "clean").await, open(alice, "tainted").await);
    taint(alice, &tainted).await;
    let cases = [("alpha", &clean, &tainted, true), ("beta", &tainted, &clean, true), ("gamma", &clean, &clean, false)];
    for (name, inner, outer, expected) in cases {
        let mut message = request("tools/call", json!({"name": "skill_save", "arguments": skill(name)}));
        message["params"]["_meta"][MEMBER] = json!(inner);
        alice.message(&message).header("Knowhow-Session", outer).await.done("skill_save");
        let version = newest(alice, name).await;
        assert_eq!((&version["session"], is_tainted(&version)), (&json!(inner), expected));
    }
}

/// A session of another user is treated like an unknown one: the text is tainted, and the answers do not differ.
#[tokio::test]
async fn a_foreign_session_is_treated_as_unknown() {
    let (world, elsewhere) = (World::unreviewed().await, World::unreviewed().await);
    let World { alice, bob, .. } = &world;
    let foreign = [open(bob, "bobs-stream").await, open(&elsewhere.alice, "far-stream").await];
    let before = bob.get(&format!("/v1/sessions/{}", foreign[0])).await.body;
    let nowhere = Uuid::now_v7().to_string();
    let sessions = [&foreign[0], &foreign[1], &nowhere];
    let mut told = Vec::new();
    for session in sessions {
        for way in WAYS {
            let saved = call(alice, way.to(session), "skill_save", skill("plan")).await;
            let version = newest(alice, "plan").await;
            assert!(is_tainted(&version) && version["session"] == *session, "{version}");
            assert!(is_tainted(&call(alice, way.to(session), "memory_save", json!({"content": "x"})).await));
            call(alice, way.to(session), "skill_view", json!({"name": "plan"})).await;
            alice.delete("/v1/skills/plan").await.empty(204);
            told.push((saved["version"].clone(), saved["unchanged"].clone()));
        }
    }
    told.dedup();
    assert_eq!(told.len(), 1);
    assert_eq!(bob.get(&format!("/v1/sessions/{}", foreign[0])).await.body, before);
}

#[tokio::test]
async fn a_view_counts_as_use_and_a_list_does_not() {
    let World { alice, slug, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    for (n, way) in WAYS.into_iter().enumerate() {
        let session = format!("chat-{}", Uuid::now_v7());
        call(alice, way.to(&session), "skill_view", json!({"name": "plan"})).await;
        // Neither list nor suggestion counts as use.
        call(alice, way.to(&session), "skill_list", json!({"q": "plan"})).await;
        call(alice, way.to(&session), "skill_suggest", json!({"context": "plan"})).await;
        let of_day = format!(
            "select from usage_events e join tenants t using (tenant_id)
             where t.slug = '{slug}' and e.kind = 'view' and e.times = {}",
            n + 1
        );
        assert_eq!(sql::execute(&of_day), 1, "{way:?}");
        assert_eq!(alice.peek("plan").await["times_used"], n + 1);
    }
}

/// An invalid session is refused and not ignored, because its writes would seem untainted.
#[tokio::test]
async fn invalid_sessions_are_refused() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    let odd = [
        json!(""),
        json!("a b"),
        json!("a\nb"),
        json!("sch\u{f6}n"),
        json!("x".repeat(256)),
        json!(7),
        json!(true),
        json!([]),
        json!(["chat"]),
        json!({"id": "chat"}),
    ];
    for session in odd {
        for is_older in [false, true] {
            for (tool, arguments) in [
                ("skill_save", skill("x")),
                ("skill_view", json!({"name": "plan"})),
                ("memory_save", json!({"content": "x"})),
                ("soul_update", json!({"text": "x"})),
            ] {
                let meta = Meta { is_older, session: session.clone() };
                let (text, problem) = in_meta(alice, meta, tool, arguments).await.failed();
                assert_eq!(problem["type"], "/problems/malformed", "{session}");
                assert!(text.contains("Knowhow-Session takes 1 to 255"), "{text}");
            }
        }
    }
    let lone = request("tools/call", json!({"name": "skill_save", "arguments": skill("x")})).to_string();
    let lone = lone.replacen("\"_meta\":{", &format!("\"_meta\":{{\"{MEMBER}\":\"\\ud800\","), 1);
    let answer = alice.bytes(lone.as_bytes()).header("MCP-Protocol-Version", OLDER).await;
    assert!(answer.status == 400 || answer.json()["result"]["isError"] == true, "{answer}");
    assert_eq!(alice.names().await, ["plan"]);
    assert_eq!(alice.peek("plan").await["times_used"], 0);
    for is_older in [false, true] {
        in_meta(alice, Meta { is_older, session: Value::Null }, "skill_save", skill("null")).await.done("skill_save");
    }
    assert!(!is_tainted(&newest(alice, "null").await));
}

/// With two names for the session, two readers could take different ones.
#[tokio::test]
async fn a_session_named_twice_is_refused() {
    let World { alice, .. } = &World::new().await;
    let save =
        older_request("tools/call", json!({"name": "skill_save", "arguments": skill("x"), "_meta": {}})).to_string();
    for twice in [
        format!("\"_meta\":{{\"{MEMBER}\":\"a\",\"{MEMBER}\":\"b\"}}"),
        format!("\"_meta\":{{\"{MEMBER}\":\"a\",\"dev.knowhow\\/session\":null}}"),
        format!("\"_meta\":{{\"{MEMBER}\":\"a\",\"traceparent\":\"x\",\"traceparent\":\"y\"}}"),
    ] {
        let body = save.replacen("\"_meta\":{}", &twice, 1);
        assert_ne!(body, save);
        alice.bytes(body.as_bytes()).header("MCP-Protocol-Version", OLDER).await.error(400, -32600);
    }
    assert!(alice.names().await.is_empty());
}

/// Taint stays with a text through edits, rollbacks and restores.
#[tokio::test]
async fn restored_text_is_as_tainted_as_before() {
    let World { alice, admin, .. } = &World::unreviewed().await;
    let unknown = Uuid::now_v7().to_string();
    call(alice, Way::Meta.to(&unknown), "skill_save", skill("plan")).await;
    alice.replace("plan", "First", "Last").await.ok(200);
    assert!(is_tainted(&newest(alice, "plan").await));
    for (back_to, expected) in [(1, true), (2, true), (3, true)] {
        alice.post("/v1/skills/plan/rollback", json!({"version": back_to})).await.ok(200);
        assert_eq!(is_tainted(&newest(alice, "plan").await), expected, "{back_to}");
    }
    let rollback = alice.post("/v1/skills/plan/rollback", json!({"version": 2}));
    rollback.header("Knowhow-Session", &unknown).await.ok(200);
    assert!(is_tainted(&newest(alice, "plan").await));
    let marks = async || pluck(&alice.get("/v1/skills/plan/versions").await.ok(200)["items"], "tainted");
    let before = marks().await;
    alice.delete("/v1/skills/plan").await.empty(204);
    let archived = admin.get("/v1/admin/archive").await.ok(200)["items"][0]["id"].take();
    let restore = format!("/v1/admin/archive/{}/restore", archived.as_str().unwrap());
    admin.post(&restore, json!({"reason": "r"})).await;
    assert_eq!(marks().await, before);
    assert_eq!(before, ["true"; 6]);
}
