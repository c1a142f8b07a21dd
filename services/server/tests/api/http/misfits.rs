//! JSON of the wrong shape: the answer has the pointer of the member, and describes the expected value in terms of
//! JSON.

use serde_json::{Value, json};

use crate::callers::{World, skill};

#[tokio::test]
async fn a_wrong_member_is_named_in_terms_of_json() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("plan")).await;
    let edit = |edit: Value| json!({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "a", "new_string": "b"}, edit]});
    for (method, path, body, pointer, words) in [
        ("POST", "/v1/sessions", json!({"max_turns": -1}), "/max_turns", "must be a whole number of at least 0, is -1"),
        (
            "POST",
            "/v1/sessions",
            json!({"max_turns": "5"}),
            "/max_turns",
            "must be a whole number of at least 0, is a string",
        ),
        ("POST", "/v1/sessions", json!({"max_turns": 5_000_000_000_u64}), "/max_turns", "from 0 to 4294967295"),
        (
            "POST",
            "/v1/sessions",
            json!({"channel": "fax"}),
            "/channel",
            "must be one of chat, voice, sms, scheduled, nudge",
        ),
        ("POST", "/v1/sessions", json!({"channel": 5}), "/channel", "must be a string, is 5"),
        ("POST", "/v1/sessions", json!({"turns": 5}), "/turns", "is unknown; allowed are key, channel, max_turns"),
        ("POST", "/v1/sessions", json!({"inline_top": "yes"}), "/inline_top", "must be true or false"),
        ("POST", "/v1/skills/match", json!({}), "/message", "is missing"),
        (
            "POST",
            "/v1/skills",
            json!({"name": "x", "description": "d", "content": "c", "tags": "t"}),
            "/tags",
            "must be",
        ),
        ("PATCH", "/v1/skills/plan", edit(json!({"new_string": "b"})), "/edits/2/old_string", "is missing"),
        (
            "PATCH",
            "/v1/skills/plan",
            edit(json!({"old_string": 3, "new_string": "b"})),
            "/edits/2/old_string",
            "must be a string",
        ),
        ("PATCH", "/v1/skills/plan", edit(json!({"old_string": "a", "neu": "b"})), "/edits/2/neu", "is unknown"),
        ("PATCH", "/v1/skills/plan", json!({"edits": {}}), "/edits", "must be a list, is an object"),
    ] {
        let answer = alice.send(method.parse().unwrap(), path).json(&body).await;
        answer.invalid(pointer, words);
        for inside in ["u32", "i32", "usize", "struct", "sequence", " column "] {
            assert!(!answer.text().contains(inside), "{inside}: {answer}");
        }
    }
    let World { operator, admin, slug, .. } = &World::new().await;
    let tenant = format!("/v1/admin/tenants/{slug}");
    let sms = |settings: Value| json!({"settings": {"channels": {"sms": settings}}});
    operator
        .patch(&tenant, sms(json!({"max_turns": "5"})))
        .await
        .invalid("/settings/channels/sms/max_turns", "whole number");
    operator.patch(&tenant, sms(json!({"turns": 5}))).await.invalid("/settings/channels/sms/turns", "is unknown");
    operator.patch(&tenant, sms(json!([5]))).await.invalid("/settings/channels/sms", "must be an object, is a list");
    let fax = json!({"settings": {"channels": {"fax": {}}}});
    operator
        .patch(&tenant, fax)
        .await
        .invalid("/settings/channels/fax", "allowed are chat, voice, sms, scheduled, nudge");
    let key = json!({"name": "k", "scopes": ["admin"], "expires_at": "soon"});
    admin.post("/v1/admin/keys", key).await.invalid("/expires_at", "must be a date and time such as");
    let key = json!({"name": "k", "scopes": ["admin", "root"]});
    admin.post("/v1/admin/keys", key).await.invalid("/scopes/1", "must be one of skills:read");
}

#[tokio::test]
async fn invalid_json_is_malformed_with_its_position() {
    let World { alice, .. } = &World::new().await;
    for text in ["{\"max_turns\": -1", "{\"max_turns\" -1}", "{'max_turns': 1}", "{\"channel\": sms}"] {
        let sent = alice.send(reqwest::Method::POST, "/v1/sessions").body("application/json", text);
        let problem = sent.await.refused(400, "malformed");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.starts_with("the body is not valid JSON: ") && detail.contains("line 1 column"), "{detail}");
    }
    let twice =
        alice.send(reqwest::Method::POST, "/v1/sessions").body("application/json", r#"{"key": "a", "key": "b"}"#);
    twice.await.invalid("/key", "is given twice");
}

#[tokio::test]
async fn a_query_that_is_not_utf8_is_malformed() {
    let World { alice, anonymous, .. } = &World::new().await;
    for query in ["q=%ff", "q=caf%e9", "q=%c3%28", "%ff=1", "limit=5&q=%e2%82", "q=%ed%a0%80"] {
        let problem = alice.get(&format!("/v1/skills?{query}")).await.refused(400, "malformed");
        assert!(problem["detail"].as_str().unwrap().contains("not UTF-8"), "{query}: {problem}");
        anonymous.get(&format!("/v1/skills?{query}")).await.refused(401, "unauthenticated");
    }
    alice.get("/v1/skills?q=caf%C3%A9+%F0%9F%8D%B5&limit=5").await.ok(200);
    alice.get("/v1/skills?q=100%25").await.ok(200);
}
