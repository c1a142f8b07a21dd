//! Memories, the soul, conversations, sessions turn by turn, and the snapshot.

use serde_json::json;

use super::visitor::Visitor;
use crate::callers::{World, skill};
use crate::talk::Talk;

#[tokio::test]
async fn a_memory_is_corrected_and_forgotten() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    assert!(alice.page("/console/memories").await.contains("No memories yet"));
    let stored = world.alice.post("/v1/memories", json!({"content": "Lives in Ulm", "tags": ["home"]})).await.ok(201);
    let path = format!("/console/memories/{}", stored["id"].as_str().unwrap());
    let list = alice.page("/console/memories?kind=semantic&tag=home").await;
    assert!(list.contains("Lives in Ulm") && list.contains(&path), "{list}");
    assert!(alice.page("/console/memories?tag=work").await.contains("No memory fits"));

    let fields = [("content", "Lives in Bonn"), ("tags", "home\r\ncity"), ("core", "on"), ("version", "1")];
    let answer = alice.post(&path, &fields).await;
    assert_eq!((answer.status, answer.header("location")), (303, &*format!("{path}?done=saved")), "{answer}");
    let api = format!("/v1/memories/{}", stored["id"].as_str().unwrap());
    let now = world.alice.get(&api).await.ok(200);
    assert_eq!(
        (&now["content"], &now["tags"], &now["core"]),
        (&json!("Lives in Bonn"), &json!(["home", "city"]), &json!(true))
    );
    let page = alice.page(&path).await;
    assert!(page.contains("Lives in Bonn") && page.contains("Lives in Ulm"), "with the earlier version: {page}");
    assert!(page.contains("<del>Ulm</del>") && page.contains("<ins>Bonn</ins>"), "with the changed words: {page}");

    let late = alice.post(&path, &[("content", "Lives in Rome"), ("tags", ""), ("version", "1")]).await;
    assert_eq!(late.status, 409, "{late}");
    assert!(late.text().contains("Lives in Rome") && late.text().contains("while you were editing"), "{late}");
    assert!(late.text().contains(r#"<pre class="text">Lives in Bonn</pre>"#), "with the current text: {late}");

    let gone = alice.post(&format!("{path}/forget"), &[]).await;
    assert_eq!((gone.status, gone.header("location")), (303, "/console/memories?done=forgotten"), "{gone}");
    world.alice.get(&api).await.refused(404, "not-found");
    assert_eq!(alice.get(&path).await.status, 404);
}

#[tokio::test]
async fn the_soul_is_edited_and_its_versions_show_what_changed() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    assert!(alice.page("/console/soul").await.contains("This is the default"));
    let first = alice.post("/console/soul", &[("text", "Be brief.\r\nBe kind to everyone."), ("version", "0")]).await;
    assert_eq!(first.header("location"), "/console/soul?done=saved", "{first}");
    assert_eq!(world.alice.get("/v1/soul").await.ok(200)["text"], "Be brief.\nBe kind to everyone.");
    let second = alice.post("/console/soul", &[("text", "Be brief.\nBe patient to everyone."), ("version", "1")]).await;
    assert_eq!(second.status, 303, "{second}");
    let page = alice.page("/console/soul").await;
    assert!(page.contains("<del>kind</del>") && page.contains("<ins>patient</ins>"), "{page}");
    let listed = "-- Be brief.\n++ Be patient to everyone.";
    alice.post("/console/soul", &[("text", listed), ("version", "2")]).await;
    let text = "++ Be brief.\n++ Be patient to everyone.";
    alice.post("/console/soul", &[("text", text), ("version", "3")]).await;
    let page = alice.page("/console/soul").await;
    assert!(page.contains("<del>--</del> Be brief.") && page.contains("<ins>++</ins> Be brief."), "{page}");
    assert!(alice.page("/console/soul").await.contains("Version 4"));
    let late = alice.post("/console/soul", &[("text", "Be late."), ("version", "1")]).await;
    assert_eq!(late.status, 409, "{late}");
    let shown = late.text();
    assert!(
        shown.contains("Be late.") && shown.contains("Be patient to everyone.") && shown.contains(r#"value="4""#),
        "{shown}"
    );
    let same = alice.post("/console/soul", &[("text", text), ("version", "4")]).await;
    assert_eq!(same.header("location"), "/console/soul?done=unchanged", "{same}");
}

#[tokio::test]
async fn a_session_is_read_turn_by_turn_with_the_reasons() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    assert!(alice.page("/console/sessions").await.contains("No sessions yet"));
    let talk = Talk::open(&world.alice, json!({"tools": "full", "key": "monday-call"})).await;
    talk.say("use plan for the trip").await;
    talk.tell("/reply", json!({"message": "Done so."})).await;
    let list = alice.page("/console/sessions?open=true").await;
    assert!(list.contains("monday-call") && list.contains(&talk.id), "{list}");
    assert!(alice.page("/console/sessions?open=false").await.contains("No session fits"));
    let session = alice.page(&format!("/console/sessions/{}", talk.id)).await;
    assert!(session.contains("use plan for the trip") && session.contains("Done so."), "{session}");
    let turn = alice.page(&format!("/console/sessions/{}/turns/1", talk.id)).await;
    assert!(turn.contains("called in the message") && turn.contains("First this, then that."), "{turn}");
    assert_eq!(alice.get(&format!("/console/sessions/{}/turns/2", talk.id)).await.status, 404);
    assert_eq!(alice.get(&format!("/console/sessions/{}", uuid::Uuid::now_v7())).await.status, 404);
}

#[tokio::test]
async fn the_snapshot_is_shown_as_the_model_reads_it() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    let page = alice.page("/console/snapshot").await;
    let snapshot = world.alice.get("/v1/snapshot").await.ok(200);
    assert!(page.contains(snapshot["sha256"].as_str().unwrap()) && page.contains("plan"), "{page}");
}

#[tokio::test]
async fn every_page_shows_the_same_by_api_without_the_credential() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    for (path, call) in [
        ("/console", "/v1/sessions?limit=8"),
        ("/console/skills?q=it&tag=a", "/v1/skills?q=it&#38;tag=a"),
        ("/console/skills/plan", "/v1/skills/plan/SKILL.md"),
        ("/console/skills/plan/versions", "/v1/skills/plan/rollback"),
        ("/console/soul", "/v1/soul"),
        ("/console/snapshot", "/v1/snapshot"),
        ("/console/review", "/v1/submissions?state=needs_review"),
    ] {
        let page = alice.page(path).await;
        assert!(page.contains(call) && page.contains("$KNOWHOW_TOKEN"), "{path}: {page}");
        assert!(!page.contains(world.alice.token.as_deref().unwrap()), "{page}");
    }
}

#[tokio::test]
async fn an_address_that_cannot_be_read_is_answered_in_words() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    for (path, status) in [
        ("/console/skills/plan/diff", 400),
        ("/console/skills/plan/diff?from=a&to=b", 400),
        ("/console/review/no-id", 404),
        ("/console/memories/no-id", 404),
        ("/console/sessions/no-id", 404),
        ("/console/sessions/no-id/turns/x", 404),
        ("/console/sessions?open=perhaps", 400),
        ("/console/review?state=lost", 400),
        ("/console/nowhere", 404),
    ] {
        let answer = alice.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (status, "text/html; charset=utf-8"), "{answer}");
        assert!(answer.text().contains("Go to the overview"), "{answer}");
    }
}

#[tokio::test]
async fn the_graph_is_a_picture_and_a_list() {
    let world = World::new().await;
    let alice = &world.alice;
    assert!(Visitor::of(alice).await.page("/console/graph").await.contains("No relations yet"));
    for name in ["plan", "prepare", "mcp/report"] {
        alice.create(skill(name)).await;
    }
    for (kind, other) in [("requires", "prepare"), ("enables", "mcp%2Freport")] {
        alice.put(&format!("/v1/skills/plan/relations/{kind}/{other}"), json!({})).await;
    }
    let visitor = Visitor::of(alice).await;
    let page = visitor.page("/console/graph?around=plan").await;
    assert_eq!(page.matches("<circle").count(), 3, "{page}");
    assert_eq!(page.matches("<line").count(), 2, "{page}");
    assert!(page.contains("/console/graph?around=mcp%2Freport"), "each node is a link: {page}");
    let list = page.split("The same as a list").nth(1).unwrap();
    assert!(list.contains("hands over to") && list.contains("requires"), "{list}");
    assert_eq!(visitor.page("/console/graph?around=plan").await, page, "the places are the same each time");
    let some = visitor.page("/console/graph?around=plan&types=requires").await;
    assert!(some.matches("<line").count() == 1 && !some.contains(">hands over to</td>"), "{some}");
    assert_eq!(visitor.get("/console/graph?around=missing").await.status, 404);
}

#[tokio::test]
async fn analytics_show_used_unused_and_failing_skills() {
    let world = World::new().await;
    let alice = &world.alice;
    for name in ["plan", "rest", "fail"] {
        alice.create(skill(name)).await;
    }
    for session in ["one", "two", "three"] {
        let report = json!({"skill": "fail", "session_key": session, "outcome": "failure"});
        alice.post("/v1/skills/used", report).await.ok(200);
    }
    alice.post("/v1/skills/used", json!({"skill": "plan", "outcome": "success"})).await;
    let visitor = Visitor::of(alice).await;
    let page = visitor.page("/console/analytics?days=7").await;
    assert!(page.contains("4 uses of 3 skills in 7 days"), "{page}");
    let part =
        |title: &str| page.split(&format!("<h2>{title}</h2>")).nth(1).unwrap().split("</section>").next().unwrap();
    assert!(part("At risk").contains("fail") && !part("At risk").contains("plan"), "{page}");
    assert!(part("Used").contains("100 %") && part("Used").contains("3 failed"), "{page}");
    assert!(part("Never used").contains("rest") && !part("Never used").contains("plan"), "{page}");
    assert_eq!(visitor.get("/console/analytics?days=8").await.status, 400);
}

#[tokio::test]
async fn a_message_is_tried_and_the_parts_of_each_score_are_shown() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create(json!({"name": "water-plants", "description": "Waters plants. Use when plants are dry.", "content": "Feel the soil."})).await;
    alice
        .create(json!({"name": "pay-bills", "description": "Pays bills. Use for an invoice.", "content": "Pay it."}))
        .await;
    let talk = Talk::long(alice).await;
    for number in 1..=25 {
        talk.say(&format!("message {number} of a long talk")).await;
    }
    talk.say("my <b>plants</b> are dry").await;
    let visitor = Visitor::of(alice).await;
    let page = visitor.page("/console/recall").await;
    let (first, last) = (page.find("are dry").unwrap(), page.find("message 25 of").unwrap());
    assert!(first < last && !page.contains("message 5 of"), "the latest messages, newest first: {page}");
    assert!(page.contains("my &#60;b&#62;plants&#60;/b&#62; are dry") && page.contains("Try it"), "{page}");
    let used = alice.peek("water-plants").await["times_used"].clone();
    let found = visitor.post("/console/recall", &[("message", "the plants are dry, use pay-bills too")]).await;
    assert_eq!(found.status, 200, "{found}");
    let text = found.text();
    let named = text.split("Named in the message").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(named.contains("pay-bills") && named.contains("included") && !named.contains("water-plants"), "{named}");
    let search = text.split("Found by the search").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(search.contains("water-plants") && search.contains("words "), "{search}");
    assert_eq!(alice.peek("water-plants").await["times_used"], used, "nothing is counted");
    let empty = visitor.post("/console/recall", &[("message", "")]).await;
    assert!(empty.status >= 400 && empty.text().contains(r#"role="alert""#), "{empty}");
}
