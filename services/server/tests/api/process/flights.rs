//! Round trips of each verb that writes, as the service logs them; `store/tests/store/flights.rs` counts them on the wire.

use std::collections::HashSet;
use std::future::IntoFuture;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use knowhow_testing::{FakeServer, Reply};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, Sending, World, skill};
use crate::exchange::zip;
use crate::service::{Service, poll};
use crate::sql;
use crate::talk::Talk;

const LOGGED: &[(&str, &str)] = &[("KNOWHOW_LOG", "info,knowhow_store=debug"), ("KNOWHOW_WORKERS", "1")];

/// One process that serves one request after the other.
struct Watched {
    service: Service,
}

impl Watched {
    /// The answer to a request, and the transactions that it took: the name of each, its outcome and its round trips.
    async fn send(&self, sending: Sending) -> (Answer, Vec<(String, String, u64)>) {
        let (answer, records) = self.watch(sending).await;
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let transactions = records
            .iter()
            .filter(|record| record["flights"].is_u64())
            .map(|record| {
                assert!(record["elapsed_us"].is_u64(), "{record}");
                (word(&record["transaction"]), word(&record["message"]), record["flights"].as_u64().unwrap())
            })
            .collect();
        (answer, transactions)
    }

    /// The answer to a request, and what was logged meanwhile.
    async fn watch(&self, sending: Sending) -> (Answer, Vec<Value>) {
        let before = self.service.log().len();
        let answer = sending.into_future().await;
        let id = answer.header("x-request-id").to_owned();
        let log = poll("the request's line", || {
            let log = self.service.log();
            log[before..].contains(&id).then(|| log[before..].to_owned())
        });
        (answer, log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect())
    }

    /// The statements about sessions and snapshots that a request took, each a round trip of its own.
    async fn statements(&self, sending: Sending) -> Vec<String> {
        self.statements_of(&["sessions.", "snapshots."], sending).await
    }

    /// The statements whose names begin so.
    async fn statements_of(&self, beginnings: &[&str], sending: Sending) -> Vec<String> {
        let (answer, records) = self.watch(sending).await;
        assert!(answer.status < 400, "{answer}");
        let named = records.iter().filter_map(|record| record["statement"].as_str());
        let is_asked = |name: &&str| beginnings.iter().any(|beginning| name.starts_with(beginning));
        named.filter(is_asked).map(str::to_owned).collect()
    }

    /// Sends it without a key, and with one: as many round trips of one transaction of this name.
    async fn takes(&self, flights: u64, name: &str, sending: impl Fn(u8) -> Sending) {
        static KEYS: AtomicUsize = AtomicUsize::new(0);
        for (turn, keyed) in [(0, false), (1, true)] {
            let sending = sending(turn);
            let key = KEYS.fetch_add(1, Ordering::Relaxed).to_string();
            let sending = if keyed { sending.header("Idempotency-Key", &key) } else { sending };
            let (answer, transactions) = self.send(sending).await;
            assert!(answer.status < 300, "{name}: {answer}");
            assert_eq!(transactions, [(name.to_owned(), "committed".to_owned(), flights)], "{name}, keyed: {keyed}");
        }
    }
}

async fn watched() -> (Watched, Caller, World) {
    watched_with(&[]).await
}

async fn watched_with(settings: &[(&str, &str)]) -> (Watched, Caller, World) {
    let service = Service::start(&[LOGGED, settings].concat());
    let world = World::with(json!({"starter_skills": false})).await;
    let alice = world.alice.at(&service);
    // The first request of a user makes the user.
    alice.create(skill("first")).await;
    (Watched { service }, alice, world)
}

fn text(name: &str, body: &str) -> Value {
    let mut skill = skill(name);
    skill["content"] = json!(body);
    skill
}

#[tokio::test]
async fn a_change_of_what_is_at_hand_takes_one_round_trip_and_others_two() {
    let (watched, alice, world) = watched().await;
    let save = |name: String, turn: u8| alice.post("/v1/skills", text(&name, &format!("# Turn {turn}\n\nDo it.\n")));
    watched.takes(2, "skills.save", |turn| save(format!("new-{turn}"), turn)).await;
    watched.takes(1, "skills.save", |turn| save("new-0".into(), turn + 2)).await;
    watched
        .takes(1, "skills.patch", |turn| {
            alice.replace("new-0", &format!("Turn {}", turn + 3), &format!("Turn {}", turn + 4))
        })
        .await;
    watched
        .takes(1, "skills.fields", |turn| alice.put("/v1/skills/new-0/fields", json!({"category": format!("c{turn}")})))
        .await;
    watched
        .takes(1, "skills.resources", |turn| {
            // Beside other files, these are read for what several do together: one round trip more.
            alice
                .send(Method::PUT, "/v1/skills/new-0/resources/references/0.md")
                .body("text/markdown", format!("File {turn}"))
        })
        .await;
    // What is read of files or versions is read behind the lock.
    watched
        .takes(2, "skills.patch", |turn| {
            let (old, new) = if turn == 0 { ("File", "Page") } else { ("Page", "File") };
            let edit = json!({"path": "references/0.md", "old_string": old, "new_string": new});
            alice.patch("/v1/skills/new-0", json!({"edits": [edit]}))
        })
        .await;
    watched
        .takes(2, "skills.rollback", |turn| alice.post("/v1/skills/new-0/rollback", json!({"version": turn + 1})))
        .await;
    watched.takes(2, "skills.fields", |turn| alice.put("/v1/skills/new-1/fields", json!({"pinned": turn == 0}))).await;

    // A load brings a skill to hand; another process that changes it takes it away.
    alice.get("/v1/skills/new-1").await.ok(200);
    watched
        .takes(1, "skills.patch", |turn| {
            alice.replace(
                "new-1",
                if turn == 0 { "Do it" } else { "Do that" },
                if turn == 0 { "Do that" } else { "Do so" },
            )
        })
        .await;
    world.alice.replace("new-1", "Do so", "Do nothing").await.ok(200);
    let (answer, transactions) = watched.send(alice.replace("new-1", "Do nothing", "Do more")).await;
    assert_eq!(answer.ok(200)["version"], 5);
    let name = || "skills.patch".to_owned();
    // It does not find its text in the state at hand, so nothing is asked in vain.
    assert_eq!(transactions, [(name(), "committed".to_owned(), 2)]);
    world.alice.replace("new-1", "Do more", "Do more of it").await.ok(200);
    let (answer, transactions) = watched.send(alice.replace("new-1", "Turn 1", "Turn 9")).await;
    assert_eq!(answer.ok(200)["version"], 7);
    assert_eq!(transactions, [(name(), "refused".to_owned(), 1), (name(), "committed".to_owned(), 2)]);
    watched
        .takes(2, "skills.patch", |turn| {
            alice.replace("new-1", &format!("Turn {}", 9 - turn), &format!("Turn {}", 8 - turn))
        })
        .await;

    watched.takes(2, "skills.delete", |turn| alice.delete(&format!("/v1/skills/new-{turn}"))).await;
}

/// A user's only skill is similar to no other: nothing is read to find that out.
#[tokio::test]
async fn the_first_skill_is_compared_with_none() {
    let (watched, alice, world) = watched().await;
    let compares = async |caller: &Caller| {
        let create = caller.post("/v1/skills", skill("plan-meeting"));
        watched.statements_of(&["skills."], create).await.contains(&"skills.find_revisions".to_owned())
    };
    assert!(!compares(&world.bob.at(&watched.service)).await);
    assert!(compares(&alice).await);
}

/// Of skills that were made here, everything is known that a new one is compared with.
#[tokio::test]
async fn a_create_asks_nothing_to_compare() {
    let (watched, alice, _world) = watched().await;
    let asks = async |name: &str| {
        watched.statements_of(&["skills.find_revisions", "skills.list"], alice.post("/v1/skills", skill(name))).await
    };
    alice.get("/v1/skills?q=plan").await.ok(200);
    for name in ["plan-a-trip", "plan-a-meeting", "plan-a-party"] {
        assert_eq!(asks(name).await, Vec::<String>::new(), "{name}");
    }
    let close = alice.post("/v1/skills", skill("plan-a-parties")).await.ok(201);
    assert!(!close["similar"].as_array().unwrap().is_empty(), "{close}");
}

#[tokio::test]
async fn an_import_of_many_takes_two_round_trips() {
    let (watched, alice, _world) = watched().await;
    watched.takes(2, "skills.import_batch", |turn| import(&alice, 0..20, turn)).await;
}

fn import(caller: &Caller, numbers: Range<usize>, turn: u8) -> Sending {
    let text = |n| format!("---\nname: s-{n}\ndescription: Says {n}\n---\n\nTurn {turn}.\n");
    let files: Vec<(String, String)> = numbers.map(|n| (format!("s-{n}/SKILL.md"), text(n))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    caller.send(Method::POST, "/v1/skills/import").files(&[("library.zip", &zip(&files))])
}

/// What another process has changed since is read first, also where a library is so large that it may miss the last second: unless
/// that takes too long, so one of some has to.
#[tokio::test]
async fn a_create_beside_many_is_compared_with_what_others_made() {
    for _ in 0..5 {
        let (watched, alice, world) = watched().await;
        for numbers in [0..300, 300..510] {
            import(&alice, numbers, 0).await.ok(200);
        }
        alice.get("/v1/skills?q=plan").await.ok(200);
        world.alice.create(skill("plan-a-party")).await;
        let create = alice.post("/v1/skills", skill("plan-a-trip"));
        if !watched.statements_of(&["skills.list_stamps"], create).await.is_empty() {
            return;
        }
    }
    panic!("none asked what others made");
}

#[tokio::test]
async fn memories_soul_and_the_log_of_a_session_take_two_round_trips() {
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
    // The first one of a kind has its snapshot rendered.
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

/// A tool call of a turn is counted by the statement that finds its session.
#[tokio::test]
async fn a_counted_tool_call_takes_no_further_round_trip() {
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

/// What the turn before left is only checked, whatever was said meanwhile; where it is not so, the turn is taken again.
#[tokio::test]
async fn a_turn_behind_another_takes_one_round_trip() {
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

/// The reply that a message answers is known where it was logged, and read elsewhere.
#[tokio::test]
async fn an_answer_to_a_reply_takes_one_round_trip() {
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

/// Gives a session another snapshot of its user's.
const OTHER_SNAPSHOT: &str = "snapshot_id = (
    select n.snapshot_id from snapshots n
    where n.tenant_id = s.tenant_id and n.user_id = s.user_id and n.snapshot_id <> s.snapshot_id limit 1)";

/// Lends a user the starters.
const LENDS: &str = "starters_at = now(), starters_release = (select max(release) from starter_releases)";

/// Whatever became of the session and its user meanwhile: each time by the database alone, so that no process knows of it.
#[tokio::test]
async fn a_turn_that_goes_by_what_is_no_more_so_is_taken_again() {
    // With vectors, what skills have learned counts.
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

/// What was shown before is only checked, in one small statement that brings the counts.
#[tokio::test]
async fn what_is_kept_takes_one_small_statement() {
    let (watched, alice, _world) = watched().await;
    let statements = async |path: &str| watched.statements_of(&["skills.", "counts."], alice.get(path)).await;
    for (path, first, then) in
        [("/v1/skills", "skills.list_page", "counts.check"), ("/v1/skills/first", "skills.load", "counts.count_load")]
    {
        assert_eq!(statements(path).await.last().map(String::as_str), Some(first), "{path}");
        assert_eq!(statements(path).await, [then], "{path}");
    }
    // The relations that a model reads beside the skill come with its count.
    let viewed = alice.tool("skill_view", json!({"name": "first"}));
    assert_eq!(watched.statements_of(&["skills.", "counts.", "graph."], viewed).await, ["counts.count_load"]);
    // The lines of what is found were shown with the pages.
    statements("/v1/skills?q=first").await;
    assert_eq!(statements("/v1/skills?q=first").await, ["counts.check"]);
    let tag = alice.get("/v1/skills").await.header("etag").to_owned();
    let unchanged = alice.get("/v1/skills").header("If-None-Match", &tag);
    assert_eq!(watched.statements_of(&["skills.", "counts."], unchanged).await, ["counts.check"]);
    let entries = async || watched.statements_of(&["skills."], alice.rpc("skills/list", json!({}))).await;
    assert_eq!(entries().await.last().map(String::as_str), Some("skills.list_published"));
    assert_eq!(entries().await, ["skills.find_revisions"]);
    // Whoever has changed something does not ask in vain.
    alice.replace("first", "First this", "First that").await.ok(200);
    assert_eq!(statements("/v1/skills").await, ["skills.list_page"]);
    assert_eq!(statements("/v1/skills/first").await, ["skills.load"]);
    assert_eq!(statements("/v1/skills/first").await, ["counts.count_load"]);
    // Of more skills than are kept, nothing that was kept of fewer is asked for.
    import(&alice, 0..310, 0).await.ok(200);
    statements("/v1/skills").await;
    assert_eq!(statements("/v1/skills").await, ["skills.list_page"]);
}

/// They wait for one rendering, and share it. One that asks just as it ends may render again.
#[tokio::test]
async fn sessions_that_begin_at_once_share_a_rendering() {
    let (watched, alice, _world) = watched().await;
    let open = || alice.post("/v1/sessions", json!({"index_budget": 5_000})).into_future();
    let opened = join_all((0..16).map(|_| open())).await;
    let snapshots: HashSet<String> =
        opened.iter().map(|opened| opened.ok(201)["snapshot"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(snapshots.len(), 1);
    let rendered = watched.service.log().matches("snapshots.read_parts").count();
    assert!((1..=4).contains(&rendered), "{rendered} of 16");
}
