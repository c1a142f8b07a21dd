//! Round trips of sessions, turns and memories.

use std::collections::HashSet;
use std::future::IntoFuture;

use futures_util::future::join_all;
use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use super::flights::{import, watched, watched_with};
use crate::callers::skill;
use crate::sql;
use crate::talk::Talk;

#[tokio::test]
async fn memories_souls_and_messages_take_two_round_trips() {
    let (watched, alice, _world) = watched().await;
    watched
        .takes(2, "memories.save", |turn| alice.post("/v1/memories", json!({"content": format!("Fact {turn}")})))
        .await;
    let core = |turn| alice.post("/v1/memories", json!({"content": format!("Core {turn}"), "core": true}));
    watched.takes(2, "memories.save", |turn| core(turn).header("Knowhow-Session", "call-7")).await;
    watched.takes(2, "souls.put", |turn| alice.put("/v1/soul", json!({"text": format!("Be {turn}.")}))).await;
    let talk = Talk::long(&alice).await;
    talk.say("What is up?").await;
    let tell = |rest: &str, body: Value| alice.post(&talk.path(rest), body);
    watched.takes(2, "sessions.add_reply", |turn| tell("/reply", json!({"message": format!("Not {turn}")}))).await;
    watched.takes(2, "sessions.feedback", |_| tell("/feedback", json!({"kind": "quality", "value": "good"}))).await;
    watched
        .takes(2, "sessions.taint", |turn| tell("/taint", json!({"source": format!("https://example.com/{turn}")})))
        .await;
}

#[tokio::test]
async fn a_session_opens_in_one_round_trip() {
    let (watched, alice, _world) = watched().await;
    let open = |terms: Value| alice.post("/v1/sessions", terms);
    // The first session with these terms has its snapshot rendered.
    let first = watched.statements(open(json!({}))).await;
    assert_eq!(first.first().map(String::as_str), Some("sessions.open"));
    assert!(first.contains(&"snapshots.put".to_owned()), "{first:?}");
    assert_eq!(watched.statements(open(json!({}))).await, ["sessions.open"], "a new one");
    assert_eq!(watched.statements(open(json!({"key": "+49"}))).await, ["sessions.open"], "a new one of a key");
    assert_eq!(watched.statements(open(json!({"key": "+49"}))).await, ["sessions.open"], "one without a message");
    let opened = open(json!({"key": "+49"})).await.ok(200);
    let turn = format!("/v1/sessions/{}/turns", opened["id"].as_str().unwrap());
    alice.post(&turn, json!({"message": "Hello", "deadline_ms": 30_000})).await.ok(200);
    assert_eq!(watched.statements(open(json!({"key": "+49"}))).await, ["sessions.open"], "one that goes on");
    let keyed = || open(json!({})).header("Idempotency-Key", "open");
    assert_eq!(watched.statements(keyed()).await, ["sessions.open"], "one with an idempotency key");
    assert_eq!(watched.statements(keyed()).await, ["sessions.open"], "one that is repeated");
}

/// The statement that finds the session also counts the tool call.
#[tokio::test]
async fn counting_a_tool_call_takes_no_further_round_trip() {
    let (watched, alice, _world) = watched().await;
    let talk = Talk::open(&alice, json!({"max_turns": 1})).await;
    let call = || alice.tool("skill_list", json!({})).header("Knowhow-Session", &talk.id);
    let sorted = |mut statements: Vec<String>| {
        statements.sort_unstable();
        statements
    };
    call().await.ok(200);
    let uncounted = sorted(watched.statements(call()).await);
    assert_eq!(uncounted.iter().filter(|name| *name == "sessions.join").count(), 1, "{uncounted:?}");
    talk.say("Good morning").await;
    for _ in 0..2 {
        assert_eq!(sorted(watched.statements(call()).await), uncounted);
    }
    let past = call().await.text();
    assert!(past.contains("The iteration budget of this message is spent: it allows 1 round."), "{past}");
}

/// A turn uses the state that the previous turn cached, and its statement compares that state with the database. If
/// the state is outdated, the turn is repeated.
#[tokio::test]
async fn a_turn_after_another_takes_one_round_trip() {
    let (watched, alice, world) = watched().await;
    let talk = Talk::long(&alice).await;
    let (read, written) = ("sessions.read_turn", "sessions.write_turn");
    let turn = || talk.turn(json!({"message": "Good morning", "deadline_ms": 30_000}));
    assert_eq!(watched.statements(turn()).await, [read, written], "the first");
    assert_eq!(watched.statements(turn()).await, [written], "behind it");
    talk.tell("/reply", json!({"message": "Good morning to you"})).await;
    assert_eq!(watched.statements(turn()).await, [written], "behind a reply");
    let keyed = || talk.turn(json!({"message": "And now?", "turn_key": "now", "deadline_ms": 30_000}));
    assert_eq!(watched.statements(keyed()).await, [written], "one with a key");
    alice.create(skill("plan-meeting")).await;
    assert_eq!(watched.statements(turn()).await, [read, written], "behind a change of a skill");
    assert_eq!(watched.statements(turn()).await, [written], "behind that");
    let elsewhere = Talk { who: world.alice.clone(), ..talk.clone() };
    elsewhere.say("Good night").await;
    assert_eq!(watched.statements(turn()).await, [written, read, written], "behind a turn elsewhere");
    assert_eq!(watched.statements(turn()).await, [read, written], "where its turns go to several processes");
}

/// A process that logged the reply has cached it, and other processes read it.
#[tokio::test]
async fn a_turn_after_a_reply_takes_one_round_trip() {
    let (watched, alice, world) = watched().await;
    let (talk, elsewhere) = (Talk::long(&alice).await, world.alice.clone());
    let elsewhere = Talk { who: elsewhere, ..talk.clone() };
    let (read, written) = ("sessions.read_turn", "sessions.write_turn");
    let say = |message: &str| talk.turn(json!({"message": message, "deadline_ms": 30_000}));
    let offer = json!({"message": "Shall I plan the meeting of Friday?"});
    assert_eq!(watched.statements(say("Good morning")).await, [read, written], "the first");
    talk.tell("/reply", offer.clone()).await;
    assert_eq!(watched.statements(say("yes, please")).await, [written], "behind a reply");
    assert_eq!(watched.statements(say("yes, please")).await, [written], "without one");
    elsewhere.tell("/reply", offer.clone()).await;
    assert_eq!(watched.statements(say("Good night")).await, [written], "a message that answers nothing");
    elsewhere.tell("/reply", offer).await;
    assert_eq!(watched.statements(say("sure")).await, [written, read, written], "behind a reply elsewhere");
}

/// SQL that gives a session another snapshot of its user.
const OTHER_SNAPSHOT: &str = "snapshot_id = (
    select n.snapshot_id from snapshots n
    where n.tenant_id = s.tenant_id and n.user_id = s.user_id and n.snapshot_id <> s.snapshot_id limit 1)";

/// SQL that gives a user the starters.
const LENDS: &str = "starters_at = now(), starters_release = (select max(release) from starter_releases)";

/// Changes sessions and users by SQL, so that the state cached by the process is outdated.
#[tokio::test]
async fn a_turn_based_on_an_outdated_cache_is_repeated() {
    // With vectors, the learned examples of skills are part of the state.
    let model = FakeServer::start([Reply::Vectors(3)]);
    let url = model.url();
    let embeddings = [
        ("KNOWHOW_EMBEDDINGS_URL", url.as_str()),
        ("KNOWHOW_EMBEDDINGS_MODEL", "one"),
        ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "3"),
    ];
    let (watched, alice, _world) = watched_with(&embeddings).await;
    let (read, written) = ("sessions.read_turn", "sessions.write_turn");
    let say =
        |talk: &Talk, key: &str| talk.turn(json!({"message": "Good morning", "turn_key": key, "deadline_ms": 30_000}));
    Talk::open(&alice, json!({"index_budget": 200})).await;
    let known = async || {
        let talk = Talk::long(&alice).await;
        say(&talk, "1").await.ok(200);
        talk
    };
    let of_session = "update sessions s set {} where s.session_id = '{id}'";
    let of_user = "update user_catalogs c set {} from sessions s
                   where s.session_id = '{id}' and c.tenant_id = s.tenant_id and c.user_id = s.user_id";
    let of_skills = "update skills k set {} from sessions s
                     where s.session_id = '{id}' and k.tenant_id = s.tenant_id and k.user_id = s.user_id";
    for (table, change, back) in [
        (of_session, "tainted_by = '{a mail}'", ""),
        (of_session, "turns = 5", ""),
        (of_session, OTHER_SNAPSHOT, ""),
        (of_user, "revision = c.revision + 1", ""),
        (of_user, "examples_revision = c.examples_revision + 1", ""),
        (of_user, LENDS, "starters_at = null, starters_release = null"),
        (of_skills, "tainted = true", "tainted = false"),
    ] {
        let talk = known().await;
        let execute = |change: &str| sql::execute(&table.replace("{}", change).replace("{id}", &talk.id));
        assert!(execute(change) > 0, "{change}");
        assert_eq!(watched.statements(say(&talk, "2")).await, [written, read, written], "{change}");
        let turns = talk.read().await["turns"].as_i64().unwrap();
        assert_eq!(turns, if change == "turns = 5" { 6 } else { 2 }, "{change}");
        if !back.is_empty() {
            execute(back);
        }
    }
    let talk = known().await;
    let passage = "insert into tainted_passages (tenant_id, user_id, passage, source_id, source_version)
                   select s.tenant_id, s.user_id, 1, s.session_id, 1 from sessions s where s.session_id = '{id}'";
    assert_eq!(sql::execute(&passage.replace("{id}", &talk.id)), 1);
    assert_eq!(watched.statements(say(&talk, "2")).await, [written, read, written], "a tainted passage");
    sql::execute(&format!("delete from tainted_passages where source_id = '{}'", talk.id));
    for (change, refused) in [
        ("ended_at = now()", "session-ended"),
        ("last_message_at = now() - interval '7 days'", "session-ended"),
        ("log_bytes = 8 * 1024 * 1024", "log-full"),
    ] {
        let talk = known().await;
        assert_eq!(sql::execute(&of_session.replace("{}", change).replace("{id}", &talk.id)), 1);
        let (answer, _) = watched.send(say(&talk, "2")).await;
        answer.refused(409, refused);
        assert_eq!(talk.read().await["turns"], 1, "{change}");
    }
    let talk = known().await;
    let second = say(&talk, "2").await.ok(200);
    assert_eq!(watched.statements(say(&talk, "2")).await, [read], "the last turn again");
    assert_eq!(watched.statements(say(&talk, "1")).await, [written, read], "an earlier one again");
    assert_eq!(say(&talk, "2").await.ok(200), second);
}

/// A cached answer is validated by one small statement, which also returns the counts.
#[tokio::test]
async fn cached_answers_take_one_small_statement() {
    let (watched, alice, _world) = watched().await;
    let statements = async |path: &str| watched.statements_of(&["skills.", "counts."], alice.get(path)).await;
    for (path, first, then) in
        [("/v1/skills", "skills.list_page", "counts.check"), ("/v1/skills/first", "skills.load", "counts.count_load")]
    {
        assert_eq!(statements(path).await.last().map(String::as_str), Some(first), "{path}");
        assert_eq!(statements(path).await, [then], "{path}");
    }
    // The statement that counts the view also returns the relations.
    let viewed = alice.tool("skill_view", json!({"name": "first"}));
    assert_eq!(watched.statements_of(&["skills.", "counts.", "graph."], viewed).await, ["counts.count_load"]);
    // The lines of search results are cached with the pages.
    statements("/v1/skills?q=first").await;
    assert_eq!(statements("/v1/skills?q=first").await, ["counts.check"]);
    let tag = alice.get("/v1/skills").await.header("etag").to_owned();
    let unchanged = alice.get("/v1/skills").header("If-None-Match", &tag);
    assert_eq!(watched.statements_of(&["skills.", "counts."], unchanged).await, ["counts.check"]);
    let entries = async || watched.statements_of(&["skills."], alice.rpc("skills/list", json!({}))).await;
    assert_eq!(entries().await.last().map(String::as_str), Some("skills.list_published"));
    assert_eq!(entries().await, ["skills.find_revisions"]);
    // After the user's own change the cached answer is known to be outdated, so no check is sent.
    alice.replace("first", "First this", "First that").await.ok(200);
    assert_eq!(statements("/v1/skills").await, ["skills.list_page"]);
    assert_eq!(statements("/v1/skills/first").await, ["skills.load"]);
    assert_eq!(statements("/v1/skills/first").await, ["counts.count_load"]);
    // Pages of a user with more than 300 skills are not cached, so no check is sent.
    import(&alice, 0..310, 0).await.ok(200);
    statements("/v1/skills").await;
    assert_eq!(statements("/v1/skills").await, ["skills.list_page"]);
}

/// Concurrent sessions wait for one rendering and share it. A request that comes as it ends may render again.
#[tokio::test]
async fn sessions_opened_concurrently_share_a_rendering() {
    let (watched, alice, _world) = watched().await;
    let open = || alice.post("/v1/sessions", json!({"index_budget": 5_000})).into_future();
    let opened = join_all((0..16).map(|_| open())).await;
    let snapshots: HashSet<String> =
        opened.iter().map(|opened| opened.ok(201)["snapshot"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(snapshots.len(), 1);
    let rendered = watched.service.log().matches("snapshots.read_parts").count();
    assert!((1..=4).contains(&rendered), "{rendered} of 16");
}
