//! Hostile texts in every shown field: nothing of them becomes markup, and hidden characters become code points.

use serde_json::json;

use super::visitor::Visitor;
use crate::callers::World;
use crate::signing;
use crate::talk::Talk;

const MARKUP: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></textarea><svg/onload=alert(1)>";
/// Reverses the direction of the text that follows it.
const OVERRIDE: char = '\u{202e}';

/// Asserts that a page has no markup of a text, and no direction override outside of the fields of forms.
#[track_caller]
fn harmless(path: &str, page: &str) {
    for tag in ["<script", "<img", "<svg", "onerror=alert(1)>", "onload=alert(1)>"] {
        assert!(!page.contains(tag), "{path} has {tag}: {page}");
    }
    let mut outside = String::new();
    for part in page.split("<textarea") {
        outside.push_str(part.rsplit("</textarea>").next().unwrap());
    }
    let outside: String =
        outside.split("<input").map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect();
    assert!(!outside.contains(OVERRIDE), "{path} has a direction override: {page}");
}

#[tokio::test]
async fn hostile_texts_are_shown_as_text() {
    let world = World::with(json!({"starter_skills": false, "users_review": true})).await;
    let evil = format!("{MARKUP}{OVERRIDE}");
    // The name of the user is hostile, too.
    let mut claims = signing::claims(&world.slug, &format!("mallory {MARKUP}"));
    claims["roles"] = json!(["tenant_admin"]);
    let who = world.anonymous.with_token(signing::hs256(&world.secret, &claims));
    let skill = json!({
        "name": "plan", "description": format!("Does it. Use it. {MARKUP}"), "content": format!("# Plan\n\n{evil}\n"),
        "tags": ["<b>tag</b>"], "triggers": ["<i>now</i>"],
    });
    let saved = who.post("/v1/skills", skill).await;
    assert!(saved.status < 300, "{saved}");
    let changed = who.replace("plan", "# Plan", "# Plan again").await;
    assert!(changed.status < 300, "{changed}");
    let memory = who.post("/v1/memories", json!({"content": format!("Said {evil}")})).await;
    assert!(memory.status < 300, "{memory}");
    who.put("/v1/soul", json!({"text": evil})).await.ok(200);
    let talk = Talk::open(&who, json!({"tools": "full", "key": "<img/src=x>"})).await;
    talk.say(&format!("use plan {evil}")).await;
    talk.tell("/reply", json!({"message": evil})).await;
    talk.tell("/taint", json!({"source": MARKUP})).await;
    let held = json!({"name": "held", "description": "Does it. Use it.", "content": evil});
    who.post("/v1/skills", held).header("Knowhow-Session", &talk.id).await.ok(202);

    let visitor = Visitor::of(&who).await;
    let submissions = who.get("/v1/submissions").await.ok(200);
    let mut paths = vec![
        "/console".to_owned(),
        "/console/skills".into(),
        "/console/skills?q=plan&tag=%22%3E%3Cscript%3E".into(),
        "/console/skills/plan".into(),
        "/console/skills/plan/resources".into(),
        "/console/skills/plan/versions".into(),
        "/console/skills/plan/diff?from=1&to=2".into(),
        "/console/skills/plan/fields".into(),
        "/console/memories".into(),
        "/console/memories?tag=%22%3E%3Cscript%3E".into(),
        "/console/soul".into(),
        "/console/conversations?q=%22%3E%3Cscript%3E".into(),
        "/console/sessions".into(),
        "/console/sessions?key=%22%3E%3Cscript%3E".into(),
        format!("/console/sessions/{}", talk.id),
        format!("/console/sessions/{}/turns/1", talk.id),
        "/console/snapshot".into(),
        "/console/review".into(),
        "/console/users".into(),
        "/console/users?prefix=%22%3E%3Cscript%3E".into(),
        "/console/audit".into(),
        "/console/audit?actor=%22%3E%3Cscript%3E".into(),
        "/console/keys".into(),
        "/console/jobs".into(),
    ];
    let memories = who.get("/v1/memories").await.ok(200);
    for memory in memories["items"].as_array().unwrap() {
        paths.push(format!("/console/memories/{}", memory["id"].as_str().unwrap()));
    }
    for submission in submissions["items"].as_array().unwrap() {
        paths.push(format!("/console/review/{}", submission["id"].as_str().unwrap()));
    }
    for path in &paths {
        harmless(path, &visitor.page(path).await);
    }
    let missing = visitor.get("/console/skills/%3Cscript%3Ealert(1)").await;
    assert_eq!(missing.status, 404, "{missing}");
    harmless("a missing skill", &missing.text());
    let reason = format!("{}{OVERRIDE}", &MARKUP[..80]);
    let short = visitor.post("/console/review/reason", &[("reason", "<img>"), ("next", "\"><script>")]).await;
    assert_eq!(short.status, 400, "{short}");
    harmless("a short reason", &short.text());
    visitor.give_reason(&reason).await;
    harmless("the review with a reason", &visitor.page("/console/review").await);
    let login = super::visitor::send_login(&world.anonymous, &[("token", "<script>"), ("user", MARKUP)]).await;
    harmless("a refused login", &login.text());
    let rejected = visitor.post("/console/skills/plan", &[("text", &evil), ("version", "1")]).await;
    harmless("a rejected text", &rejected.text());
}
