//! Suspending tenants and users.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};
use crate::service::{Service, keeper, poll_async};
use crate::sql;

const WHY: &str = "the invoice of May is open";

/// Enqueues a job for a user that every worker can run, ahead of jobs that other tests have left.
fn enqueue(world: &World, user: &str) {
    let made = sql::execute(&format!(
        "select app.enqueue_for(t.tenant_id, u.user_id, 'rescan_skills', '{{}}', '')
         from tenants t join users u on u.tenant_id = t.tenant_id
         where t.slug = '{}' and u.external_id = '{user}'",
        world.slug
    ));
    assert_eq!(made, 1);
    sql::execute(&format!(
        "update graphile_worker._private_jobs j set priority = -1
         from tenants t where t.slug = '{}' and j.payload ->> 'tenant_id' = t.tenant_id::text",
        world.slug
    ));
}

/// Returns the tenant's jobs of that task.
async fn jobs_of(world: &World) -> Vec<Value> {
    let page = world.operator.get(&format!("/v1/admin/jobs?tenant={}", world.slug)).await.ok(200);
    let items = page["items"].as_array().unwrap().clone();
    items.into_iter().filter(|job| job["task"] == "rescan_skills").collect()
}

async fn until_refused(caller: &Caller, code: &str) {
    let problem = poll_async("the caller to be refused", async || {
        let answer = caller.get("/v1/skills").await;
        (answer.status != 200).then(|| answer.refused(403, code))
    });
    assert!(problem.await["detail"].as_str().unwrap().ends_with(WHY));
}

async fn until_let_in(caller: &Caller) {
    poll_async("the caller to be let in", async || (caller.get("/v1/skills").await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn a_suspended_user_is_refused_everywhere_and_others_are_not() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, .. } = &world;
    let backend = world.backend().await;
    for caller in [alice, bob, &elsewhere.alice] {
        caller.create_all(&["plan"]).await;
        // Another process has cached these users as well.
        assert_eq!(caller.at(keeper()).names().await, ["plan"]);
    }
    let path = "/v1/admin/users/alice/suspension";
    let suspended = admin.put(path, json!({"reason": WHY})).await.ok(200);
    assert!(suspended["suspended_at"].is_string() && suspended["suspended_reason"] == WHY, "{suspended}");
    assert_eq!(admin.put(path, json!({"reason": WHY})).await.ok(200), suspended);
    let seen = admin.get("/v1/admin/users/alice").await.ok(200);
    assert_eq!((&seen["suspended_at"], &seen["suspended_reason"]), (&suspended["suspended_at"], &json!(WHY)));

    let far = alice.at(keeper());
    for caller in [alice, &far, &backend.acting_for("alice"), &backend.acting_for("alice").at(keeper())] {
        until_refused(caller, "user-suspended").await;
        // The refusal is final: no process replaces it by an older cached state.
        caller.get("/v1/skills").await.refused(403, "user-suspended");
    }
    assert!(alice.tool("skill_list", json!({})).await.status == 403);
    alice.post("/v1/skills", crate::callers::skill("more")).await.refused(403, "user-suspended");
    for caller in [bob, &bob.at(keeper()), &elsewhere.alice, &backend.acting_for("bob")] {
        assert_eq!(caller.names().await, ["plan"]);
    }

    let _worker = Service::work(&[]);
    enqueue(&world, "alice");
    enqueue(&world, "bob");
    let waits = async || {
        let jobs = jobs_of(&world).await;
        let is_put_back = |job: &Value| job["last_error"] == format!("the user is suspended: {WHY}");
        (pluck(&json!(jobs), "user") == ["alice"] && is_put_back(&jobs[0])).then(|| jobs[0].clone())
    };
    let job = poll_async("her job to be put back, and his to be done", waits).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("waiting"), &json!(0)), "{job}");

    let resumed = admin.delete(path).await.ok(200);
    assert!(resumed.get("suspended_at").is_none() && resumed.get("suspended_reason").is_none(), "{resumed}");
    for caller in [alice, &far, &backend.acting_for("alice")] {
        until_let_in(caller).await;
        assert_eq!(caller.names().await, ["plan"]);
    }
    poll_async("her job to be done", async || jobs_of(&world).await.is_empty().then_some(())).await;
    let log = admin.get("/v1/admin/audit?user=alice").await.ok(200);
    let actions = pluck(&log["items"], "action");
    let of_it: Vec<_> =
        actions.iter().filter(|action| action.contains(".suspend") || action.contains(".resume")).collect();
    assert_eq!(of_it, ["user.resume", "user.suspend"]);
}

#[tokio::test]
async fn a_suspended_tenant_is_refused_and_operators_still_work_in_it() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, admin, operator, slug, .. } = &world;
    let backend = world.backend().await;
    for caller in [alice, &elsewhere.alice] {
        caller.create_all(&["plan"]).await;
    }
    until_let_in(&admin.at(keeper())).await;
    let path = format!("/v1/admin/tenants/{slug}/suspension");
    let suspended = operator.put(&path, json!({"reason": WHY})).await.ok(200);
    assert!(suspended["suspended_at"].is_string() && suspended["suspended_reason"] == WHY, "{suspended}");
    for caller in [alice, admin, &backend.acting_for("alice")] {
        for place in [caller.clone(), caller.at(keeper())] {
            until_refused(&place, "tenant-suspended").await;
        }
    }
    admin.delete(&format!("/v1/admin/users/alice/suspension?tenant={slug}")).await.refused(403, "tenant-suspended");
    // A caller without a valid credential does not learn of the suspension.
    alice.with_token("none").get("/v1/skills").await.refused(401, "unauthenticated");
    world.expired().get("/v1/skills").await.refused(401, "unauthenticated");
    assert_eq!(elsewhere.alice.names().await, ["plan"]);
    let users = operator.get(&format!("/v1/admin/users?tenant={slug}")).await.ok(200);
    assert!(pluck(&users["items"], "external_id").contains(&"alice".to_owned()));
    assert_eq!(operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200)["suspended_reason"], WHY);

    let _worker = Service::work(&[]);
    enqueue(&world, "alice");
    let waits = async || {
        let jobs = jobs_of(&world).await;
        jobs.iter().any(|job| job["last_error"] == format!("the tenant is suspended: {WHY}")).then_some(())
    };
    poll_async("the job to be put back", waits).await;
    operator.delete(&path).await.ok(200);
    for caller in [alice, admin, &backend.acting_for("alice")] {
        until_let_in(caller).await;
    }
    poll_async("the job to be done", async || jobs_of(&world).await.is_empty().then_some(())).await;
}

#[tokio::test]
async fn suspensions_are_validated_and_separate_by_tenant() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, operator, slug, .. } = &world;
    alice.create_all(&["plan"]).await;
    let (user, tenant) = ("/v1/admin/users/alice/suspension", format!("/v1/admin/tenants/{slug}/suspension"));
    for bad in [json!({"reason": "short"}), json!({"reason": "r".repeat(201)}), json!({})] {
        assert!((400..=422).contains(&admin.put(user, bad.clone()).await.status));
        assert!((400..=422).contains(&operator.put(&tenant, bad).await.status));
    }
    bob.put(user, json!({"reason": WHY})).await.refused(403, "forbidden");
    let own = admin.put("/v1/admin/users/anna-admin/suspension", json!({"reason": WHY})).await;
    assert_eq!(own.refused(403, "forbidden")["detail"], "you cannot suspend yourself; another admin can");
    let key = admin.post("/v1/admin/keys", json!({"name": "desk", "scopes": ["admin"]})).await.ok(201);
    let desk = admin.with_token(key["secret"].as_str().unwrap());
    let of_tenant = format!("{user}?tenant={slug}");
    for (suspends, resumes) in [(&desk.acting_for("alice"), &desk), (operator, operator)] {
        suspends.put(&of_tenant, json!({"reason": WHY})).await.ok(200);
        resumes.delete(&of_tenant).await.ok(200);
    }
    until_let_in(alice).await;
    elsewhere.admin.put(user, json!({"reason": WHY})).await.refused(404, "not-found");
    elsewhere.admin.delete(user).await.refused(404, "not-found");
    for caller in [admin, &elsewhere.admin] {
        caller.put(&tenant, json!({"reason": WHY})).await.refused(403, "forbidden");
        caller.delete(&tenant).await.refused(403, "forbidden");
    }
    operator.put("/v1/admin/tenants/nobody-here/suspension", json!({"reason": WHY})).await.refused(404, "not-found");
    assert_eq!(alice.names().await, ["plan"]);

    let token = admin.token.clone().unwrap();
    let url = crate::service::shared().url.clone();
    let run = |arguments: &[&str]| {
        let mut command = crate::service::knowhow(&["admin"]);
        let output = command.args(["--url", &url, "--token", &token]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&["suspend-user", "alice", "--reason", WHY]).contains(WHY));
    until_refused(alice, "user-suspended").await;
    let resumed: Value = serde_json::from_str(&run(&["resume-user", "alice", "--json"])).unwrap();
    assert_eq!(resumed["external_id"], "alice");
    until_let_in(alice).await;
}
