//! Reported uses: counted once for each combination of skill, session, memory and day.

use serde_json::{Value, json};

use crate::callers::World;

/// Acceptance case 25: repeated reports of one use count once.
#[tokio::test]
async fn a_repeated_report_of_a_use_counts_once() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let report = async |session: Value, memory: Value| {
        let body = json!({"skill": "p", "session_key": session, "memory_id": memory});
        alice.post("/v1/skills/used", body).await.ok(200)
    };
    for (session, memory, total) in [
        (json!("s"), json!("m"), 1),
        (Value::Null, Value::Null, 2),
        (json!("s2"), json!("m"), 3),
        (json!("s"), json!("m2"), 4),
        (json!("s"), Value::Null, 5),
        (Value::Null, json!("m"), 6),
    ] {
        for round in 0..5 {
            let counted = report(session.clone(), memory.clone()).await;
            assert_eq!(counted, json!({"counted": round == 0, "times_used": total}));
        }
    }
    assert_eq!(alice.post("/v1/skills/used", json!({"skill": "p"})).await.ok(200)["counted"], false);
    let loaded = alice.peek("p").await;
    assert_eq!(loaded["times_used"], 6);
    assert!(loaded["last_used_at"].is_string());
}

#[tokio::test]
async fn an_outcome_may_be_reported_later() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/p"]).await;
    let report = async |outcome: Value| {
        let body =
            json!({"skill": "p", "session_key": "s", "outcome": outcome, "project": "x", "runtime_path": "/a/b"});
        alice.post("/v1/skills/used", body).await.ok(200)
    };
    assert_eq!(report(Value::Null).await["counted"], true);
    assert_eq!(report(json!("success")).await, json!({"counted": false, "times_used": 1}));
    assert_eq!(report(json!("failure")).await, json!({"counted": false, "times_used": 1}));
}

#[tokio::test]
async fn fifty_concurrent_reports_are_one_use() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let reports = (0..50).map(|_| async {
        let body = json!({"skill": "p", "session_key": "s"});
        alice.post("/v1/skills/used", body).await.ok(200)["counted"].as_bool().unwrap()
    });
    let counted = futures_util::future::join_all(reports).await.into_iter().filter(|c| *c).count();
    assert_eq!((counted, alice.peek("p").await["times_used"].as_i64()), (1, Some(1)));
}

#[tokio::test]
async fn malformed_reports_are_rejected() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let refuse = |member: &str, value: Value| {
        let mut body = json!({"skill": "p"});
        body[member] = value;
        alice.post("/v1/skills/used", body)
    };
    for member in ["session_key", "memory_id", "project"] {
        refuse(member, json!("x".repeat(256))).await.invalid(&format!("/{member}"), "255");
        refuse(member, json!("a\0b")).await.invalid(&format!("/{member}"), "NUL");
    }
    refuse("runtime_path", json!("x".repeat(1025))).await.invalid("/runtime_path", "1024");
    refuse("outcome", json!("perfect")).await.refused(422, "invalid");
    refuse("more", json!(1)).await.refused(422, "invalid");
    refuse("skill", json!("none")).await.refused(404, "not-found");
    refuse("skill", json!("a\0b")).await.refused(404, "not-found");
    bob.post("/v1/skills/used", json!({"skill": "p"})).await.refused(404, "not-found");
    assert_eq!(alice.peek("p").await["times_used"], 0);
    assert_eq!(read_only.post("/v1/skills/used", json!({"skill": "p"})).await.ok(200)["counted"], true);
    let widest = "\u{1F600}".repeat(255);
    let body = json!({"skill": "p", "session_key": widest, "memory_id": widest, "project": widest});
    alice.post("/v1/skills/used", body).await.ok(200);
}
