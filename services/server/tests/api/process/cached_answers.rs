//! Cached answers of several processes are equal to the state of the database.

use serde_json::{Value, json};

use super::cached_skills::Dice;
use crate::callers::{Caller, World, skill};
use crate::service::Service;

const SKILLS: usize = 7;

/// Queries of pages that may be cached. Pages with a filter are always read from the database, so the tests compare
/// with those.
const PAGES: [&str; 4] = ["limit=5", "limit=200", "ranked=true&limit=5", "q=first+line&limit=3"];

#[tokio::test]
async fn cached_answers_equal_the_database() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    for (seed, starters) in [(1, false), (2, false), (3, true)] {
        let world = World::with(json!({"starter_skills": starters})).await;
        let both = [world.alice.clone(), world.alice.at(&other)];
        let mut dice = Dice(seed);
        for at in 0..SKILLS {
            save(&both[at % 2], at, 0).await;
        }
        for step in 1..60 {
            change(&both[dice.of(2)], &world.admin, &mut dice, step).await;
            check_pages(&both, &mut dice, step).await;
            check_entries(&both, &mut dice, step).await;
            let name = format!("k-{}", dice.of(SKILLS));
            check_load(&both[dice.of(2)], &name).await;
        }
    }
}

async fn save(who: &Caller, at: usize, step: usize) {
    let mut body = skill(&format!("k-{at}"));
    // The metadata looks like use counts, and has a number that Postgres formats differently.
    let metadata = json!({"a": 1e5, "b": {"times_used": 0, "last_used_at": null}, "step": step});
    body["metadata"] = metadata;
    body["content"] = json!(format!("Line {step}\n\n\"times_used\":0,\"last_used_at\":null\n"));
    let saved = who.post("/v1/skills", body).await;
    assert!([200, 201].contains(&saved.status), "{saved}");
}

/// Makes one random change or use of a skill.
async fn change(who: &Caller, admin: &Caller, dice: &mut Dice, step: usize) {
    let at = dice.of(SKILLS);
    let path = format!("/v1/skills/k-{at}");
    let answer = match dice.of(8) {
        0 => return save(who, at, step).await,
        1 => {
            let content = who.get(&format!("{path}?peek=true")).await;
            let content = if content.status == 200 { content.json()["content"].clone() } else { Value::Null };
            let line = content.as_str().and_then(|text| text.lines().next()).unwrap_or("none").to_owned();
            who.replace(&format!("k-{at}"), &line, &format!("Line {step}")).await
        }
        2 => who.put(&format!("{path}/fields"), json!({"pinned": step.is_multiple_of(2)})).await,
        3 => who.put(&format!("{path}/fields"), json!({"category": format!("c{step}")})).await,
        4 => who.delete(&path).await,
        5 => {
            let deleted = admin.get("/v1/admin/archive").await.ok(200);
            let Some(id) = deleted["items"][0]["id"].as_str() else { return };
            admin.post(&format!("/v1/admin/archive/{id}/restore"), json!({"reason": "by mistake"})).await
        }
        6 => who.post("/v1/skills/used", json!({"skill": format!("k-{at}")})).await,
        _ => who.get(&path).await,
    };
    // The skill may already be deleted, pinned or restored.
    assert!(answer.status < 300 || [404, 409, 422].contains(&answer.status), "step {step}: {answer}");
}

async fn check_pages(both: &[Caller; 2], dice: &mut Dice, step: usize) {
    let page = PAGES[dice.of(PAGES.len())];
    let (asked, other) = (&both[dice.of(2)], &both[dice.of(2)]);
    let shown = asked.get(&format!("/v1/skills?{page}")).await;
    // The empty prefix is a filter that all skills match, even starters, so the page is read from the database.
    let read = other.get(&format!("/v1/skills?{page}&prefix=")).await;
    shown.ok(200);
    assert_eq!(shown.text(), read.text(), "step {step}, {page}");
    assert_eq!(shown.header("etag"), read.header("etag"), "step {step}, {page}");
    let path = format!("/v1/skills?{page}");
    other.get(&path).header("If-None-Match", shown.header("etag")).await.empty(304);
}

/// Compares the entries for MCP hosts. A page with a cursor before all names is read from the database.
async fn check_entries(both: &[Caller; 2], dice: &mut Dice, step: usize) {
    let shown = both[dice.of(2)].rpc("skills/list", json!({})).await.result();
    let read = both[dice.of(2)].rpc("skills/list", json!({"cursor": "IiI"})).await.result();
    assert_eq!(shown, read, "step {step}");
}

/// Asserts that a load, cached or not, equals a read of the database after it.
async fn check_load(who: &Caller, name: &str) {
    for _ in 0..2 {
        let loaded = who.get(&format!("/v1/skills/{name}")).await;
        let read = who.get(&format!("/v1/skills/{name}?peek=true")).await;
        assert_eq!(loaded.status, read.status, "{loaded}");
        if loaded.status == 200 {
            assert_eq!(loaded.text(), read.text());
            assert_eq!(loaded.header("etag"), read.header("etag"));
        }
    }
}

/// Two users have skills of the same name. Each user gets only their own skill.
#[tokio::test]
async fn cached_answers_are_never_shown_to_other_users() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let all = [&world.alice, &world.bob, &elsewhere.alice];
    for (at, who) in all.iter().enumerate() {
        let mut body = skill("plan");
        body["content"] = json!(format!("Of user {at}.\n"));
        body["description"] = json!(format!("Plans for user {at}. Use when somebody plans."));
        who.create(body).await;
    }
    for round in 1..=3 {
        for (at, who) in all.iter().enumerate() {
            let loaded = who.get("/v1/skills/plan").await.ok(200);
            assert_eq!(loaded["content"], format!("Of user {at}.\n"));
            assert_eq!(loaded["times_used"], round);
            for query in ["", "?q=plans"] {
                let page = who.get(&format!("/v1/skills{query}")).await.ok(200);
                assert_eq!(page["items"].as_array().unwrap().len(), 1);
                assert_eq!(page["items"][0]["description"], format!("Plans for user {at}. Use when somebody plans."));
                assert_eq!(page["items"][0]["times_used"], round);
            }
        }
    }
    // A caller without a credential gets no cached answer.
    world.anonymous.get("/v1/skills/plan").await.refused(401, "unauthenticated");
}

/// One process has cached a skill that another process deletes and creates again under its name.
#[tokio::test]
async fn cached_answers_of_a_deleted_skill_are_not_shown() {
    let other = Service::start(&[("KNOWHOW_WORKERS", "1")]);
    let world = World::new().await;
    let (here, there) = (&world.alice, &world.alice.at(&other));
    here.create_all(&["plan"]).await;
    for _ in 0..2 {
        here.get("/v1/skills/plan").await.ok(200);
        here.get("/v1/skills").await.ok(200);
    }
    there.delete("/v1/skills/plan").await.empty(204);
    here.get("/v1/skills/plan").await.refused(404, "not-found");
    assert!(here.names().await.is_empty());
    there.create_all(&["plan"]).await;
    let loaded = here.get("/v1/skills/plan").await.ok(200);
    assert_eq!((&loaded["version"], &loaded["times_used"]), (&json!(1), &json!(1)));
    assert_eq!(here.get("/v1/skills").await.ok(200)["items"][0]["times_used"], 1);
}
