//! Users in the admin API: search, stored data and use, and sessions; also on the command line.

use serde_json::{Value, json};

use crate::admin_cli::{fails, json_of, printed};
use crate::answers::pluck;
use crate::callers::World;
use crate::service::poll_async;
use crate::talk::Talk;

#[tokio::test]
async fn users_are_found_by_a_prefix_of_their_names() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { admin, .. } = &world;
    let names = ["ali", "alice", "alice@acme.example", "alícia", "alz", "Alice", "a_i", "bob", "%li", "\u{10ffff}z"];
    for name in names {
        admin.post("/v1/admin/users", json!({"external_id": name})).await.ok(200);
    }
    elsewhere.admin.post("/v1/admin/users", json!({"external_id": "alien"})).await.ok(200);
    let find = async |query: &str| {
        pluck(&admin.get(&format!("/v1/admin/users?{query}")).await.ok(200)["items"], "external_id")
    };
    assert_eq!(find("prefix=ali").await, ["ali", "alice", "alice@acme.example"]);
    assert_eq!(find("prefix=al%C3%AD").await, ["alícia"]);
    assert_eq!(find("prefix=Ali").await, ["Alice"]);
    // Characters with a meaning in SQL patterns are matched literally.
    assert_eq!(find("prefix=%25").await, ["%li"]);
    assert_eq!(find("prefix=a_").await, ["a_i"]);
    assert_eq!(find("prefix=%F4%8F%BF%BF").await, ["\u{10ffff}z"]);
    assert_eq!(find("prefix=nobody").await, [""; 0]);
    let mut all: Vec<&str> = names.into_iter().chain(["anna-admin"]).collect();
    all.sort_unstable();
    assert_eq!(find("").await, all);
    let first = admin.get("/v1/admin/users?prefix=ali&limit=2").await.ok(200);
    let rest = format!("prefix=ali&limit=2&cursor={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(
        (pluck(&first["items"], "external_id"), find(&rest).await),
        (vec!["ali".into(), "alice".into()], vec!["alice@acme.example".to_owned()])
    );
    for bad in [&format!("prefix={}", "a".repeat(256)), "prefix=%00", "prefx=a"] {
        admin.get(&format!("/v1/admin/users?{bad}")).await.refused(400, "malformed");
    }
    assert_eq!(pluck(&json_of(admin, &["users", "al"]), "external_id").len(), 5);
    assert!(printed(admin, &["users", "nobody"]).contains("no such user"));
}

#[tokio::test]
async fn stored_data_and_use_of_users_and_tenants_are_counted() {
    let world = World::new().await;
    let World { alice, bob, admin, operator, slug, .. } = &world;
    alice.create_all(&["plan", "work"]).await;
    bob.create_all(&["his"]).await;
    alice.replace("plan", "First", "Last").await.ok(200);
    alice.get("/v1/skills/plan").await.ok(200);
    alice.post("/v1/skills/used", json!({"skill": "plan"})).await.ok(200);
    alice.post("/v1/memories", json!({"content": "Prefers trains"})).await.ok(201);
    let talk = Talk::long(alice).await;
    talk.say("what do we do about the trains today?").await;
    let user = admin.get("/v1/admin/users/alice").await.ok(200);
    let number = |of: &Value, member: &str| of[member].as_i64().unwrap_or_else(|| panic!("{member}: {of}"));
    let (stored, used) = (&user["stored"], &user["used"]);
    assert_eq!((&user["skill_count"], &user["external_id"]), (&json!(2), &json!("alice")));
    assert!(number(&user, "stored_bytes") > number(&user, "byte_count"));
    let kept =
        ["versions", "memories", "sessions", "open_sessions", "turns", "archived"].map(|name| number(stored, name));
    assert_eq!(kept, [3, 1, 1, 1, 1, 0], "{stored}");
    assert!(number(stored, "messages") >= 1 && number(stored, "audit_entries") > 4, "{stored}");
    let uses = ["sessions", "turns", "skill_views", "skill_uses", "dream_tokens"].map(|name| number(used, name));
    assert_eq!(uses, [1, 1, 1, 1, 0], "{used}");
    assert!(used["last_message_at"].is_string());
    let other = admin.get("/v1/admin/users/bob").await.ok(200);
    assert_eq!((number(&other["stored"], "versions"), number(&other["used"], "skill_views")), (1, 0));

    let tenant = operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200);
    let uses =
        ["active_users", "sessions", "turns", "skill_views", "skill_uses"].map(|name| number(&tenant["used"], name));
    assert_eq!(uses, [1, 1, 1, 1, 1], "{tenant}");
    assert_eq!(json_of(admin, &["user", "alice"])["stored"]["versions"], 3);
    assert_eq!(json_of(operator, &["tenant", slug])["used"]["active_users"], 1);
}

#[tokio::test]
async fn an_admin_lists_and_ends_sessions() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, .. } = &world;
    let (first, second) = (Talk::long(alice).await, Talk::long(alice).await);
    first.say("the secret of the attic").await;
    let his = Talk::long(bob).await;
    elsewhere.alice.names().await;
    let path = "/v1/admin/users/alice/sessions";
    let listed = admin.get(path).await;
    assert_eq!(pluck(&listed.ok(200)["items"], "id"), [second.id.clone(), first.id.clone()]);
    assert!(!listed.text().contains("attic"), "{listed}");
    let page = admin.get(&format!("{path}?limit=1")).await.ok(200);
    let rest = format!("{path}?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(pluck(&admin.get(&rest).await.ok(200)["items"], "id"), [&*first.id]);

    // Sessions of another user, from another tenant, and of an unknown user.
    admin.delete(&format!("{path}/{}", his.id)).await.refused(404, "not-found");
    elsewhere.admin.delete(&format!("{path}/{}", first.id)).await.refused(404, "not-found");
    assert_eq!(elsewhere.admin.get(path).await.ok(200)["items"], json!([]));
    admin.get("/v1/admin/users/nobody/sessions").await.refused(404, "not-found");
    alice.get(path).await.refused(403, "forbidden");
    assert!(first.read().await["ended_at"].is_null());

    for _ in 0..2 {
        admin.delete(&format!("{path}/{}", first.id)).await.empty(204);
    }
    assert!(first.read().await["ended_at"].is_string());
    assert_eq!(pluck(&admin.get(&format!("{path}?open=true")).await.ok(200)["items"], "id"), [&*second.id]);
    assert_eq!(pluck(&admin.get(&format!("{path}?open=false")).await.ok(200)["items"], "id"), [&*first.id]);
    assert!(his.read().await["ended_at"].is_null());
    let log = admin.get("/v1/admin/audit?action=session.end").await.ok(200)["items"].clone();
    assert_eq!((pluck(&log, "target"), pluck(&log, "actor")), (vec![first.id.clone()], vec!["user:anna-admin".into()]));
    let looked = admin.get("/v1/admin/audit?action=session.read").await.ok(200)["items"].clone();
    assert!(pluck(&looked, "target").iter().all(|target| target == "alice"), "{looked}");

    assert_eq!(pluck(&json_of(admin, &["sessions", "alice", "--open"]), "id"), [&*second.id]);
    assert!(printed(admin, &["end-session", "alice", &second.id]).contains("has ended"));
    assert!(printed(admin, &["sessions", "alice", "--open"]).contains("no session"));
}

#[tokio::test]
async fn the_command_line_offers_the_admin_endpoints() {
    let world = World::new().await;
    let World { alice, admin, operator, slug, .. } = &world;
    alice.create_all(&["plan"]).await;
    let job = super::jobs::enqueue(&world, "alice").await;
    let queues = json_of(admin, &["queues"]);
    let unknown = queues.as_array().unwrap().iter().find(|queue| queue["task"] == "test_unknown").unwrap();
    assert_eq!((&unknown["waiting"], &unknown["dead"]), (&json!(1), &json!(0)));
    assert!(pluck(&json_of(admin, &["jobs", "--state", "waiting"]), "id").contains(&job.to_string()));
    assert!(printed(operator, &["retry-job", &job.to_string(), "--tenant", slug]).contains("waits"));
    assert_eq!(json_of(admin, &["discard-job", &job.to_string()])["job"], job);
    assert_eq!(pluck(&json_of(admin, &["audit", "--actor", "alice", "--action", "skill.*"]), "target"), ["plan"]);
    let file = crate::service::scratch("audit.jsonl");
    let told = json_of(admin, &["audit", "--output", file.to_str().unwrap(), "--of", "alice"]);
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(told["entries"], lines.lines().count());
    assert!(lines.contains("skill.save"));
    assert!(printed(admin, &["audit", "-o", "-", "--target", "plan"]).lines().all(|line| line.contains("\"plan\"")));

    let set = ["set-tenant", slug, "skills_per_user=7", "time_zone=Europe/Berlin", "review="];
    let settings = json_of(operator, &set)["settings"].clone();
    assert_eq!((&settings["skills_per_user"], &settings["time_zone"]), (&json!(7), &json!("Europe/Berlin")));
    assert_eq!(settings["starter_skills"], false);
    fails(operator, &["set-tenant", slug, "skills_per_user=-1"], "skills_per_user");
    assert!(pluck(&json_of(operator, &["tenants"]), "slug").contains(slug));
    let list = async || json_of(operator, &["processes"]);
    let processes =
        poll_async("a process to be listed", async || Some(list().await).filter(|all| all != &json!([]))).await;
    assert_eq!(processes[0]["version"], env!("CARGO_PKG_VERSION"), "{processes}");
    assert!(printed(operator, &["processes"]).contains(" connections, since "));
    admin.get("/v1/admin/processes").await.refused(403, "forbidden");
    let models = json_of(operator, &["models", "--ask"]);
    assert!(models["embeddings"]["state"].is_string() && models["chat"]["state"].is_string(), "{models}");
    assert!(printed(operator, &["models"]).contains("embeddings: "));
}
