//! Ended conversations: listed, and searched by any form of a word in any language.

use serde_json::{Value, json};

use crate::answers::members;
use crate::callers::{Caller, World};
use crate::sessions::recall::escape;
use crate::sql;
use crate::talk::Talk;

/// Ends a conversation and stores its summary as the worker does, with `terms` as its stemmed words. Returns the
/// session's id.
async fn over(who: &Caller, minutes_ago: u32, title: &str, terms: &[&str]) -> String {
    let talk = Talk::open(who, json!({"channel": "voice"})).await;
    talk.tell("/end", json!({})).await;
    let summary = json!({
        "title": title, "topics": [], "decisions": ["None"], "preferences": [], "pending": [], "made_by": "extract",
    });
    let statement = format!(
        "insert into conversation_summaries
         select tenant_id, user_id, session_id, '{title}', '{summary}', 'extract', '{{{}}}', channel, started_at,
             ended_at - interval '{minutes_ago} minutes', tainted_by <> '{{}}'
         from sessions where session_id = '{}'",
        terms.join(","),
        talk.id
    );
    assert_eq!(sql::execute(&statement), 1);
    talk.id
}

fn titles(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["summary"]["title"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn past_conversations_are_listed_latest_first() {
    let World { alice, bob, .. } = &World::new().await;
    assert_eq!(alice.get("/v1/conversations").await.ok(200), json!({"items": [], "next_cursor": null}));
    for n in [3, 1, 4, 2, 5] {
        over(alice, n * 60, &format!("Trip {n}"), &["trip"]).await;
    }
    let page = alice.get("/v1/conversations").await.ok(200);
    assert_eq!(titles(&page), ["Trip 1", "Trip 2", "Trip 3", "Trip 4", "Trip 5"]);
    assert_eq!(members(&page["items"][0]), ["channel", "ended_at", "session", "started_at", "summary", "tainted"]);
    assert_eq!(
        members(&page["items"][0]["summary"]),
        ["decisions", "facts", "last_messages", "made_by", "pending", "preferences", "title", "topics"]
    );
    let first = alice.get("/v1/conversations?limit=3").await.ok(200);
    let next = format!("/v1/conversations?limit=3&cursor={}", first["next_cursor"].as_str().unwrap());
    let second = alice.get(&next).await.ok(200);
    assert_eq!((titles(&first).len(), titles(&second)), (3, vec!["Trip 4", "Trip 5"]));
    assert_eq!(second["next_cursor"], Value::Null);
    assert_eq!(bob.get("/v1/conversations").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn past_conversations_are_found_by_words_of_any_language() {
    let World { alice, bob, .. } = &World::new().await;
    over(alice, 5, "Paying invoices", &["pay", "invoic"]).await;
    over(alice, 4, "Paying the plumber", &["pay", "plumber"]).await;
    over(alice, 3, "Варим борщ", &["вар", "борщ"]).await;
    over(alice, 2, "绿茶", &["绿", "绿茶", "茶"]).await;
    over(alice, 1, "Others", &["other"]).await;
    let found = async |q: &str| alice.get(&format!("/v1/conversations?q={}", escape(q))).await.ok(200);
    for (q, expected) in [
        ("invoicing", vec!["Paying invoices"]),
        ("pay an invoice", vec!["Paying invoices", "Paying the plumber"]),
        ("paid? PAYS!", vec!["Paying the plumber", "Paying invoices"]),
        ("борща", vec!["Варим борщ"]),
        ("绿茶", vec!["绿茶"]),
        ("others", vec!["Others"]),
        ("zebra", vec![]),
        ("the of and", vec![]),
        ("?!", vec![]),
    ] {
        let page = found(q).await;
        assert_eq!(titles(&page), expected, "{q}");
        assert_eq!(page["next_cursor"], Value::Null);
    }
    let one = alice.get("/v1/conversations?q=pay&limit=1").await.ok(200);
    assert_eq!(titles(&one), ["Paying the plumber"]);
    assert_eq!(bob.get("/v1/conversations?q=pay").await.ok(200)["items"], json!([]));
}

#[tokio::test]
async fn malformed_searches_of_conversations_are_rejected() {
    let world = World::new().await;
    let long = format!("q={}", "x".repeat(4_097));
    let far = escape_cursor(r#"["+262142-12-31T23:59:59Z","ffffffff-ffff-ffff-ffff-ffffffffffff"]"#);
    let early = escape_cursor(r#"["-262143-01-01T00:00:00Z","00000000-0000-0000-0000-000000000000"]"#);
    for bad in ["q=", "q=%20", "q=%00", &long, "limit=0", "limit=201", "cursor=x", "more=1"] {
        world.alice.get(&format!("/v1/conversations?{bad}")).await.refused(400, "malformed");
    }
    for cursor in [far, early] {
        let answer = world.alice.get(&format!("/v1/conversations?cursor={cursor}")).await;
        assert!([200, 400].contains(&answer.status), "{answer}");
    }
    world.read_only.get("/v1/conversations").await.refused(403, "forbidden");
    world.anonymous.get("/v1/conversations").await.refused(401, "unauthenticated");
}

fn escape_cursor(text: &str) -> String {
    crate::signing::encode(text)
}
