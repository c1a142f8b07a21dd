//! The list of skills, and a skill with its text, versions, fields and files.

use serde_json::json;

use super::visitor::{Visitor, area, hidden};
use crate::callers::{World, skill};

fn text(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use when somebody asks for it.\n---\n{body}\n")
}

#[tokio::test]
async fn skills_are_listed_searched_and_paged_by_address() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    assert!(alice.page("/console/skills").await.contains("No skills yet"));
    let names: Vec<String> = (0..52).map(|number| format!("skill-{number:02}")).collect();
    for name in &names {
        world.alice.create(skill(name)).await;
    }
    world.alice.create(skill("mcp/email")).await;
    let page = alice.page("/console/skills").await;
    assert!(page.contains("skill-10") && !page.contains("skill-51"), "{page}");
    assert!(page.contains("/console/skills/mcp%2Femail"), "{page}");
    let next = page.split(r#"href="/console/skills?cursor="#).nth(1).unwrap().split('"').next().unwrap();
    let second = alice.page(&format!("/console/skills?cursor={next}")).await;
    assert!(second.contains("skill-51") && second.contains("First page"), "{second}");
    let found = alice.page("/console/skills?q=mcp%2Femail").await;
    assert!(found.contains("mcp/email"), "{found}");
    assert!(alice.page("/console/skills?tag=nothing").await.contains("No skill fits"));
    let wrong = alice.get("/console/skills?cursor=zzz").await;
    assert_eq!(wrong.status, 400, "{wrong}");
}

#[tokio::test]
async fn the_text_is_edited_on_the_version_that_was_shown() {
    let world = World::new().await;
    world.alice.create(skill("mcp/plan")).await;
    let alice = Visitor::of(&world.alice).await;
    let path = "/console/skills/mcp%2Fplan";
    let page = alice.page(path).await;
    assert!(page.contains("First this, then that.") && page.contains(r#"name="version" value="1""#), "{page}");

    // Browsers send line breaks as CR LF.
    let edited = text("mcp/plan", "Second.\n\nThird.").replace('\n', "\r\n");
    let answer = alice.post(path, &[("text", &edited), ("version", "1")]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/console/skills/mcp%2Fplan?done=saved"), "{answer}");
    let stored = world.alice.get("/v1/skills/mcp%2Fplan/SKILL.md").await.text();
    assert_eq!(stored, text("mcp/plan", "Second.\n\nThird."));
    let again = alice.post(path, &[("text", &edited), ("version", "2")]).await;
    assert!(again.header("location").ends_with("?done=unchanged"), "{again}");

    let late = alice.post(path, &[("text", &text("mcp/plan", "Typed meanwhile.")), ("version", "1")]).await;
    assert_eq!(late.status, 409, "{late}");
    let shown = late.text();
    assert!(shown.contains("Typed meanwhile.") && shown.contains("Third.") && shown.contains("while you were editing"));
    assert!(shown.contains(r#"name="version" value="2""#), "saving again is on the current version: {shown}");
    assert_eq!(world.alice.peek("mcp/plan").await["version"], 2);

    let invalid = alice.post(path, &[("text", "no frontmatter"), ("version", "2")]).await;
    assert_eq!(invalid.status, 422, "{invalid}");
    assert!(invalid.text().contains(r#"role="alert""#) && invalid.text().contains("no frontmatter"), "{invalid}");
}

#[tokio::test]
async fn versions_are_compared_word_by_word_and_rolled_back() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    world.alice.replace("plan", "First this", "First measure this").await.ok(200);
    let alice = Visitor::of(&world.alice).await;
    let list = alice.page("/console/skills/plan/versions").await;
    assert!(list.contains("/console/skills/plan/diff?from=1&#38;to=2") && list.contains("user:alice"), "{list}");
    let diff = alice.page("/console/skills/plan/diff?from=1&to=2").await;
    assert!(diff.contains("<ins>measure </ins>") || diff.contains("<ins> measure</ins>"), "{diff}");

    let stale = alice.post("/console/skills/plan/rollback", &[("version", "1"), ("current", "1")]).await;
    assert_eq!(stale.status, 409, "{stale}");
    assert!(stale.text().contains("was not rolled back"), "{stale}");
    let done = alice.post("/console/skills/plan/rollback", &[("version", "1"), ("current", "2")]).await;
    assert_eq!((done.status, done.header("location")), (303, "/console/skills/plan/versions?done=rolled-back"));
    let skill = world.alice.peek("plan").await;
    assert_eq!(skill["version"], 3);
    assert!(!skill["content"].as_str().unwrap().contains("measure"));
    assert_eq!(alice.get("/console/skills/plan/diff?from=1&to=9").await.status, 404);
}

#[tokio::test]
async fn only_changed_fields_are_written() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    let opened = alice.page("/console/skills/plan/fields").await;
    assert!(opened.contains("Without one, the index shows: Does plan"), "the generated summary: {opened}");
    let original = hidden(&opened, "original");
    let fields = |tags: &'static str, version: &'static str| {
        [
            ("description", "Does plan. Use when somebody asks for it."),
            ("summary", ""),
            ("category", "office"),
            ("tags", tags),
            ("triggers", ""),
            ("see_also", ""),
            ("role", "utility"),
            ("pinned", "on"),
            ("version", version),
            ("original", original.as_str()),
        ]
    };
    let answer = alice.post("/console/skills/plan/fields", &fields("one\r\n two \r\n\r\n", "1")).await;
    assert!(answer.header("location").ends_with("/fields?done=saved"), "{answer}");
    let skill = world.alice.peek("plan").await;
    assert_eq!(
        (&skill["tags"], &skill["category"], &skill["role"], &skill["pinned"]),
        (&json!(["one", "two"]), &json!("office"), &json!("utility"), &json!(true))
    );
    let late = alice.post("/console/skills/plan/fields", &fields("three", "1")).await;
    assert_eq!(late.status, 409, "{late}");
    assert!(late.text().contains("three") && late.text().contains("while you were editing"), "{late}");
    let wrong = fields("one", "2").map(|(name, value)| (name, if name == "role" { "king" } else { value }));
    assert_eq!(alice.post("/console/skills/plan/fields", &wrong).await.status, 422);
}

#[tokio::test]
async fn saving_again_after_a_conflict_keeps_what_others_saved() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let alice = Visitor::of(&world.alice).await;
    let path = "/console/skills/plan/fields";
    let opened = alice.page(path).await;
    let others = json!({"tags": ["theirs"], "category": "home", "expected_version": 1});
    world.alice.put("/v1/skills/plan/fields", others).await.ok(200);
    let (original, description) = (hidden(&opened, "original"), "Does plan well. Use it when asked.");
    let sent =
        [("summary", ""), ("category", "office"), ("tags", ""), ("triggers", ""), ("see_also", ""), ("role", "")];
    let mine = [("description", description), ("version", "1"), ("original", &original)];
    let late = alice.post(path, &[&sent[..], &mine].concat()).await;
    assert_eq!(late.status, 409, "{late}");
    let page = late.text();
    assert!(page.contains("Current text:<pre>home</pre>"), "beside the typed category: {page}");
    assert_eq!(area(&page, "tags"), "theirs", "a field that was not changed has the current text");
    assert_eq!(area(&page, "description"), description);

    let (original, version, tags) = (hidden(&page, "original"), hidden(&page, "version"), area(&page, "tags"));
    let mine = [("description", description), ("version", &version), ("original", &original), ("tags", &tags)];
    let sent = [("summary", ""), ("category", "office"), ("triggers", ""), ("see_also", ""), ("role", "")];
    let again = alice.post(path, &[&sent[..], &mine].concat()).await;
    assert_eq!(again.status, 303, "{again}");
    let stored = world.alice.peek("plan").await;
    assert_eq!((&stored["tags"], &stored["category"]), (&json!(["theirs"]), &json!("office")), "{stored}");
    assert_eq!(stored["description"], description);
}

#[tokio::test]
async fn a_text_with_windows_line_ends_keeps_them() {
    let world = World::new().await;
    let windows = text("plan", "First.\n\nSecond.").replace('\n', "\r\n");
    world.alice.post("/v1/skills", json!({"name": "plan", "skill_md": windows})).await.ok(201);
    assert_eq!(world.alice.get("/v1/skills/plan/SKILL.md").await.text(), windows, "the API keeps them");
    let alice = Visitor::of(&world.alice).await;
    let form = alice.page("/console/skills/plan").await;
    let lines = ("windows_lines", &*hidden(&form, "windows_lines"));
    let same = alice.post("/console/skills/plan", &[("text", &windows), ("version", "1"), lines]).await;
    assert_eq!(same.header("location"), "/console/skills/plan?done=unchanged", "{same}");
    let edited = windows.replace("Second.", "Third.");
    let answer = alice.post("/console/skills/plan", &[("text", &edited), ("version", "1"), lines]).await;
    assert_eq!(answer.status, 303, "{answer}");
    assert_eq!(world.alice.get("/v1/skills/plan/SKILL.md").await.text(), edited);
}

#[tokio::test]
async fn files_are_only_downloaded() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let html = "<script>alert(1)</script>";
    let path = "/v1/skills/plan/resources/references/a.html";
    world.alice.send(reqwest::Method::PUT, path).body("text/html", html).await.ok(200);
    let alice = Visitor::of(&world.alice).await;
    let list = alice.page("/console/skills/plan/resources").await;
    assert!(list.contains("/console/skills/plan/file?path=references%2Fa.html"), "{list}");
    let file = alice.get("/console/skills/plan/file?path=references%2Fa.html").await;
    assert_eq!((file.status, file.header("content-type")), (200, "application/octet-stream"), "{file}");
    assert_eq!(file.header("content-disposition"), "attachment; filename*=UTF-8''a.html");
    assert_eq!(file.text(), html);
}

#[tokio::test]
async fn the_knowledge_of_a_skill_shows_its_use_relations_and_memories() {
    let world = World::new().await;
    world.alice.create_all(&["plan", "web-perf"]).await;
    let alice = Visitor::of(&world.alice).await;
    let path = "/console/skills/plan/knowledge";
    let empty = alice.page(path).await;
    assert!(empty.contains("No related skills") && empty.contains("No memories") && !empty.contains("<svg"), "{empty}");

    for outcome in ["success", "failure"] {
        let used = json!({"skill": "plan", "session_key": outcome, "outcome": outcome});
        world.alice.post("/v1/skills/used", used).await.ok(200);
    }
    world.alice.post("/v1/memories", json!({"content": "`plan` was of use on Friday"})).await.ok(201);
    let added = alice.post("/console/skills/plan/relate", &[("kind", "requires"), ("other", "web-perf")]).await;
    assert_eq!((added.status, added.header("location")), (303, "/console/skills/plan/knowledge?done=saved"), "{added}");
    let page = alice.page(path).await;
    for text in ["Used 2 times", "50 % success", "<svg", "web-perf", "declared", "was of use on Friday"] {
        assert!(page.contains(text), "{text} is missing: {page}");
    }
    let other = alice.page("/console/skills/web-perf/knowledge").await;
    assert!(other.contains("is required by") && !other.contains("/unrelate"), "{other}");

    let unknown = alice.post("/console/skills/plan/relate", &[("kind", "requires"), ("other", "nothing")]).await;
    assert_eq!(unknown.status, 404, "{unknown}");
    let wrong = alice.post("/console/skills/plan/relate", &[("kind", "loves"), ("other", "web-perf")]).await;
    assert_eq!(wrong.status, 400, "{wrong}");
    let removed = alice.post("/console/skills/plan/unrelate", &[("kind", "requires"), ("other", "web-perf")]).await;
    assert_eq!(removed.header("location"), "/console/skills/plan/knowledge?done=removed", "{removed}");
    assert!(alice.page(path).await.contains("No related skills"));
}
