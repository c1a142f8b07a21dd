//! The list of skills: members, filters, order, pages and entity tags.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};

#[tokio::test]
async fn a_list_item_has_all_its_members() {
    let World { alice, .. } = &World::new().await;
    assert_eq!(alice.get("/v1/skills").await.ok(200), json!({"items": [], "next_cursor": null}));
    let mut body = skill("plan");
    body["summary"] = json!("plans");
    body["category"] = json!("office");
    body["tags"] = json!(["x"]);
    alice.create(body).await;
    let page = alice.get("/v1/skills").await.ok(200);
    let line = &page["items"][0];
    let expected = [
        "category",
        "description",
        "last_used_at",
        "name",
        "pinned",
        "summary",
        "summary_by",
        "tags",
        "tainted",
        "times_used",
        "updated_at",
        "version",
    ];
    assert_eq!(members(line), expected);
    assert_eq!(
        (&line["name"], &line["summary"], &line["category"]),
        (&json!("plan"), &json!("plans"), &json!("office"))
    );
    let ranked = alice.get("/v1/skills?ranked=true").await.ok(200);
    assert!(ranked["items"][0]["score"].is_number() && ranked["items"][0]["reason"].is_string());
}

#[tokio::test]
async fn filters_are_exact_and_prefixes_are_literal() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/email", "mcp/guide", "mcp-tool", "a"]).await;
    for (name, category, tag) in [("b", "office", "50%_off"), ("c", "Office", "other")] {
        let mut body = skill(name);
        body["category"] = json!(category);
        body["tags"] = json!([tag, "both"]);
        alice.create(body).await;
    }
    for (query, expected) in [
        ("prefix=mcp/", vec!["mcp/email", "mcp/guide"]),
        ("prefix=mcp", vec!["mcp-tool", "mcp/email", "mcp/guide"]),
        ("prefix=%25", vec![]),
        ("prefix=mcp_", vec![]),
        ("category=office", vec!["b"]),
        ("tag=both", vec!["b", "c"]),
        ("tag=50%25_off", vec!["b"]),
        ("tag=both&category=Office&prefix=c", vec!["c"]),
        ("tag=none", vec![]),
    ] {
        let page = alice.get(&format!("/v1/skills?{query}")).await.ok(200);
        assert_eq!(pluck(&page["items"], "name"), expected, "{query}");
    }
}

#[tokio::test]
async fn malformed_queries_are_rejected() {
    let World { alice, .. } = &World::new().await;
    let long = format!("prefix={}", "p".repeat(201));
    for query in [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=many",
        "limit=99999999999",
        "cursor=x",
        "cursor=e30",
        "cursor=",
        "ranked=2",
        "sort=name",
        "prefix=%00",
        "tag=%00",
        "category=%00",
        "limit=1&limit=2",
        &long,
    ] {
        alice.get(&format!("/v1/skills?{query}")).await.refused(400, "malformed");
    }
    alice.create_all(&["a", "b"]).await;
    let cursor = alice.get("/v1/skills?limit=1").await.ok(200)["next_cursor"].as_str().unwrap().to_owned();
    alice.get(&format!("/v1/skills?ranked=true&cursor={cursor}")).await.refused(400, "malformed");
    assert_eq!(pluck(&alice.get(&format!("/v1/skills?cursor={cursor}")).await.ok(200)["items"], "name"), ["b"]);
}

#[tokio::test]
async fn an_unchanged_index_is_not_sent_again() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["a"]).await;
    let first = alice.get("/v1/skills").await;
    let tag = first.header("etag").to_owned();
    let same = alice.get("/v1/skills").header("If-None-Match", &tag).await;
    same.empty(304);
    assert_eq!(same.header("etag"), tag);
    alice.create_all(&["b"]).await;
    assert_eq!(
        alice.get("/v1/skills").header("If-None-Match", &tag).await.ok(200)["items"].as_array().unwrap().len(),
        2
    );
}

/// Skills are created between the pages. Each skill that existed from the start is listed exactly once.
#[tokio::test]
async fn pages_have_no_gaps_or_duplicates_during_writes() {
    let World { alice, .. } = &World::new().await;
    let names: Vec<String> = (0..450).map(|n| format!("s{n:03}")).collect();
    for lane in names.chunks(45) {
        join_all(lane.iter().map(|name| alice.create(skill(name)))).await;
    }
    for query in ["", "&ranked=true"] {
        let mut seen = Vec::new();
        let mut cursor = String::new();
        for round in 0.. {
            let page = alice.get(&format!("/v1/skills?limit=50{query}{cursor}")).await.ok(200);
            seen.extend(pluck(&page["items"], "name"));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
            interfere(alice, query, round).await;
        }
        let mut old: Vec<&String> = seen.iter().filter(|name| names.contains(name)).collect();
        let total = old.len();
        old.sort();
        old.dedup();
        assert_eq!((old.len(), total), (450, 450), "{query}");
        if query.is_empty() {
            assert!(seen.is_sorted());
        }
    }
}

/// Creates skills before and after the cursor.
async fn interfere(alice: &Caller, query: &str, round: usize) {
    let mark = if query.is_empty() { "n" } else { "r" };
    for name in [format!("a{mark}{round}"), format!("s200{mark}{round}"), format!("z{mark}{round}")] {
        let _: Value = alice.create(skill(&name)).await;
    }
}
