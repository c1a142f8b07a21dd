//! Answers to MCP clients when the database is unreachable, and with many concurrent clients.

use futures_util::future::join_all;
use knowhow_testing::Wire;
use serde_json::{Value, json};

use super::client::ID;
use super::entries::put;
use crate::callers::{Caller, World, skill};
use crate::pools::behind;
use crate::service::{Service, login_url, poll_async};
use crate::signing::{claims, hs256};

/// A tool's error says to call again, and other requests get an error of type `unavailable`.
#[tokio::test]
async fn a_cut_connection_is_reported_and_recovers() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = behind(&wire);
    let alice = world.alice.at(&service);
    let backend = world.backend().await.acting_for("alice").at(&service);
    alice.does("skill_save", skill("before")).await;
    wire.cut();
    for (tool, arguments) in [("skill_save", skill("meanwhile")), ("skill_view", json!({"name": "before"}))] {
        let answer = alice.tool(tool, arguments).await;
        if answer.status == 503 {
            answer.error(503, -32000);
            answer.header("retry-after");
            continue;
        }
        let (text, problem) = answer.failed();
        assert_eq!((&problem["status"], &problem["type"]), (&json!(503), &json!("/problems/unavailable")));
        assert!(text.contains("again"), "{text}");
    }
    for (method, params) in [
        ("skills/list", json!({})),
        ("resources/read", json!({"uri": "skill://before/SKILL.md"})),
        ("prompts/get", json!({"name": "skills-index"})),
    ] {
        let answer = alice.rpc(method, params).await;
        let error = answer.any_error();
        assert!([(200, -32603), (503, -32000)].contains(&(answer.status, error["code"].as_i64().unwrap())), "{answer}");
        assert_eq!(error["data"]["type"], "/problems/unavailable", "{answer}");
    }
    // The key cannot be looked up now, but the refusal still has the id of the request.
    let stranger = backend.rpc("tools/list", json!({})).await;
    stranger.error(503, -32000);
    assert_eq!(stranger.json()["id"], ID, "{stranger}");
    wire.mend();
    poll_async("the service to be ready", async || (alice.get("/readyz").await.status == 200).then_some(())).await;
    poll_async("reads to heal", async || (alice.rpc("skills/list", json!({})).await.status == 200).then_some(())).await;
    poll_async("tools to heal", async || {
        (alice.tool("skill_view", json!({"name": "before"})).await.result()["isError"] != true).then_some(())
    })
    .await;
    assert_eq!(world.alice.names().await, ["before"]);
}

async fn rounds(user: &str, caller: &Caller) {
    for round in 0..5 {
        let viewed = caller.does("skill_view", json!({"name": "mine"})).await;
        assert_eq!(viewed["version"], 2);
        let mine = caller.peek("mine").await;
        assert_eq!(mine["description"], format!("This is {user}'s."));
        assert_eq!(mine["times_used"], round + 1);
        assert_eq!(caller.read("skill://mine/references/a.md").await, user.as_bytes());
        let listed = caller.all("skills/list", "skills", json!({})).await;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0]["frontmatter"]["description"], format!("This is {user}'s."));
        let prompt = caller.rpc("prompts/get", json!({"name": "skills-index"})).await.result().to_string();
        assert!(prompt.contains(&format!("{user}'s")) && prompt.matches("This is").count() == 1, "{prompt}");
    }
}

/// Eight users of two tenants share two database connections, and each user gets only their own data.
#[tokio::test]
async fn concurrent_users_get_only_their_own_data() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let service = Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_WRITE_CONNECTIONS", "1"),
        ("KNOWHOW_READ_CONNECTIONS", "1"),
    ]);
    let crowd = (0..4).flat_map(|n| [(&world, format!("u{n}-here")), (&elsewhere, format!("u{n}-there"))]);
    let sessions = crowd.map(|(world, user)| {
        // Both tenants have a user with this id.
        let sub = user.split('-').next().unwrap().to_owned();
        let token = hs256(&world.secret, &claims(&world.slug, &sub));
        let caller = world.anonymous.with_token(token).at(&service);
        async move {
            let mut body: Value = skill("mine");
            body["description"] = json!(format!("This is {user}'s."));
            caller.does("skill_save", body).await;
            put(&caller, "mine", "references/a.md", user.as_bytes()).await;
            rounds(&user, &caller).await;
        }
    });
    join_all(sessions).await;
}

/// Fifty concurrent saves of one skill each make one complete version.
#[tokio::test]
async fn concurrent_saves_make_one_version_each() {
    let World { alice, .. } = &World::new().await;
    let saves = (0..50).map(|n| async move {
        let mut body = skill("raced");
        body["content"] = json!(format!("text {n}\n"));
        alice.does("skill_save", body).await["version"].as_u64().unwrap()
    });
    let mut versions = join_all(saves).await;
    versions.sort_unstable();
    assert_eq!(versions, (1..=50).collect::<Vec<_>>());
    let history = alice.does("skill_history", json!({"name": "raced", "limit": 200})).await;
    assert_eq!(history["versions"].as_array().unwrap().len(), 50);
}
