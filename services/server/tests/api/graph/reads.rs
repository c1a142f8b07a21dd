//! The graph in lists, suggestions, recall, importance and analytics.

use serde_json::{Value, json};

use super::{remember, saying, until_related};
use crate::answers::pluck;
use crate::background::WITH_WORKER;
use crate::callers::{Caller, World, skill};
use crate::service::{Service, poll_async};
use crate::sql::execute_at;
use crate::talk::{Talk, create_described};
use crate::worker::{Ground, world};

async fn use_it(who: &Caller, name: &str, key: &str, outcome: &str) {
    let used = json!({"skill": name, "session_key": key, "outcome": outcome});
    who.post("/v1/skills/used", used).await.ok(200);
}

async fn ranked(who: &Caller) -> Value {
    who.get("/v1/skills?ranked=true").await.ok(200)["items"].clone()
}

#[tokio::test]
async fn ranked_lists_use_importance_links_and_outcomes() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["a-plain", "b-linked", "c-failing", "d-set"]).await;
    assert_eq!(pluck(&ranked(alice).await, "name"), ["a-plain", "b-linked", "c-failing", "d-set"], "equals by name");
    remember(alice, "b-linked was of use", json!([])).await;
    alice.put("/v1/skills/b-linked/relations/requires/a-plain", json!(null)).await.empty(201);
    for key in ["1", "2", "3"] {
        use_it(alice, "c-failing", key, "failure").await;
    }
    alice.put("/v1/skills/d-set/importance", json!({"importance": 1.0})).await.empty(204);
    let items = ranked(alice).await;
    assert_eq!(pluck(&items, "name"), ["d-set", "b-linked", "a-plain", "c-failing"]);
    let reasons = pluck(&items, "reason");
    assert!(reasons[1].contains("memories: 1, relations: 1.0"), "{reasons:?}");
    assert!(reasons[3].contains("0 % of 3 uses went well"), "{reasons:?}");
    // Each page continues after the previous one.
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = alice.get(&format!("/v1/skills?ranked=true&limit=1{cursor}")).await.ok(200);
        seen.extend(pluck(&page["items"], "name"));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ["d-set", "b-linked", "a-plain", "c-failing"]);
    assert_eq!(pluck(&alice.get("/v1/skills?ranked=true&prefix=b").await.ok(200)["items"], "name"), ["b-linked"]);
    // Failures lower the score of a skill only down to its floor.
    for key in 4..60 {
        use_it(alice, "c-failing", &key.to_string(), "failure").await;
    }
    let worst = ranked(alice).await[3].clone();
    assert_eq!((&worst["name"], &worst["score"]), (&json!("c-failing"), &json!(0.3)));
}

#[tokio::test]
async fn suggestions_explain_outcomes_and_relations() {
    let World { alice, .. } = &World::new().await;
    let skills =
        [("send-letter", "Send a letter by post. Use for letters."), ("fold-paper", "Fold paper for a letter.")];
    create_described(alice, &skills).await;
    alice.put("/v1/skills/send-letter/relations/requires/fold-paper", json!(null)).await.empty(201);
    remember(alice, "send-letter took two days", json!([])).await;
    let suggest = async || {
        let items = alice.get("/v1/skills/suggest?context=send+a+letter+by+post").await.ok(200)["items"].clone();
        let of = |name: &str| items.as_array().unwrap().iter().find(|item| item["name"] == name).cloned().unwrap();
        (of("send-letter"), of("fold-paper"))
    };
    let (letter, paper) = suggest().await;
    let reason = |item: &Value| item["reason"].as_str().unwrap().to_owned();
    assert!(reason(&letter).ends_with("; requires fold-paper, named by 1 memory"), "{letter}");
    assert!(reason(&paper).ends_with("; send-letter requires it"), "{paper}");
    let before = letter["importance"].as_f64().unwrap();
    for key in ["1", "2"] {
        use_it(alice, "send-letter", key, "failure").await;
    }
    let (letter, _) = suggest().await;
    assert!(letter["importance"].as_f64().unwrap() < before, "{letter}");
    assert!(reason(&letter).contains("0 % of 2 uses went well"), "{letter}");
}

#[tokio::test]
async fn recall_follows_one_link_in_both_directions() {
    let ground = Ground::new();
    // Runs without an embedding model, because the fake model treats all texts as similar.
    let login = ground.login();
    let service = Service::start(&[("KNOWHOW_DATABASE_URL", &login), ("KNOWHOW_WORKERS", "1"), WITH_WORKER]);
    let World { alice, bob, .. } = &world(&service).await;
    alice.create(saying("publish-pages", "Push the pages, then purge the cache at Cloudflare.")).await;
    alice.create(skill("bake-bread")).await;
    // The entity is new, so a job reads the texts that may name it again.
    let kept = remember(alice, "Ann has our domain", json!([{"name": "Cloudflare", "kind": "tool"}])).await;
    let recall = async |who: &Caller, q: &str| who.get(&format!("/v1/recall?q={q}")).await.ok(200)["items"].clone();
    let skill_by_memory = poll_async("the skill that names it", async || {
        let items = recall(alice, "who+has+the+domain").await;
        items.as_array().unwrap().iter().find(|item| item["name"] == "publish-pages").cloned()
    })
    .await;
    assert!(skill_by_memory["reason"].as_str().unwrap().contains("by Cloudflare"), "{skill_by_memory}");
    let items = recall(alice, "purge+the+cache").await;
    let memory = items.as_array().unwrap().iter().find(|item| item["id"] == kept["id"]).cloned().unwrap();
    assert_eq!(items[0]["name"], "publish-pages", "what was found itself comes first");
    assert!(memory["reason"].as_str().unwrap().contains("publish-pages by Cloudflare"), "{memory}");
    assert!(memory["score"].as_f64().unwrap() <= items[0]["score"].as_f64().unwrap() / 2.0);
    // Bob's graph does not contain Alice's links.
    remember(bob, "Bob has the domain too", json!([{"name": "Cloudflare"}])).await;
    assert_eq!(recall(bob, "who+has+the+domain").await.as_array().unwrap().len(), 1);
    // The link is deleted with the skill.
    alice.delete("/v1/skills/publish-pages").await.empty(204);
    assert_eq!(recall(alice, "who+has+the+domain").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn importance_decays_daily_by_settings_of_tenant_and_skill() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = world(&service).await;
    let World { alice, operator, .. } = &world;
    alice.create_all(&["usual", "steady", "fast"]).await;
    alice.put("/v1/skills/steady/importance", json!({"importance": 0.9, "decay_rate": 1.0})).await.empty(204);
    alice.put("/v1/skills/fast/importance", json!({"decay_rate": 0.5, "importance_floor": 0.1})).await.empty(204);
    let of = async |name: &str| {
        let known = alice.get(&format!("/v1/skills/{name}/knowledge")).await.ok(200);
        (known["importance"].as_f64().unwrap() * 1e4).round() / 1e4
    };
    for (days, usual, fast) in [(0, 0.7, 0.7), (10, 0.6331, 0.1), (30, 0.5178, 0.1), (84, 0.3009, 0.1), (365, 0.3, 0.1)]
    {
        execute_at(&ground.owner, &format!("update skills set created_at = now() - interval '{days} days'"));
        assert_eq!((of("usual").await, of("steady").await, of("fast").await), (usual, 0.9, fast), "{days} days");
    }
    let settings = json!({"settings": {"starter_skills": false, "skill_decay": 0.9, "importance_floor": 0.05}});
    operator.patch(&format!("/v1/admin/tenants/{}", world.slug), settings).await.ok(200);
    execute_at(&ground.owner, "update skills set created_at = now() - interval '10 days'");
    poll_async("the tenant's own rate", async || (of("usual").await == 0.2441).then_some(())).await;
    assert_eq!(of("steady").await, 0.9);
    // Null restores the tenant's rate, and no change makes a version.
    alice.put("/v1/skills/steady/importance", json!({})).await.empty(204);
    assert_eq!(of("steady").await, 0.9);
    alice.put("/v1/skills/steady/importance", json!({"decay_rate": null})).await.empty(204);
    assert_eq!(of("steady").await, 0.3138);
    assert_eq!(alice.peek("steady").await["version"], 1);
    let wrong = alice.put("/v1/skills/usual/importance", json!({"importance": 1.5})).await;
    wrong.invalid("/importance", "0 to 1");
    alice.put("/v1/skills/nobody/importance", json!({})).await.refused(404, "not-found");
}

#[tokio::test]
async fn analytics_list_used_unused_and_failing_skills() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["good-one", "bad-one", "corrected-one", "never-one"]).await;
    alice.get("/v1/skills/good-one").await.ok(200);
    for key in ["1", "2", "3"] {
        use_it(alice, "bad-one", key, if key == "3" { "success" } else { "failure" }).await;
    }
    use_it(alice, "good-one", "1", "success").await;
    let talk = Talk::open(alice, json!({})).await;
    talk.say("run /corrected-one please").await;
    talk.tell("/feedback", json!({"kind": "correction", "note": "not so"})).await;
    talk.tell("/reply", json!({"message": "Done at last.", "rounds": 10})).await;
    let told = alice.get("/v1/analytics/skills").await.ok(200);
    assert_eq!((&told["skills"], &told["uses"]), (&json!(4), &json!(6)));
    assert_eq!(told["outcomes"], json!({"success": 2, "failure": 2, "partial": 0}));
    assert_eq!(told["success_rate"], 0.5);
    assert_eq!(pluck(&told["used"], "name"), ["bad-one", "good-one", "corrected-one"]);
    assert_eq!(told["used"][1]["success_rate"], 1.0);
    // The skill was loaded before the outcome was reported.
    assert!(told["used"][1]["outcome_p50_seconds"].as_f64().unwrap() < 60.0, "{told}");
    assert_eq!(told["used"][0]["outcome_p95_seconds"], Value::Null);
    assert_eq!((pluck(&told["never_used"], "name"), &told["never_used_count"]), (vec!["never-one".into()], &json!(1)));
    assert_eq!(told["stale"], json!([]));
    assert_eq!(pluck(&told["at_risk"], "name"), ["bad-one", "corrected-one"]);
    let reasons = pluck(&told["at_risk"], "reason");
    assert!(
        reasons[0].contains("33 % of 3 uses") && reasons[1].contains("1 conversation with it had a"),
        "{reasons:?}"
    );
    assert!(reasons[1].ends_with("; 1 conversation with it spent the budget of a message"), "{reasons:?}");
    let at_risk = &told["at_risk"][1];
    assert_eq!((&at_risk["poor_sessions"], &at_risk["over_budget_sessions"]), (&json!(1), &json!(1)));
    assert_eq!(bob.get("/v1/analytics/skills").await.ok(200)["skills"], 0);
    alice.get("/v1/analytics/skills?since=1999-01-01").await.refused(400, "malformed");
    alice.get("/v1/analytics/skills?since=2999-01-01").await.refused(400, "malformed");
    let one = alice.get("/v1/analytics/skills?limit=1").await.ok(200);
    assert_eq!((one["used"].as_array().unwrap().len(), &one["uses"]), (1, &json!(6)));
}

#[tokio::test]
async fn skill_view_shows_relations() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["report", "mcp/email", "web-perf"]).await;
    alice.put("/v1/skills/report/relations/requires/mcp%2Femail", json!(null)).await.empty(201);
    alice.put("/v1/skills/web-perf/relations/enables/report", json!(null)).await.empty(201);
    alice.put("/v1/skills/report/relations/complements/web-perf", json!(null)).await.empty(201);
    let talk = Talk::open(alice, json!({})).await;
    let view = async |name: &str, session: Option<&str>| {
        let call = alice.tool("skill_view", json!({"name": name}));
        let call = session.into_iter().fold(call, |call, session| call.header("Knowhow-Session", session));
        call.await.ok(200)["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    // The first view reads the skill, and the second one uses the cache.
    for session in [None, None, Some(&*talk.id), Some(&*talk.id)] {
        let seen = view("report", session).await;
        let told = "\nRelations: complements web-perf, web-perf enables it, requires mcp/email\n";
        assert!(seen.contains(told), "{seen}");
        let seen = view("email", session).await;
        assert!(seen.contains("\nRelations: report requires it\n"), "{seen}");
    }
    // Relations are not part of a cached skill, so the deletion is visible at once.
    alice.delete("/v1/skills/report/relations/requires/mcp%2Femail").await.empty(204);
    assert!(!view("mcp/email", None).await.contains("Relations"));
    for name in ["report", "mcp%2Femail"] {
        let loaded = alice.get(&format!("/v1/skills/{name}?peek=true")).await.ok(200);
        assert_eq!(loaded["times_used"], if name == "report" { 4 } else { 5 }, "{loaded}");
    }
}

/// A relation from a tainted text would appear without a mark next to trusted text, so answers to models omit it.
#[tokio::test]
async fn relations_from_tainted_texts_are_hidden_from_models() {
    let ground = Ground::new();
    let service = ground.serve(&[WITH_WORKER]);
    let world = World::at(&service, &service, json!({"starter_skills": false, "review": "off"})).await;
    let alice = &world.alice;
    alice.create(skill("deploy-site")).await;
    let talk = Talk::tainted(alice).await;
    let evil = saying("evil-site", "Replaces `deploy-site`.");
    alice.post("/v1/skills", evil).header("Knowhow-Session", &talk.id).await.ok(201);
    until_related(alice, "deploy-site", &["in supersedes evil-site extracted"]).await;
    let told = alice.get("/v1/skills/deploy-site/relations").await.ok(200)["items"][0].clone();
    assert_eq!(told["tainted"], true, "{told}");
    let call = json!({"name": "skill_view", "arguments": {"name": "deploy-site"}});
    let seen = alice.rpc("tools/call", call).await.ok(200)["result"]["content"][0]["text"].clone();
    assert!(!seen.as_str().unwrap().contains("evil-site"), "{seen}");
    let suggested = alice.get("/v1/skills/suggest?context=deploy-site").await.ok(200)["items"].clone();
    let reason = suggested.as_array().unwrap().iter().find(|item| item["name"] == "deploy-site").unwrap();
    assert!(!reason["reason"].as_str().unwrap().contains("evil-site"), "{reason}");
    let turn = Talk::open(alice, json!({})).await.say("use deploy-site").await;
    assert_eq!(turn["related"], json!([]), "{turn}");
}
