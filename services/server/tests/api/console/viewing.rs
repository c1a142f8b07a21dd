//! An admin views the pages of one user, for a reason and for half an hour, and changes nothing.

use knowhow_console::{Access, ROUTES};
use knowhow_testing::until;
use serde_json::json;

use super::visitor::Visitor;
use super::walk;
use crate::callers::World;
use crate::reviewing::saying;
use crate::service::owner_url;
use crate::sql;
use crate::talk::Talk;

const WHY: &str = "ticket 4711: the agent forgets";

async fn view(admin: &Visitor, user: &str) {
    let begun = admin.post(&format!("/console/users/{user}/view"), &[("reason", WHY)]).await;
    assert_eq!((begun.status, begun.header("location")), (303, "/console?done=viewing"), "{begun}");
}

#[tokio::test]
async fn an_admin_sees_what_the_user_sees() {
    let world = World::new().await;
    let alice = &world.alice;
    alice.create(saying("plan", "the quetzalcoatl way")).await;
    let memory = alice.post("/v1/memories", json!({"content": "Likes <b>tea</b>"})).await.ok(201);
    let talk = Talk::long(alice).await;
    talk.say("use plan").await;
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;

    let text = admin.page("/console/skills/plan").await;
    assert!(text.contains("the quetzalcoatl way") && text.contains("You view <b>alice</b>"), "{text}");
    assert!(!text.contains("Save a new version"), "nothing can be changed: {text}");
    assert!(text.contains("Knowhow-Reason: ticket 4711") && text.contains("Knowhow-User: alice"), "{text}");
    assert!(admin.page(&format!("/console/sessions/{}", talk.id)).await.contains("use plan"));
    let shown = admin.page(&format!("/console/memories/{}", memory["id"].as_str().unwrap())).await;
    assert!(shown.contains("Likes &#60;b&#62;tea") && !shown.contains("Forget this memory"), "{shown}");
    for path in ["/console", "/console/memories", "/console/soul", "/console/conversations", "/console/snapshot"] {
        assert!(admin.page(path).await.contains("You view <b>alice</b>"), "{path}");
    }
    assert!(admin.page("/console/users").await.contains("You view <b>alice</b>"), "the view ends from any page");

    let log = world.admin.get("/v1/admin/audit?action=content.read").await.ok(200);
    let entries = log["items"].as_array().unwrap();
    assert_eq!(
        (entries.len(), &entries[0]["detail"]["reason"]),
        (1, &json!(WHY)),
        "one entry for the whole view: {log}"
    );

    let stopped = admin.post("/console/review/reason", &[("reason", ""), ("next", "/console/users/alice")]).await;
    assert_eq!(stopped.header("location"), "/console/users/alice?done=reason-removed", "{stopped}");
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
}

/// Forms that act on the visitor's own session, or decide as a reviewer.
const ALLOWED: [&str; 7] = [
    "/logout",
    "/recall",
    "/dreams/{dream}/apply",
    "/dreams/{dream}/reject",
    "/review/{submission}/approve",
    "/review/{submission}/reject",
    "/login",
];

/// Returns a digest of the user's rows of all tables but the audit log, which records the view.
fn rows_of(world: &World, user: &str) -> Vec<String> {
    let owner = format!(
        "(select user_id from users where external_id = '{user}' and tenant_id = (select tenant_id from tenants where slug = '{}'))",
        world.slug
    );
    let tables =
        "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'user_id'
                  and table_name in (select tablename from pg_tables where schemaname = 'public')
                  and table_name not in ('audit_log', 'console_sessions') order by 1";
    let digest = |table: &String| {
        let rows = format!(
            "select coalesce(md5(string_agg(t::text, ',' order by t::text)), '') from {table} t where user_id = {owner}"
        );
        format!("{table} {}", sql::column_at(&owner_url(), &rows).concat())
    };
    sql::column_at(&owner_url(), tables).iter().map(digest).collect()
}

#[tokio::test]
async fn a_view_reads_every_page_and_changes_nothing() {
    let world = World::new().await;
    let ids = walk::prepare(&world).await;
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;
    // The jobs of what was prepared.
    until("Alice's rows to stay the same", || {
        let before = rows_of(&world, "alice");
        std::thread::sleep(std::time::Duration::from_millis(500));
        rows_of(&world, "alice") == before
    })
    .await;
    let before = rows_of(&world, "alice");
    assert!(before.len() > 20, "{before:?}");
    for route in ROUTES.iter().filter(|route| route.access == Access::User) {
        let step = walk::step(route, &ids).unwrap();
        let is_decision = ALLOWED.contains(&route.path);
        if route.method == "POST" && is_decision {
            continue;
        }
        let answer = walk::send(&admin, route, &step).await;
        if route.method == "GET" {
            assert_eq!(answer.status, 200, "{answer}");
        } else {
            assert_eq!(answer.status, 403, "{answer}");
            assert!(answer.text().contains("You view the data of another user"), "{answer}");
        }
    }
    assert_eq!(rows_of(&world, "alice"), before, "a view changed rows of the user");
    let typed = admin.post("/console/soul", &[("text", "a long text"), ("version", "0")]).await;
    assert!(typed.status == 403 && typed.text().contains("a long text"), "the typed text is shown again: {typed}");
}

#[tokio::test]
async fn a_view_ends_after_half_an_hour_and_with_the_user() {
    let world = World::new().await;
    world.alice.create(saying("plan", "the way")).await;
    let admin = Visitor::of(&world.admin).await;
    let short = admin.post("/console/users/alice/view", &[("reason", "short")]).await;
    assert!(short.status == 400 && short.text().contains(r#"value="short""#), "{short}");
    view(&admin, "alice").await;
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    let over = format!(
        "update console_sessions set reason_ends_at = now() - interval '1 second' where tenant_id = {tenant} and viewed_user is not null"
    );
    assert_eq!(sql::execute(&over), 1);
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
    view(&admin, "alice").await;
    admin.page("/console/skills/plan").await;
    world.admin.delete("/v1/admin/users/alice?reason=asked%20for%20it").await.ok(202);
    assert_eq!(admin.get("/console/skills/plan").await.status, 404);
    let review = admin.page("/console/review").await;
    assert!(review.contains("Give a reason"), "the reason ended with the user: {review}");
    let bob = Visitor::of(&world.bob).await;
    assert_eq!(bob.post("/console/users/alice/view", &[("reason", WHY)]).await.status, 403);
}

#[tokio::test]
async fn decisions_during_a_view_are_the_admins_own() {
    let world = World::new().await;
    let talk = Talk::tainted(&world.alice).await;
    let held = world.alice.post("/v1/skills", saying("bill", "the bill")).header("Knowhow-Session", &talk.id).await;
    let held = held.ok(202);
    let path = format!("/console/review/{}", held["id"].as_str().unwrap());
    let admin = Visitor::of(&world.admin).await;
    view(&admin, "alice").await;
    assert!(admin.page(&path).await.contains("the bill"), "the reason counts for the review, too");
    let talk = Talk::tainted(&world.bob).await;
    let others =
        world.bob.post("/v1/skills", saying("pay", "the debt")).header("Knowhow-Session", &talk.id).await.ok(202);
    let others = format!("/console/review/{}", others["id"].as_str().unwrap());
    assert!(!admin.page("/console/review").await.contains(&others), "the reason is for one user");
    assert!(admin.page(&others).await.contains("Why do you read them?"));
    let refused = admin.post(&format!("{others}/approve"), &[("comment", "fine")]).await;
    assert!(refused.status == 400 && refused.text().contains("Why do you read them?"), "{refused}");
    let approved = admin.post(&format!("{path}/approve"), &[("comment", "fine")]).await;
    assert_eq!(approved.header("location"), "/console/review?done=approved", "{approved}");
    let log = world.admin.get("/v1/admin/audit?action=submission.read").await.ok(200);
    assert_eq!(log["items"][0]["detail"]["reason"], WHY, "{log}");
    assert_eq!(world.alice.peek("bill").await["version"], 1);
}
