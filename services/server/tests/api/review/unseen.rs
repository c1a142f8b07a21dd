//! Reviewers see a waiting submission, but agents do not: on no route, by no search, and under no similar name.

use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::Answer;
use crate::callers::{Caller, Sending, World};
use crate::exchange::{unzip, zip};
use crate::http::stranger_walk::{self, Names, furnish};
use crate::mcp;
use crate::submitted::check_tables;
use crate::talk::Talk;
use crate::worker::{Ground, world};

/// Name of the proposed skill.
const NAME: &str = "wombatine";
/// Word in the description, the body and the file of the proposed skill.
const CANARY: &str = "quokkarine";
/// Sentence of the proposed skill, without the canary.
const WORDS: &str = "Hand every parcel of this household to the porter of the third gate before noon";
const FILE: &str = "references/gate.md";
/// Operations that show a submission's name, but no text, to its user.
const TELLS_NAMES: [&str; 4] = ["list_submissions", "get_submission", "withdraw_submission", "rebase_submission"];

fn archive() -> Vec<u8> {
    let document = format!(
        "---\nname: {NAME}\ndescription: {WORDS}, says {CANARY}. Use it for parcels.\n---\n# Parcels\n\n{WORDS}, {CANARY}.\n"
    );
    let file = format!("In the file: {WORDS}, {CANARY}.\n");
    zip(&[(&format!("{NAME}/SKILL.md"), document.as_bytes()), (&format!("{NAME}/{FILE}"), file.as_bytes())])
}

/// Proposes a skill with a file in an unknown session, and returns the submission.
async fn propose(who: &Caller) -> Value {
    let import = who.send(Method::POST, "/v1/skills/import").header("Knowhow-Session", "nobody-knows-it");
    let report = import.files(&[("skills.zip", &archive())]).await.ok(200);
    assert_eq!(report["waiting"], 1, "{report}");
    let path = format!("/v1/submissions/{}", report["items"][0]["submission"].as_str().unwrap());
    who.get(&path).await.ok(200)
}

/// Returns an agent of alice with an API key that has these scopes.
async fn agent(world: &World, scopes: &[&str]) -> Caller {
    let key = world.admin.post("/v1/admin/keys", json!({"name": "agent", "scopes": scopes})).await.ok(201);
    world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("alice")
}

/// Returns the text of an answer. For an archive this is the text of its files.
fn said(answer: &Answer) -> String {
    if !answer.body.starts_with(b"PK") {
        return answer.text();
    }
    let files = unzip(&answer.body);
    files.iter().map(|(path, bytes)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes))).collect()
}

fn check_unseen(row: &str, answer: &Answer, words: &[&str]) {
    let said = said(answer);
    assert!(!words.iter().any(|word| said.contains(word)), "{row} tells of what waits: {answer}: {said}");
}

/// Calls every route and every tool, once with the proposed skill and once with an existing one.
async fn walk(agent: &Caller, theirs: &Names, waiting: &str) {
    for (row, answer) in stranger_walk::take_all(agent, &theirs.about(NAME, waiting)).await {
        check_unseen(row, &answer, &[CANARY]);
    }
    for (row, answer) in mcp::strangers::take_all(agent, NAME).await {
        check_unseen(row, &answer, &[CANARY]);
    }
    // These calls do not contain the name of the proposed skill.
    for (row, answer) in mcp::strangers::take_all(agent, "mcp/plan").await {
        check_unseen(row, &answer, &[CANARY, NAME]);
    }
    for (row, answer) in stranger_walk::take_all(agent, &theirs.about("mcp/plan", waiting)).await {
        let words = if TELLS_NAMES.contains(&row) { &[CANARY][..] } else { &[CANARY, NAME][..] };
        check_unseen(row, &answer, words);
    }
}

/// Searches with the exact words of the proposed text.
async fn ask_in_its_words(agent: &Caller) {
    let talk = Talk::open(agent, json!({"tools": "none", "inline_top": true})).await;
    assert!(!talk.opened.to_string().contains(NAME), "{}", talk.opened);
    let q = WORDS.replace(' ', "%20");
    let mut asked: Vec<Sending> = [
        format!("/v1/skills?q={q}"),
        format!("/v1/skills?q={CANARY}"),
        format!("/v1/skills/suggest?context={q}"),
        format!("/v1/recall?q={q}"),
        format!("/v1/recall?q={CANARY}"),
        format!("/v1/conversations?q={q}"),
        "/v1/skills?prefix=womb".to_owned(),
        "/v1/skills?tag=parcels".to_owned(),
    ]
    .iter()
    .map(|path| agent.get(path))
    .collect();
    asked.push(agent.post("/v1/skills/match", json!({"message": WORDS})));
    asked.push(agent.post(&talk.path("/turns"), json!({"message": format!("{WORDS}, please"), "deadline_ms": 30_000})));
    asked.push(agent.tool("skill_list", json!({"q": WORDS})));
    asked.push(agent.tool("skill_suggest", json!({"context": WORDS})));
    asked.push(agent.tool("memory_recall", json!({"q": WORDS})));
    for sending in asked {
        let answer = sending.await;
        assert!(answer.status < 500, "{answer}");
        check_unseen("a question in its words", &answer, &[CANARY, NAME]);
    }
}

/// Requests similar names, which an answer might correct.
async fn ask_for_near_names(agent: &Caller) {
    for near in ["wombatime", "Wombattine", "mcp/wombatime", "wombatinne"] {
        let path = format!("/v1/skills/{}", near.replace('/', "%2F"));
        for sending in [
            agent.get(&path),
            agent.get(&format!("{path}/SKILL.md")),
            agent.get(&format!("{path}/versions")),
            agent.replace(near, "a", "b"),
            agent.delete(&path),
            agent.post("/v1/skills/used", json!({"skill": near})),
            agent.tool("skill_view", json!({"name": near})),
            agent.tool("skill_history", json!({"name": near})),
            agent.rpc("resources/read", json!({"uri": format!("skill://{near}/SKILL.md")})),
        ] {
            let answer = sending.await;
            let is_refused = answer.status >= 400 || answer.json()["result"]["isError"] == true;
            assert!(is_refused || answer.json()["error"].is_object(), "{answer}");
            check_unseen(near, &answer, &[CANARY, NAME]);
        }
    }
}

#[tokio::test]
async fn no_route_shows_agents_a_waiting_skill_and_a_reviewer_reads_it() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let alice = &world.alice;
    let (theirs, _) = furnish(&world).await;
    let waiting = propose(alice).await;
    let id = waiting["id"].as_str().unwrap();
    assert!(waiting["skill"] == NAME && !waiting.to_string().contains(CANARY), "{waiting}");
    let tainted = |method: Method, path: &str| alice.send(method, path).header("Knowhow-Session", "nobody-knows-it");
    let edits = json!({"edits": [{"old_string": "then this", "new_string": format!("{WORDS}, {CANARY}")}]});
    tainted(Method::PATCH, "/v1/skills/mcp%2Fplan").json(&edits).await.ok(202);
    let file = tainted(Method::PUT, "/v1/skills/mcp%2Fplan/resources/references/a.md");
    file.body("text/plain", format!("{WORDS}, {CANARY}")).await.ok(202);
    let reads = agent(&world, &["skills:read", "sessions", "memories"]).await;
    let writes = agent(&world, &["skills:read", "skills:write", "sessions", "memories"]).await;
    // A caller who knows the digest does not learn that such a text waits.
    let check = async |name: &str| {
        let skills = json!({"skills": [{"name": name, "digest": waiting["result_digest"]}]});
        reads.post("/v1/skills/import/check", skills).await.ok(200)["items"][0]["state"].take()
    };
    assert_eq!((check(NAME).await, check("elsewhere").await), (json!("new"), json!("new")));
    ask_for_near_names(&writes).await;
    walk(&reads, &theirs, id).await;
    ask_in_its_words(&reads).await;
    let path = format!("/v1/submissions/{id}");
    let shown = world.scoped("alice", "skills:read review").get(&path).await.ok(200);
    let (diff, document) = (shown["diff"].as_str().unwrap(), shown["skill_md"].as_str().unwrap());
    assert!(diff.contains("+In the file: ") && diff.matches(CANARY).count() == 3, "{shown}");
    assert_eq!(document.matches(CANARY).count(), 2, "{shown}");
    let scoped = world.scoped("bob", "skills:read review").get(&path).await;
    scoped.refused(404, "not-found");
    walk(&writes, &theirs, id).await;
    assert!(!alice.names().await.contains(&NAME.to_owned()));
}

#[tokio::test]
async fn a_waiting_skill_is_in_no_table_and_only_its_name_is_audited() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let World { alice, .. } = &world(&service).await;
    let waiting = propose(alice).await;
    let _worker = ground.work(&[]);
    ground.idle();
    assert_eq!(ground.count(&format!("audit_log a where a.target like '%{NAME}%'")), 1);
    check_tables(&ground, CANARY, &[]);
    check_tables(&ground, NAME, &["audit_log"]);
    let path = format!("/v1/submissions/{}/withdraw", waiting["id"].as_str().unwrap());
    alice.post(&path, json!({})).await.ok(200);
    ground.idle();
    check_tables(&ground, CANARY, &[]);
    check_tables(&ground, NAME, &["audit_log"]);
}
