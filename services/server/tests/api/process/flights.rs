//! How many round trips to Postgres a warm request takes, counted between the service and the database.

use knowhow_testing::Wire;
use serde_json::json;

use super::pools::behind;
use crate::callers::World;
use crate::service::login_url;
use crate::talk::Talk;

/// How often each is tried: the first ones prepare statements, and the service does something of its own now and then.
const TRIES: usize = 12;

async fn assert_flights(wire: &Wire, what: &str, expected: usize, mut ask: impl AsyncFnMut(usize)) {
    let mut least = usize::MAX;
    for n in 0..TRIES {
        least = least.min(wire.count(ask(n)).await.0);
    }
    assert_eq!(least, expected, "{what}");
}

#[tokio::test]
async fn a_warm_request_takes_no_more_round_trips_than_it_must() {
    let world = World::new().await;
    let wire = Wire::to(&login_url());
    let service = behind(&wire);
    let alice = &world.alice.at(&service);
    alice.create_all(&["plan-meeting", "plan-dinner"]).await;
    let path = "/v1/skills/plan-meeting";
    let get = async |path: &str| {
        alice.get(path).await.ok(200);
    };
    assert_flights(&wire, "the index", 1, async |_| get("/v1/skills").await).await;
    assert_flights(&wire, "a load, counted", 1, async |_| get(path).await).await;
    let file = alice.get(&format!("{path}/SKILL.md")).await;
    let tag = file.header("etag").to_owned();
    assert_flights(&wire, "a file that the caller has", 1, async |_| {
        let again = alice.get(&format!("{path}/SKILL.md")).header("If-None-Match", &tag).await;
        assert_eq!(again.status, 304);
    })
    .await;
    assert_flights(&wire, "the snapshot", 1, async |_| get("/v1/snapshot").await).await;
    let talk = Talk::long(alice).await;
    assert_flights(&wire, "a turn", 2, async |n| {
        talk.say(&format!("Please plan meeting number {n}.")).await;
    })
    .await;
    assert_flights(&wire, "a save", 2, async |n| {
        let body = json!({"name": "plan-meeting", "content": format!("## Procedure\n\n1. Invite {n} people.\n")});
        alice.post("/v1/skills", body).await.ok(200);
    })
    .await;
}
