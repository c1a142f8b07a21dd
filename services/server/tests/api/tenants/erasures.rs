//! Erasing users.

use serde_json::json;

use crate::callers::World;
use crate::http::stranger_walk::furnish;
use crate::service::{Service, keeper, poll_async, printed};
use crate::{answers::pluck, sql};

const WHY: &str = "reason=asked%20for%20by%20the%20user";

/// Returns all rows of all tables of a tenant, as text.
fn dump(slug: &str) -> String {
    let tables =
        "select c.relname from pg_class c join pg_attribute t on t.attrelid = c.oid and t.attname = 'tenant_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition";
    let url = crate::service::owner_url();
    let tenant = format!("(select tenant_id from tenants where slug = '{slug}')");
    let rows = sql::column_at(&url, tables).into_iter().flat_map(|table| {
        sql::column_at(
            &url,
            &format!("select '{table} ' || to_jsonb(t)::text from {table} t where t.tenant_id = {tenant}"),
        )
    });
    let jobs = sql::column_at(
        &url,
        &format!(
            "select payload::text from graphile_worker._private_jobs where payload ->> 'tenant_id' = {tenant}::text"
        ),
    );
    rows.chain(jobs).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn an_erased_user_is_gone_at_once_and_the_rows_soon() {
    let world = World::new().await;
    let World { alice, bob, admin, slug, .. } = &world;
    let (_, skill) = furnish(&world).await;
    bob.create_all(&["other"]).await;
    // Another process has cached the user as well.
    let far = alice.at(keeper());
    assert_eq!(far.names().await, ["mcp/plan"]);
    let user = admin.get("/v1/admin/users/alice").await.ok(200)["id"].clone();
    let erasure = admin.delete(&format!("/v1/admin/users/alice?{WHY}")).await.ok(202);
    assert_eq!((&erasure["user_id"], &erasure["tenant"]), (&user, &json!(slug)));
    assert_eq!(
        (&erasure["reason"], &erasure["requested_by"]),
        (&json!("asked for by the user"), &json!("user:anna-admin"))
    );

    // No worker has begun, but no admin sees data of the user any more.
    admin.get("/v1/admin/users/alice").await.refused(404, "not-found");
    let users = admin.get("/v1/admin/users").await.ok(200);
    assert!(
        !pluck(&users["items"], "external_id").contains(&"alice".to_owned()) && !users.to_string().contains("\\u0001")
    );
    for list in ["archive", "audit?user=alice"] {
        assert_eq!(admin.get(&format!("/v1/admin/{list}")).await.ok(200)["items"], json!([]), "{list}");
    }
    let log = admin.get("/v1/admin/audit?limit=200").await;
    for word in ["alice", "mcp/plan", "attic"] {
        assert!(!log.text().contains(word), "{word}: {log}");
    }
    assert!(log.text().contains(user.as_str().unwrap()));

    // After a second a caller with the same name is a new user, also in the process that had cached the old one.
    for caller in [alice, &far] {
        poll_async("the user to begin anew", async || caller.names().await.is_empty().then_some(())).await;
        alice.get(&format!("/v1/skills/{skill}")).await.refused(404, "not-found");
        assert_eq!(caller.get("/v1/memories").await.ok(200)["items"], json!([]));
    }
    let anew = admin.get("/v1/admin/users/alice").await.ok(200);
    assert_ne!(anew["id"], user);
    alice.create_all(&["anew"]).await;

    let worker = Service::work(&[]);
    let finished = poll_async("the erasure to end", async || {
        let page = admin.get("/v1/admin/erasures").await.ok(200);
        let item = page["items"][0].clone();
        item["finished_at"].is_string().then_some(item)
    });
    let finished = finished.await;
    assert!(finished["id"] == erasure["id"] && finished["removed"].as_i64().unwrap() > 20, "{finished}");
    // The job that deleted the rows is the last job of the user.
    let job = format!(
        "select id from graphile_worker._private_jobs where payload ->> 'user_id' = '{}'",
        user.as_str().unwrap()
    );
    poll_async("her last job to end", async || {
        sql::column_at(&crate::service::owner_url(), &job).is_empty().then_some(())
    })
    .await;
    drop(worker);
    let left = dump(slug);
    let of_her: Vec<&str> = left.lines().filter(|line| line.contains(user.as_str().unwrap())).collect();
    let may_name = |line: &&str| line.starts_with("audit_log ") || line.starts_with("erasures ");
    assert!(of_her.iter().all(may_name), "{of_her:#?}");
    for word in ["mcp/plan", "night trains", "attic", "Call me Al", "cellar"] {
        assert!(!left.contains(word), "{word}: {left}");
    }
    assert_eq!(alice.names().await, ["anew"]);
    assert_eq!(bob.names().await, ["other"]);
}

#[tokio::test]
async fn erasures_are_refused_while_held_idempotent_and_separate_by_tenant() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, .. } = &world;
    furnish(&world).await;
    let path = format!("/v1/admin/users/alice?{WHY}");
    for bad in ["", "?reason=short", "?reason=%20%20%20%20%20%20%20%20%20%20", &format!("?reason={}", "r".repeat(201))]
    {
        admin.delete(&format!("/v1/admin/users/alice{bad}")).await.refused(400, "malformed");
    }
    bob.delete(&path).await.refused(403, "forbidden");
    let before = alice.names().await;
    let [foreign, missing] = [
        elsewhere.admin.delete(&path).await.refused(404, "not-found"),
        admin.delete(&format!("/v1/admin/users/nobody?{WHY}")).await.refused(404, "not-found"),
    ];
    assert_eq!(foreign["detail"], missing["detail"]);
    let hold = "/v1/admin/users/alice/hold";
    elsewhere.admin.put(hold, json!({"reason": "of somebody else"})).await.refused(404, "not-found");
    assert_eq!(alice.names().await, before);

    admin.put(hold, json!({"reason": "short"})).await.refused(400, "malformed");
    let held = admin.put(hold, json!({"reason": "litigation 2026-17"})).await.ok(200);
    assert!(held["held_at"].is_string() && held["hold_reason"] == "litigation 2026-17", "{held}");
    assert_eq!(admin.put(hold, json!({"reason": "litigation 2026-17"})).await.ok(200), held);
    admin.delete(&path).await.refused(409, "user-held");
    assert_eq!(alice.names().await, ["mcp/plan"]);
    let released = admin.delete(hold).await.ok(200);
    assert!(released.get("held_at").is_none() && released.get("hold_reason").is_none(), "{released}");
    let log = admin.get("/v1/admin/audit?user=alice").await.ok(200);
    let actions = pluck(&log["items"], "action");
    assert_eq!(actions[..2], ["user.release", "user.hold"]);
    assert_eq!(log["items"][1]["target"], "alice");

    // Repeated and concurrent requests return the same erasure.
    let answers = futures_util::future::join_all((0..6).map(|_| async { admin.delete(&path).await.ok(202) })).await;
    assert!(answers.iter().all(|answer| answer["id"] == answers[0]["id"]), "{answers:?}");
    assert_eq!(admin.delete(&path).await.ok(202)["id"], answers[0]["id"]);
    assert_eq!(admin.get("/v1/admin/erasures").await.ok(200)["items"].as_array().unwrap().len(), 1);
    assert_eq!(elsewhere.admin.get("/v1/admin/erasures").await.ok(200)["items"], json!([]));
    let printed = printed(&["erasures"]);
    let line = printed.lines().find(|line| line.contains(answers[0]["id"].as_str().unwrap())).unwrap();
    assert!(!line.contains("alice"), "{line}");

    // A new user has the name now. A request with the old `user_id` returns the old erasure and erases no user.
    poll_async("the user to begin anew", async || alice.names().await.is_empty().then_some(())).await;
    alice.create_all(&["anew"]).await;
    let old = answers[0]["user_id"].as_str().unwrap();
    assert_eq!(admin.delete(&format!("{path}&user_id={old}")).await.ok(202)["id"], answers[0]["id"]);
    let unknown = "00000000-0000-7000-8000-000000000000";
    admin.delete(&format!("{path}&user_id={unknown}")).await.refused(404, "not-found");
    assert_eq!(alice.names().await, ["anew"]);
    let new = admin.get("/v1/admin/users/alice").await.ok(200)["id"].clone();
    let erased = admin.delete(&format!("{path}&user_id={}", new.as_str().unwrap())).await.ok(202);
    assert_eq!(erased["user_id"], new);
}

#[tokio::test]
async fn an_admin_erases_a_user_on_the_command_line() {
    let world = World::new().await;
    let World { alice, admin, .. } = &world;
    alice.create_all(&["plan"]).await;
    let token = admin.token.clone().unwrap();
    let url = crate::service::shared().url.clone();
    let run = |arguments: &[&str]| {
        let mut command = crate::service::knowhow(&["admin"]);
        command.args(["--url", &url, "--token", &token]).args(arguments).output().unwrap()
    };
    let why = ["--reason", "asked for by the user"];
    let held = run(&[&["hold-user", "alice"], &why[..]].concat());
    assert!(held.status.success(), "{}", String::from_utf8_lossy(&held.stderr));
    let refused = run(&[&["erase-user", "alice"], &why[..]].concat());
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("held"));
    assert!(run(&["release-user", "alice"]).status.success());
    let _worker = Service::work(&[]);
    let erased = run(&[&["erase-user", "alice", "--wait", "--json"], &why[..]].concat());
    let answer: serde_json::Value = serde_json::from_slice(&erased.stdout).unwrap();
    assert!(erased.status.success() && answer["finished_at"].is_string(), "{answer}");
    let listed = run(&["erasures"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("rows were deleted by"));
}
