//! Starters: given to each user on first contact, and removable.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::service::poll_async;
use crate::sessions::recall::escape;
use crate::signing;
use crate::talk::Talk;
use crate::worker::Ground;

const STARTERS: [&str; 5] =
    ["failure-patterns", "iterative-planning", "mcp-tool-guide", "memory-systems", "skills-and-rules"];

#[tokio::test]
async fn every_user_gets_the_starters_once() {
    let world = World::with(json!({})).await;
    let World { alice, bob, read_only, .. } = &world;
    let firsts = futures_util::future::join_all((0..10).map(|_| read_only.names())).await;
    assert!(firsts.iter().all(|names| names == &STARTERS), "{firsts:?}");
    let loaded = alice.get("/v1/skills/failure-patterns").await.ok(200);
    assert_eq!((&loaded["source"], &loaded["version"]), (&json!("starter"), &json!(1)));
    assert_eq!(alice.get("/v1/skills/failure-patterns/versions").await.ok(200)["items"][0]["change"], "sync");
    alice.delete("/v1/skills/failure-patterns").await.empty(204);
    assert_eq!(alice.names().await, STARTERS[1..]);
    assert_eq!(bob.names().await, STARTERS);
}

#[tokio::test]
async fn a_deleted_starter_does_not_come_back() {
    let world = World::with(json!({})).await;
    world.alice.delete("/v1/skills/failure-patterns").await.empty(204);
    let elsewhere = crate::service::Service::start(&[("KNOWHOW_WORKERS", "1")]);
    assert_eq!(world.alice.at(&elsewhere).names().await, STARTERS[1..]);
}

#[tokio::test]
async fn a_tenant_may_turn_starters_off() {
    assert!(World::new().await.alice.names().await.is_empty());
}

#[tokio::test]
async fn starters_do_not_count_against_quotas() {
    let world = World::with(json!({"skills_per_user": 1})).await;
    assert_eq!(world.alice.names().await, STARTERS);
    world.alice.post("/v1/skills", skill("mine")).await.refused(429, "quota-exceeded");
}

/// Returns the bytes of the user's rows as Postgres stores them: first of all tables but `snapshots`, then of
/// `snapshots`.
fn bytes_of_rows(ground: &Ground, user: &str) -> (u64, u64) {
    let of = |which: &str| {
        let each = format!(
            "select (xpath('/row/bytes/text()', query_to_xml(format(
                 'select coalesce(sum(pg_column_size(t.*)), 0) as bytes from %s t where t.user_id = (
                      select u.user_id from users u where u.external_id = ''{user}'')', c.oid::regclass),
                 false, true, '')))[1]::text::bigint as bytes
             from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
             where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and {which}"
        );
        ground.count(&format!("generate_series(1, (select sum(bytes)::integer from ({each}) e)) one"))
    };
    (of("c.relname <> 'snapshots'"), of("c.relname = 'snapshots'"))
}

#[tokio::test]
async fn a_user_who_only_reads_costs_little_and_causes_no_job() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = World::at(&service, &service, json!({})).await;
    let users: Vec<String> = (0..4).map(|n| format!("+49-170-{n}")).collect();
    for name in &users {
        let user = world.alice.with_token(signing::hs256(&world.secret, &signing::claims(&world.slug, name)));
        let talk = Talk::open(&user, json!({"channel": "sms"})).await;
        assert!(talk.opened["snapshot"]["text"].as_str().is_some_and(|text| text.contains("- failure-patterns: ")));
        assert_eq!(user.names().await, STARTERS);
        talk.say("👍").await;
        assert_eq!(user.peek("memory-systems").await["times_used"], 0);
        let (rows, snapshots) = bytes_of_rows(&ground, name);
        assert!((500..=4_000).contains(&rows), "{rows} bytes of rows");
        assert!((1_000..=3_000).contains(&snapshots), "{snapshots} bytes of snapshots");
    }
    assert_eq!(ground.count("graphile_worker._private_jobs"), 0);
    for table in ["skills", "skill_resources", "skill_versions", "skill_usage", "skill_embeddings", "starter_installs"]
    {
        assert_eq!(ground.count(table), 0, "{table}");
    }
    // One request to the model makes the vectors for all users.
    poll_async("the vectors of the starters", async || (ground.count("starter_vectors") == 5).then_some(())).await;
    let asked = ground.asked();
    let elsewhere = ground.serve(&[]);
    assert_eq!(world.bob.at(&elsewhere).names().await, STARTERS);
    assert_eq!((ground.asked(), ground.count("starter_texts"), ground.count("starter_vectors")), (asked, 5, 5));
}

#[tokio::test]
async fn another_model_makes_its_own_vectors_for_existing_users() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = World::at(&service, &service, json!({})).await;
    assert_eq!(world.alice.names().await, STARTERS);
    poll_async("the vectors", async || (ground.count("starter_vectors") == 5).then_some(())).await;
    let renamed = ground.serve(&[("KNOWHOW_EMBEDDINGS_MODEL", "another")]);
    assert_eq!(world.alice.at(&renamed).names().await, STARTERS);
    let made = "starter_vectors where model like '%another%'";
    poll_async("the other model's vectors", async || (ground.count(made) == 5).then_some(())).await;
}

/// Reads all that can be read of a user's starters without counting a use.
async fn everything(who: &Caller) -> Vec<String> {
    let mut all = Vec::new();
    let mut add = |answer: crate::answers::Answer| {
        assert_eq!(answer.status, 200, "{answer}");
        let etag = answer.headers.get("etag").map(|tag| format!("{tag:?}"));
        all.push(format!("{} {etag:?} {}", answer.asked, String::from_utf8_lossy(&answer.body)));
    };
    for path in [
        "/v1/skills",
        "/v1/skills?limit=2",
        "/v1/skills?category=knowhow&tag=skills",
        "/v1/skills?ranked=true",
        "/v1/skills?q=loops",
        "/v1/skills/suggest?context=the%20same%20error%20again",
        "/v1/recall?q=planning",
        "/v1/skills/export?format=zip",
    ] {
        add(who.get(path).await);
    }
    for name in STARTERS {
        add(who.get(&format!("/v1/skills/{name}?peek=true")).await);
        add(who.get(&format!("/v1/skills/{name}/SKILL.md")).await);
    }
    let matched = who.post("/v1/skills/match", json!({"message": "use iterative-planning for the move"})).await;
    all.push(matched.ok(200).to_string());
    for (method, params) in [
        ("skills/list", json!({})),
        ("skills/get", json!({"uri": "skill://failure-patterns/SKILL.md"})),
        ("resources/read", json!({"uri": "skill://failure-patterns/SKILL.md"})),
        ("resources/directory/read", json!({"uri": "skill://failure-patterns"})),
    ] {
        all.push(who.rpc(method, params).await.result().to_string());
    }
    all
}

#[tokio::test]
async fn starters_read_the_same_with_and_without_rows() {
    let World { alice, bob, .. } = &World::with(json!({})).await;
    let lent = everything(alice).await;
    assert!(lent.iter().any(|answer| answer.contains("name: skills-and-rules")), "{lent:#?}");
    // Reading the history creates rows for the starter and counts no use.
    let history = alice.get("/v1/skills/failure-patterns/versions").await.ok(200);
    assert_eq!(everything(alice).await, lent);
    let first = alice.get("/v1/skills/failure-patterns/versions/1").await.ok(200);
    assert_eq!(first["skill_md"], alice.get("/v1/skills/failure-patterns/SKILL.md").await.text());
    assert_eq!((&first["change"], &history["items"][0]["version"]), (&json!("sync"), &json!(1)));
    // An id belongs to one user's skill, so another user does not find it.
    let id = alice.peek("failure-patterns").await["id"].clone();
    bob.names().await;
    bob.get(&format!("/v1/skills/{}?peek=true", id.as_str().unwrap())).await.refused(404, "not-found");
    assert_eq!(alice.get(&format!("/v1/skills/{}", id.as_str().unwrap())).await.ok(200)["times_used"], 1);
}

#[tokio::test]
async fn each_kind_of_first_change_works_on_a_starter() {
    let path = "/v1/skills/memory-systems";
    let changes: [fn(&Caller) -> crate::callers::Sending; 5] = [
        |who| who.replace("memory-systems", "# Memory", "# My memory"),
        |who| who.put("/v1/skills/memory-systems/fields", json!({"category": "mine", "expected_version": 1})),
        |who| {
            who.put("/v1/skills/memory-systems/resources/references/a.md", json!(null)).body("text/markdown", "a file")
        },
        |who| who.put("/v1/skills/memory-systems/fields", json!({"pinned": true})),
        |who| who.post("/v1/skills/used", json!({"skill": "memory-systems", "outcome": "success"})),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let World { alice, bob, .. } = &World::with(json!({})).await;
        let given = alice.get(&format!("{path}/SKILL.md")).await.text();
        let answer = change(alice).await;
        assert!([200, 201].contains(&answer.status), "{at}: {answer}");
        let now = alice.peek("memory-systems").await;
        let makes_a_version = at < 3;
        assert_eq!(now["version"], if makes_a_version { 2 } else { 1 }, "{at}");
        assert_eq!((&now["pinned"], &now["times_used"]), (&json!(at == 3), &json!(u8::from(at == 4))), "{at}");
        assert_eq!(alice.get(&format!("{path}/versions/1")).await.ok(200)["skill_md"], given, "{at}");
        assert_eq!(bob.get(&format!("{path}/SKILL.md")).await.text(), given);
        assert_eq!(alice.names().await, STARTERS);
        if makes_a_version {
            alice.post(&format!("{path}/rollback"), json!({"version": 1})).await.ok(200);
            assert_eq!(alice.get(&format!("{path}/SKILL.md")).await.text(), given, "{at}");
        }
    }
}

#[tokio::test]
async fn a_turn_that_shows_a_starter_counts_a_use() {
    let World { alice, .. } = &World::with(json!({})).await;
    let talk = Talk::long(alice).await;
    let turn = talk.say("use iterative-planning for the move").await;
    assert_eq!(pluck(&turn["active"], "name"), ["iterative-planning"]);
    assert_eq!(alice.peek("iterative-planning").await["times_used"], 1);
    let again = talk.say(&format!("and {} too", escape("x"))).await;
    assert_eq!(again["turn"], 2);
}

/// A starter that an admin restores has the same text as before, and the user's counts are as before.
#[tokio::test]
async fn a_deleted_starter_can_be_restored_and_quotas_add_up() {
    let world = World::with(json!({})).await;
    let World { alice, admin, .. } = &world;
    let user = async || -> Value {
        let users = admin.get("/v1/admin/users").await.ok(200)["items"].as_array().unwrap().clone();
        users.into_iter().find(|user| user["external_id"] == "alice").unwrap()
    };
    let given = alice.get("/v1/skills/failure-patterns/SKILL.md").await.text();
    let before = user().await;
    assert_eq!(before["skill_count"], 5);
    alice.delete("/v1/skills/failure-patterns").await.empty(204);
    assert_eq!(user().await["skill_count"], 4);
    let entry = admin.get("/v1/admin/archive").await.ok(200)["items"][0].clone();
    let restore = format!("/v1/admin/archive/{}/restore", entry["id"].as_str().unwrap());
    let answer = admin.post(&restore, json!({"reason": "by mistake"})).await;
    assert!([200, 201].contains(&answer.status), "{answer}");
    assert_eq!(alice.get("/v1/skills/failure-patterns/SKILL.md").await.text(), given);
    assert_eq!(user().await, before);
}
