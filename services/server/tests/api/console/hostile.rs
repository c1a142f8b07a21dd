//! Hostile texts in every shown field: nothing of them becomes markup, and hidden characters become code points.

use serde_json::json;

use super::visitor::Visitor;
use crate::callers::World;
use crate::signing;
use crate::talk::Talk;

const MARKUP: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></textarea><svg/onload=alert(1)>";
/// Reverses the direction of the text that follows it.
const OVERRIDE: char = '\u{202e}';

/// The tags of the console's own pages.
const TAGS: &str = " a aside b body br button code del details div dl dt dd fieldset footer form h1 h2 h3 head header html input ins \
                    label legend li link main mark meta nav ol option p pre rect section select span summary svg table \
                    tbody td textarea th thead time title tr ul ";

/// Asserts that a page has only tags and attributes of its own, and no direction override outside of the fields of
/// forms.
#[track_caller]
fn harmless(path: &str, page: &str) {
    for tag in page.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap();
        let name: String = inside.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        let is_doctype = inside.starts_with("!doctype");
        assert!(is_doctype || TAGS.contains(&format!(" {name} ")), "{path} has <{inside}>");
        for attribute in inside.split(['"', '\'']).step_by(2).flat_map(|part| part.split_whitespace().skip(1)) {
            assert!(!attribute.starts_with("on") && !attribute.starts_with("style"), "{path} has <{inside}>");
        }
        let target =
            ["href=\"", "src=\"", "action=\""].iter().find_map(|name| inside.split_once(name)).map(|cut| cut.1);
        assert!(target.is_none_or(|target| target.starts_with(['/', '#'])), "{path} has <{inside}>");
    }
    let mut outside = String::new();
    for part in page.split("<textarea") {
        outside.push_str(part.rsplit("</textarea>").next().unwrap());
    }
    let outside: String =
        outside.split("<input").map(|part| part.split_once('>').map_or(part, |(_, rest)| rest)).collect();
    assert!(!outside.contains(OVERRIDE), "{path} has a direction override: {page}");
}

/// Pages that need no id.
const PAGES: [&str; 29] = [
    "/console",
    "/console/skills",
    "/console/skills?q=plan&tag=%22%3E%3Cscript%3E",
    "/console/skills/plan",
    "/console/skills/plan/resources",
    "/console/skills/plan/knowledge",
    "/console/skills/plan/versions",
    "/console/skills/plan/diff?from=1&to=2",
    "/console/skills/plan/fields",
    "/console/memories",
    "/console/memories?tag=%22%3E%3Cscript%3E",
    "/console/soul",
    "/console/conversations?q=%22%3E%3Cscript%3E",
    "/console/sessions",
    "/console/sessions?key=%22%3E%3Cscript%3E",
    "/console/snapshot",
    "/console/review",
    "/console/users",
    "/console/users?prefix=%22%3E%3Cscript%3E",
    "/console/graph",
    "/console/graph?around=plan",
    "/console/analytics",
    "/console/dreams",
    "/console/archive?user=%22%3E%3Cscript%3E",
    "/console/webhook",
    "/console/audit",
    "/console/audit?actor=%22%3E%3Cscript%3E",
    "/console/keys",
    "/console/jobs",
];

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
    let mut paths: Vec<String> = PAGES.iter().map(|path| (*path).to_owned()).collect();
    paths.push(format!("/console/sessions/{}", talk.id));
    paths.push(format!("/console/sessions/{}/turns/1", talk.id));
    let memories = who.get("/v1/memories").await.ok(200);
    for memory in memories["items"].as_array().unwrap() {
        paths.push(format!("/console/memories/{}", memory["id"].as_str().unwrap()));
    }
    for submission in submissions["items"].as_array().unwrap() {
        paths.push(format!("/console/review/{}", submission["id"].as_str().unwrap()));
    }
    let users = visitor.page("/console/users?prefix=mallory").await;
    let (_, own) = users.split_once("href=\"/console/users/").unwrap();
    paths.push(format!("/console/users/{}", own.split('"').next().unwrap()));
    for path in &paths {
        harmless(path, &visitor.page(path).await);
    }
    harmless("recall", &visitor.post("/console/recall", &[("message", &evil)]).await.text());
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

/// Beginnings that leave an attribute, an element or a comment of a page.
const EXITS: [&str; 10] =
    ["", "\">", "'>", "</textarea>", "</title>", "</option></select>", "-->", "]]>", "</script>", "{{ 7 * 7 }}"];

/// Markup that runs or loads something.
const ACTS: [&str; 12] = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//203.0.113.9/x></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<form action=//203.0.113.9><input autofocus onfocus=alert(1)>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<meta http-equiv=refresh content='0;url=//203.0.113.9'>",
    "<base href=//203.0.113.9>",
    "<style>@import '//203.0.113.9/x'</style>",
    "\" onmouseover=alert(1) x=\"",
];

#[tokio::test]
async fn each_of_120_hostile_texts_is_shown_as_text_in_every_field() {
    let world = World::with(json!({"starter_skills": false})).await;
    let visitor = Visitor::of(&world.alice).await;
    let texts: Vec<String> = EXITS.iter().flat_map(|exit| ACTS.map(|act| format!("{exit}{act}"))).collect();
    assert_eq!(texts.len(), 120);
    for (number, text) in texts.iter().enumerate() {
        let memory = json!({"content": format!("{number} {text}")});
        world.alice.post("/v1/memories", memory).await.ok(201);
        if number % 4 == 0 {
            let skill = json!({"name": format!("s-{number}"), "description": format!("Does it. {text}"),
                "content": format!("# It\n\n{text}\n")});
            world.alice.create(skill).await;
        }
    }
    for first in ["/console/memories", "/console/skills"] {
        let (mut path, mut pages) = (first.to_owned(), 0);
        loop {
            let page = visitor.page(&path).await;
            harmless(&path, &page);
            pages += 1;
            let link = format!("class=\"button\" href=\"{first}?");
            let Some((_, next)) = page.split_once(&link) else { break };
            path = format!("{first}?{}", next.split('"').next().unwrap().replace("&amp;", "&"));
        }
        assert!(first != "/console/memories" || pages >= 2, "{pages} pages");
    }
    for number in (0..texts.len()).step_by(4) {
        for tab in ["", "/knowledge", "/fields", "/versions"] {
            let path = format!("/console/skills/s-{number}{tab}");
            harmless(&path, &visitor.page(&path).await);
        }
    }
    for text in &texts {
        let typed = visitor.get(&format!("/console/skills?{}", super::visitor::encode(&[("q", text)]))).await;
        harmless("a search", &typed.text());
        let sent = visitor.post("/console/soul", &[("text", text), ("version", "7")]).await;
        harmless("a soul that was typed", &sent.text());
    }
}
