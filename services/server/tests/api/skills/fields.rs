//! Changes of discovery fields: edited in place, removed by null. Pinning makes no version.

use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{World, skill};

#[tokio::test]
async fn changed_fields_leave_the_rest_byte_for_byte() {
    let World { alice, .. } = &World::new().await;
    let skill_md =
        "---\n# a comment\nname: p\ndescription: \"old\"   # kept\ncategory: home\nodd: {k: [1]}\n---\n\nBody  \n";
    alice.create(json!({"skill_md": skill_md})).await;
    let change = json!({"description": "new", "tags": ["b", "a"], "category": null, "metadata": {"k": "v"}});
    let answer = alice.put("/v1/skills/p/fields", change.clone()).await;
    let saved = answer.ok(200);
    assert_eq!(answer.header("etag"), "\"2\"");
    assert_eq!(
        (&saved["description"], &saved["tags"], &saved["category"]),
        (&json!("new"), &json!(["b", "a"]), &Value::Null)
    );
    assert_eq!(saved["metadata"]["k"], "v");
    let raw = alice.get("/v1/skills/p/SKILL.md").await.text();
    for kept in ["# a comment\n", "# kept\n", "odd: {k: [1]}\n", "---\n\nBody  \n"] {
        assert!(raw.contains(kept), "{raw}");
    }
    let again = alice.put("/v1/skills/p/fields", change).await.ok(200);
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(2), &json!(true)));
}

#[tokio::test]
async fn pinning_makes_no_version() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let pinned = alice.put("/v1/skills/p/fields", json!({"pinned": true})).await.ok(200);
    assert_eq!((&pinned["pinned"], &pinned["version"], &pinned["unchanged"]), (&json!(true), &json!(1), &json!(false)));
    let again = alice.put("/v1/skills/p/fields", json!({"pinned": true})).await.ok(200);
    assert_eq!(again["unchanged"], true);
    assert_eq!(alice.replace("p", "First", "Last").await.ok(200)["pinned"], true);
    assert_eq!(alice.get("/v1/skills").await.ok(200)["items"][0]["pinned"], true);
}

#[tokio::test]
async fn invalid_fields_change_nothing() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let put = |body: Value| alice.put("/v1/skills/p/fields", body);
    put(json!({"description": ""})).await.invalid("/description", "");
    put(json!({"description": "d".repeat(1025)})).await.invalid("/description", "1024");
    put(json!({"summary": "a ".repeat(16)})).await.invalid("/summary", "15");
    put(json!({"tags": vec!["t"; 33]})).await.refused(422, "invalid");
    put(json!({"triggers": vec!["t"; 9]})).await.refused(422, "invalid");
    put(json!({"see_also": ["../not a name"]})).await.refused(422, "invalid");
    put(json!({"role": "king"})).await.refused(422, "invalid");
    put(json!({"content": "x"})).await.refused(422, "invalid");
    for text in ["a\0b", "a\u{7}b"] {
        put(json!({"category": text})).await.refused(422, "invalid");
        put(json!({"tags": [text]})).await.refused(422, "invalid");
    }
    put(json!({"metadata": {"k": "a\0b"}})).await.refused(422, "invalid");
    put(json!({"metadata": {"a\0b": "v"}})).await.refused(422, "invalid");
    assert_eq!(
        put(json!({"tags": ["x"], "expected_version": 7})).await.refused(409, "version-conflict")["current_version"],
        1
    );
    put(json!({"tags": ["x"]})).header("If-Match", "\"7\"").await.refused(412, "version-conflict");
    alice.put("/v1/skills/none/fields", json!({"tags": ["x"]})).await.refused(404, "not-found");
    bob.put("/v1/skills/p/fields", json!({"pinned": true})).await.refused(404, "not-found");
    read_only.put("/v1/skills/p/fields", json!({"pinned": true})).await.refused(403, "forbidden");
    let after = alice.peek("p").await;
    assert_eq!((&after["version"], &after["tags"], &after["pinned"]), (&json!(1), &json!([]), &json!(false)));
}

/// Every change returns the skill exactly as it is read afterwards.
#[tokio::test]
async fn a_change_returns_the_skill_as_it_is_read_afterwards() {
    let World { alice, .. } = &World::new().await;
    let made = alice.create(skill("p")).await;
    assert_eq!(without_verdict(&made), alice.peek("p").await);
    for (method, path, body) in [
        (Method::PUT, "/fields", json!({"tags": ["x"], "pinned": true})),
        (Method::PUT, "/fields", json!({"pinned": false})),
        (Method::PUT, "/fields", json!({"description": "Another one. Use when there is another."})),
        (Method::PATCH, "", json!({"edits": [{"old_string": "First", "new_string": "Last"}]})),
        (Method::PUT, "/resources/references/a.md", json!("x")),
        (Method::POST, "/rollback", json!({"version": 1})),
    ] {
        let answered = alice.send(method, &format!("/v1/skills/p{path}")).json(&body).await.ok(200);
        assert_eq!(without_verdict(&answered), alice.peek("p").await, "{path} {body}");
    }
    let saved = alice.post("/v1/skills", skill("p")).await.ok(200);
    assert_eq!((&saved["unchanged"], without_verdict(&saved)), (&json!(true), alice.peek("p").await));
}

/// Converts the answer of a change to the form of a load.
fn without_verdict(answer: &Value) -> Value {
    let mut skill = answer.clone();
    skill["moved_from"] = Value::Null;
    for verdict in ["unchanged", "similar", "replacements", "matched"] {
        skill.as_object_mut().unwrap().remove(verdict);
    }
    skill
}
