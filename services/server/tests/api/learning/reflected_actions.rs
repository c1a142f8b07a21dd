//! Actions of reflections that merge skills, or that are based on some of the day's conversations.

use knowhow_testing::FakeServer;
use serde_json::{Value, json};

use super::reflected::{agent_skills, at_noon, converse, house, outcomes, reflect, tells, with_actions};
use crate::answers::pluck;
use crate::callers::Caller;
use crate::sql::column_at;
use crate::talk::Talk;
use crate::worker::Ground;

/// Creates an ended conversation in which three skills were read.
async fn with_skills(who: &Caller) -> Talk {
    let talk = Talk::open(who, json!({"key": "chores"})).await;
    talk.say("Do the chores that say the same").await;
    for name in ["chore-0", "chore-1", "chore-2"] {
        who.get(&format!("/v1/skills/{name}")).header("Knowhow-Session", &talk.id).await.ok(200);
    }
    who.post(&talk.path("/end"), json!({})).await.ok(200);
    talk
}

#[tokio::test]
async fn reviewer_applies_actions_based_on_some_conversations() {
    let ground = Ground::new();
    let model = FakeServer::start([tells("Chores were done.", &json!([]))]);
    let mut settings = with_actions("human");
    settings["users_review"] = json!(true);
    let (service, world) = &house(&ground, &model, settings).await;
    let alice = world.scoped("alice", "skills:read skills:write sessions memories review");
    at_noon(&alice).await;
    agent_skills(world, "alice").await;
    let first = converse(&alice, "What does a marmot eat when it is cold outside").await;
    with_skills(&alice).await;
    ground.idle();
    // The question lists the newest conversation first, so `s2` is the first one.
    let merge = json!({
        "op": "merge", "into": "chore-0", "sources": [{"name": "chore-1", "version": 1}],
        "description": "Does the chores number 0 and 1 of the house and says so. Use when one is asked for.",
        "body": "# Chore 0\n\nDo it.\n\n# Chore 1\n\nDo it.\n",
    });
    let patch = json!({
        "op": "patch", "name": "chore-2", "version": 1, "evidence": ["s2"],
        "edits": [{"old_string": "Do it.", "new_string": "Do it when it is cold."}],
    });
    model.replies([tells("Chores were done.", &json!([merge, patch]))]);
    let made = reflect(&ground, &alice, "daily").await;
    let run = made["run"].as_str().unwrap_or_else(|| panic!("{made}"));
    let run: Value = alice.get(&format!("/v1/dreams/{run}")).await.ok(200);
    assert_eq!(outcomes(&run), ["waiting", "proposed"], "{run:#}");
    let sessions = "select unnest(sessions)::text from dream_ops where kind = 'patch'";
    assert_eq!(column_at(&ground.owner, sessions), std::slice::from_ref(&first.id));
    let path = format!("/v1/dreams/{}/apply", run["id"].as_str().unwrap());
    let applied = alice.post(&path, json!({})).await.ok(200);
    assert_eq!(pluck(&applied["ops"], "outcome"), ["applied", "applied"], "{applied:#}");
    assert_eq!(alice.peek("chore-1").await["moved_from"], "chore-1");
    assert!(alice.peek("chore-0").await["content"].as_str().unwrap().contains("# Chore 1"));
    service.check_log();
}
