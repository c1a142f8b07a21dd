//! Every route of the console, as a person without a session, as another user, in another tenant, as the owner and as
//! an admin. A route without a step fails.

use knowhow_console::{Access, PATH, ROUTES, Route};
use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::answers::Answer;
use crate::callers::{World, skill};
use crate::jobs::enqueue;
use crate::reviewing::saying;
use crate::talk::Talk;

/// A word that only Alice's data contains.
const SECRET: &str = "quetzalcoatl";

/// The fields of the skill as its page has them.
const ORIGINAL: &str = r#"{"description": "", "summary": "", "category": "", "tags": "", "triggers": "", "see_also": "",
    "role": "", "pinned": null}"#;

/// Ids of Alice's data.
pub struct Ids {
    memory: String,
    session: String,
    submission: String,
    job: i64,
    user: String,
    /// An API key of the tenant.
    key: String,
    dream: String,
}

/// Creates one item of each kind for Alice.
pub async fn prepare(world: &World) -> Ids {
    let alice = &world.alice;
    alice.create(saying("plan", SECRET)).await;
    alice.replace("plan", "First this", "First that").await.ok(200);
    let file = "/v1/skills/plan/resources/references/a.md";
    alice.send(reqwest::Method::PUT, file).body("text/markdown", SECRET).await.ok(200);
    let memory = alice.post("/v1/memories", json!({"content": format!("Likes {SECRET}")})).await.ok(201);
    alice.put("/v1/soul", json!({"text": format!("Speak of {SECRET}.")})).await.ok(200);
    let talk = Talk::long(alice).await;
    talk.say(&format!("use plan for {SECRET}")).await;
    let tainted = Talk::tainted(alice).await;
    let held = alice.post("/v1/skills", saying("held", SECRET)).header("Knowhow-Session", &tainted.id).await.ok(202);
    Ids {
        memory: text(&memory["id"]),
        session: talk.id,
        submission: text(&held["id"]),
        job: enqueue(world, "alice").await,
        dream: text(&alice.post("/v1/dreams", json!({"passes": ["consolidate"]})).await.ok(202)["items"][0]["id"]),
        user: text(&world.admin.get("/v1/admin/users/alice").await.ok(200)["id"]),
        key: text(
            &world.admin.post("/v1/admin/keys", json!({"name": "a", "scopes": ["skills:read"]})).await.ok(201)["id"],
        ),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub type Step<'a> = (String, Vec<(&'static str, &'a str)>);

/// Returns the request for a route, with Alice's names and ids. `None` for a route that the walk does not know.
pub fn step<'a>(route: &Route, ids: &'a Ids) -> Option<Step<'a>> {
    let edited = "---\nname: plan\ndescription: Stolen. Use it.\n---\nStolen.\n";
    let fields: Vec<(&str, &str)> = match (route.method, route.path) {
        ("GET", "" | "/login" | "/skills" | "/memories" | "/soul" | "/conversations" | "/sessions") => vec![],
        ("GET", "/snapshot" | "/review" | "/users" | "/keys" | "/audit" | "/jobs" | "/static/{file}") => vec![],
        ("GET", "/skills/{skill}" | "/skills/{skill}/resources" | "/skills/{skill}/versions") => vec![],
        ("GET", "/skills/{skill}/knowledge") => vec![],
        ("POST", "/skills/{skill}/relate" | "/skills/{skill}/unrelate") => {
            vec![("kind", "requires"), ("other", "held")]
        }
        ("GET", "/skills/{skill}/fields" | "/memories/{memory}" | "/sessions/{session}") => vec![],
        ("GET", "/sessions/{session}/turns/{turn}" | "/review/{submission}") => vec![],
        ("GET", "/skills/{skill}/file") => vec![("path", "references/a.md")],
        ("GET", "/skills/{skill}/diff") => vec![("from", "1"), ("to", "2")],
        ("POST", "/login") => vec![("token", "wrong")],
        ("POST", "/logout" | "/memories/{memory}/forget" | "/jobs/{job}/retry" | "/jobs/{job}/discard") => vec![],
        ("POST", "/skills/{skill}") => vec![("text", edited), ("version", "3")],
        ("POST", "/skills/{skill}/rollback") => vec![("version", "1"), ("current", "3")],
        ("POST", "/skills/{skill}/fields") => vec![
            ("description", "Stolen. Use it."),
            ("summary", ""),
            ("category", ""),
            ("tags", ""),
            ("triggers", ""),
            ("see_also", ""),
            ("role", ""),
            ("version", "3"),
            ("original", ORIGINAL),
        ],
        ("POST", "/memories/{memory}") => vec![("content", "Stolen"), ("tags", ""), ("version", "1")],
        ("POST", "/soul") => vec![("text", "Stolen"), ("version", "0")],
        ("POST", "/review/{submission}/approve" | "/review/{submission}/reject") => {
            vec![("comment", "stolen")]
        }
        ("POST", "/review/reason") => vec![("reason", "a stranger says so"), ("next", "/console/review")],
        ("GET", "/users/{user}" | "/dreams" | "/dreams/{dream}" | "/graph" | "/analytics" | "/recall") => vec![],
        ("POST", "/recall") => vec![("message", "use plan")],
        ("POST", "/dreams") => vec![("pass", "gaps"), ("dry_run", "on")],
        ("POST", "/dreams/{dream}/apply" | "/dreams/{dream}/reject" | "/dreams/{dream}/undo") => vec![],
        ("POST", "/users/{user}/view" | "/users/{user}/suspend" | "/users/{user}/hold") => {
            vec![("reason", "a stranger says so")]
        }
        ("POST", "/users/{user}/resume" | "/users/{user}/release" | "/users/{user}/export") => vec![],
        ("POST", "/users/{user}/end-session") => vec![("session", &ids.session)],
        ("POST", "/users/{user}/erase") => {
            vec![("name", "alice"), ("reason", "a stranger says so"), ("user_id", &ids.user)]
        }
        ("GET", "/webhook" | "/archive") => vec![],
        ("POST", "/webhook") => vec![("url", "https://stolen.example/hook")],
        ("POST", "/webhook/test" | "/webhook/remove") => vec![],
        ("POST", "/archive/{entry}/restore") => vec![("reason", "a stranger says so")],
        ("POST", "/keys") => vec![("name", "stolen"), ("skills:read", "on"), ("newest", &ids.key)],
        ("POST", "/keys/{key}/rotate") => vec![("overlap_hours", "0"), ("newest", &ids.key)],
        ("POST", "/keys/{key}/revoke") => vec![],
        _ => return None,
    };
    let path = route.path.replace("{skill}", "plan").replace("{memory}", &ids.memory);
    let path = path.replace("{session}", &ids.session).replace("{turn}", "1").replace("{file}", "console.css");
    let path = path.replace("{submission}", &ids.submission).replace("{job}", &ids.job.to_string());
    let path = path
        .replace("{user}", "alice")
        .replace("{key}", &ids.key)
        .replace("{dream}", &ids.dream)
        .replace("{entry}", &ids.dream);
    Some((format!("{PATH}{path}"), fields))
}

pub async fn send(visitor: &Visitor, route: &Route, (path, fields): &Step<'_>) -> Answer {
    match route.method {
        "GET" => visitor.get(&format!("{path}?{}", super::visitor::encode(fields))).await,
        _ => visitor.post(path, fields).await,
    }
}

/// Returns the state that no foreign request may change.
async fn state(world: &World, ids: &Ids) -> Value {
    let get = async |path: &str| world.alice.get(path).await.ok(200);
    let user = world.admin.get("/v1/admin/users/alice").await.ok(200);
    json!([
        world.alice.peek("plan").await["version"],
        get(&format!("/v1/memories/{}", ids.memory)).await["version"],
        get("/v1/soul").await["version"],
        get(&format!("/v1/submissions/{}", ids.submission)).await["state"],
        user["suspended_at"],
        user["hold_reason"],
        world.admin.get("/v1/admin/keys").await.ok(200)["items"].as_array().map(Vec::len),
        world.admin.get("/v1/admin/jobs").await.ok(200)["items"][0]["id"],
    ])
}

#[tokio::test]
async fn no_route_shows_or_changes_what_belongs_to_others() {
    let world = World::new().await;
    let ids = prepare(&world).await;
    let before = state(&world, &ids).await;
    let other = world.other_tenant().await;
    let strangers = [Visitor::of(&world.bob).await, Visitor::of(&other).await];
    for route in ROUTES {
        let step = step(route, &ids).unwrap_or_else(|| panic!("the walk lacks {} {}", route.method, route.path));
        if (route.method, route.path) == ("POST", "/logout") {
            continue;
        }
        let (path, fields) = &step;
        let without = match route.method {
            "GET" => world.anonymous.get(path).await,
            _ => {
                let sent = world.anonymous.send(reqwest::Method::POST, path).header("Sec-Fetch-Site", "same-origin");
                sent.body("application/x-www-form-urlencoded", super::visitor::encode(fields)).await
            }
        };
        match (route.access, route.method) {
            (Access::Public, "GET") => assert_eq!(without.status, 200, "{without}"),
            (Access::Public, _) => assert_eq!(without.status, 401, "{without}"),
            (_, "GET") => assert!(without.status == 303 && without.header("location").starts_with("/console/login")),
            _ => assert_eq!(without.status, 401, "{without}"),
        }
        assert!(!without.text().contains(SECRET), "{without}");
        for stranger in &strangers {
            let answer = send(stranger, route, &step).await;
            assert!(!answer.text().contains(SECRET), "{answer}");
            match route.access {
                Access::Admin => assert_eq!(answer.status, 403, "{answer}"),
                Access::User if route.path.contains('{') => assert_eq!(answer.status, 404, "{answer}"),
                _ => {}
            }
        }
    }
    assert_eq!(state(&world, &ids).await, before, "a foreign request had an effect");
}

#[tokio::test]
async fn each_page_opens_for_its_owner_and_admin_pages_for_admins_alone() {
    let world = World::new().await;
    let ids = prepare(&world).await;
    let (alice, admin) = (Visitor::of(&world.alice).await, Visitor::of(&world.admin).await);
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        let step = step(route, &ids).unwrap();
        let own = send(&alice, route, &step).await;
        let of_admin = send(&admin, route, &step).await;
        match route.access {
            Access::Admin => {
                assert_eq!(own.status, 403, "{own}");
                assert_eq!(of_admin.status, 200, "{of_admin}");
            }
            _ => assert_eq!(own.status, 200, "{own}"),
        }
    }
    for (who, links) in [(&alice, 12), (&admin, 18)] {
        let page = who.page("/console").await;
        let nav = page.split("</nav>").next().unwrap().split("<nav").nth(1).unwrap();
        let paths: Vec<_> = nav.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert_eq!(paths.len(), links, "{paths:?}");
        for path in paths {
            who.page(path).await;
        }
    }
}

#[tokio::test]
async fn a_caller_with_few_scopes_is_told_what_is_missing() {
    let world = World::new().await;
    world.alice.create(skill("plan")).await;
    let reader = Visitor::of(&world.read_only).await;
    let page = reader.page("/console").await;
    assert!(!page.contains("/console/memories") && page.contains("/console/skills"), "{page}");
    let text = reader.page("/console/skills/plan").await;
    assert!(text.contains("First this") && !text.contains("<textarea"), "{text}");
    let refused = reader.get("/console/memories").await;
    assert_eq!(refused.status, 403, "{refused}");
    assert!(refused.text().contains("memories"), "{refused}");
}
