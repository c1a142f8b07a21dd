//! Settings of a tenant: a change is a merge patch, shorter retention needs a confirmation, and invalid stored
//! settings disable no tenant.

use std::future::IntoFuture;
use std::process::Output;

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::service::{Service, knowhow, owner_url, poll_async, shared};
use crate::sql;
use crate::talk::Talk;

/// Writes settings directly into the tenant's row, as a later release or a person might.
fn store(slug: &str, settings: &Value) {
    let statement = format!("update tenants set settings = '{settings}' where slug = '{slug}'");
    assert_eq!(sql::execute(&statement), 1);
}

fn stored(slug: &str) -> Value {
    let found = sql::column_at(&owner_url(), &format!("select settings from tenants where slug = '{slug}'"));
    serde_json::from_str(&found[0]).unwrap()
}

fn path(slug: &str) -> String {
    format!("/v1/admin/tenants/{slug}")
}

/// Returns the detail of the newest audit entry about a change of the tenant.
async fn last_change(operator: &Caller, slug: &str) -> Value {
    let page = operator.get(&format!("/v1/admin/audit?action=tenant.update&tenant={slug}")).await.ok(200);
    page["items"][0]["detail"].clone()
}

#[tokio::test]
async fn a_patch_changes_only_the_members_it_names() {
    let World { operator, slug, .. } = &World::new().await;
    let change = async |settings: Value| {
        let answer = operator.patch(&path(slug), json!({ "settings": settings })).await;
        answer.ok(200)["settings"].clone()
    };
    change(json!({"audit_days": 2000, "channels": {"chat": {"max_turns": 3, "min_score": 0.5}}, "dreams": {"gaps": "off"}})).await;
    let settings =
        change(json!({"users": 50, "channels": {"sms": {"max_turns": 7}}, "dreams": {"optimize": "apply"}})).await;
    assert_eq!((&settings["audit_days"], &settings["users"]), (&json!(2000), &json!(50)));
    assert_eq!(settings["dreams"], json!({"gaps": "off", "consolidate": null, "optimize": "apply"}));
    let channel = |name: &str, member: &str| settings["channels"][name][member].clone();
    assert_eq!((channel("chat", "max_turns"), channel("sms", "max_turns")), (json!(3), json!(7)));
    assert_eq!(channel("chat", "min_score"), 0.5);
    assert_eq!(settings["starter_skills"], false);
    let settings = change(json!({"users": null, "channels": {"chat": {"max_turns": null}, "sms": null}})).await;
    assert_eq!((&settings["users"], &settings["audit_days"]), (&json!(1_000_000), &json!(2000)));
    assert_eq!(settings["channels"]["chat"]["min_score"], 0.5);
    assert!(settings["channels"]["chat"]["max_turns"].is_null() && settings["channels"]["sms"].is_null(), "{settings}");
    assert_eq!(change(json!({})).await, settings);
    operator.patch(&path(slug), json!({"settings": null})).await.invalid("/settings", "object");
    let renamed = operator.patch(&path(slug), json!({"name": "Renamed"})).await.ok(200);
    assert_eq!((&renamed["name"], &renamed["settings"]), (&json!("Renamed"), &settings));
    for (wrong, pointer) in [
        (json!({"audit_dayz": null}), "audit_dayz"),
        (json!({"channels": {"fax": null}}), "channels/fax"),
        (json!({"channels": {"sms": {"turns": null}}}), "channels/sms/turns"),
        (json!({"min_score": 1e39}), "min_score"),
        (json!({"min_score": 1e308}), "min_score"),
        (json!({"skill_decay": -1e39}), "skill_decay"),
        (json!({"memory_decay": "NaN"}), "memory_decay"),
        (json!({"importance_floor": 1.000_001}), "importance_floor"),
        (json!({"channels": {"chat": {"min_score": 1e39}}}), "channels/chat/min_score"),
    ] {
        let wrong = json!({ "settings": wrong });
        operator.patch(&path(slug), wrong.clone()).await.invalid(&format!("/settings/{pointer}"), "");
        let new = json!({"slug": format!("n-{}", uuid::Uuid::now_v7().simple()), "settings": wrong["settings"]});
        operator.post("/v1/admin/tenants", new).await.invalid(&format!("/settings/{pointer}"), "");
    }
    operator
        .patch(&path(slug), json!({"settings": {"min_score": 1e39}}))
        .await
        .invalid("/settings/min_score", "0 to 1");
}

#[tokio::test]
async fn a_change_based_on_an_outdated_state_is_refused() {
    let World { operator, slug, .. } = &World::new().await;
    let read = operator.get(&path(slug)).await;
    let tag = read.header("etag").to_owned();
    let users = |n: u32| json!({"settings": {"users": n}});
    let changed = operator.patch(&path(slug), users(5)).header("If-Match", &tag).await;
    assert_eq!(changed.ok(200)["settings"]["users"], 5);
    let next = changed.header("etag").to_owned();
    assert_ne!(next, tag);
    for stale in [tag.clone(), format!("W/{next}"), "\"x\"".into()] {
        let refused = operator.patch(&path(slug), users(6)).header("If-Match", &stale).await;
        let problem = refused.refused(412, "precondition-failed");
        assert_eq!(problem["current"]["settings"]["users"], 5, "{problem}");
        assert_eq!(refused.header("etag"), next);
    }
    operator.patch(&path(slug), users(6)).header("If-Match", "users").await.refused(400, "malformed");
    let list = format!("{tag}, {next}");
    operator.patch(&path(slug), users(6)).header("If-Match", &list).await.ok(200);
    operator.patch(&path(slug), users(7)).header("If-Match", "*").await.ok(200);
    assert_eq!(operator.get(&path(slug)).await.ok(200)["settings"]["users"], 7);
    // Of several concurrent changes with the same `If-Match`, exactly one succeeds.
    let tag = operator.get(&path(slug)).await.header("etag").to_owned();
    let racing = (10..18).map(|n| operator.patch(&path(slug), users(n)).header("If-Match", &tag).into_future());
    let answers = futures_util::future::join_all(racing).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(200), count(412)), (1, 7));
    // Concurrent changes of different settings without `If-Match` all succeed.
    let members = ["index_budget", "users", "dream_tokens_per_day", "session_gap_minutes", "requests_per_second"];
    let racing = members.map(|name| operator.patch(&path(slug), json!({"settings": {name: 777}})).into_future());
    futures_util::future::join_all(racing).await.iter().for_each(|answer| drop(answer.ok(200)));
    let settings = operator.get(&path(slug)).await.ok(200)["settings"].clone();
    assert!(members.iter().all(|name| settings[name] == 777), "{settings}");
}

#[tokio::test]
async fn the_audit_log_has_the_old_and_new_settings() {
    let World { operator, slug, .. } = &World::new().await;
    let first = json!({"name": "First", "settings": {"audit_days": 2000, "channels": {"chat": {"max_turns": 3}}}});
    operator.patch(&path(slug), first).await.ok(200);
    let detail = last_change(operator, slug).await;
    assert_eq!(detail["old"], json!({"name": slug, "settings": {"audit_days": 400, "channels": {"chat": null}}}));
    let channels = json!({"chat": {"max_turns": 3}});
    assert_eq!(detail["new"], json!({"name": "First", "settings": {"audit_days": 2000, "channels": channels}}));
    operator.patch(&path(slug), json!({"settings": {"channels": {"chat": {"max_turns": 4}}}})).await.ok(200);
    let detail = last_change(operator, slug).await;
    assert_eq!(detail["old"], json!({"settings": {"channels": {"chat": {"max_turns": 3}}}}));
    assert_eq!(detail["new"], json!({"settings": {"channels": {"chat": {"max_turns": 4}}}}));
    // A patch that changes no value makes no entry.
    let count = async || {
        let entries = operator.get(&format!("/v1/admin/audit?action=tenant.update&tenant={slug}")).await.ok(200);
        entries["items"].as_array().unwrap().len()
    };
    let before = count().await;
    operator.patch(&path(slug), json!({"settings": {"channels": {"chat": {"max_turns": 4}}}})).await.ok(200);
    operator.patch(&path(slug), json!({})).await.ok(200);
    assert_eq!(count().await, before);
}

#[tokio::test]
async fn shorter_retention_needs_a_confirmation() {
    let settings = json!({"starter_skills": false, "time_zone": "UTC"});
    let World { operator, slug, .. } = &World::with(settings).await;
    let change = async |settings: Value, query: &str| {
        operator.patch(&format!("{}{query}", path(slug)), json!({ "settings": settings })).await
    };
    let confirm = "?confirm=shorten-retention";
    change(json!({"audit_days": 2000}), "").await.ok(200);
    for settings in [
        json!({"audit_days": 400}),
        json!({"audit_days": null}),
        json!({"conversation_days": 89}),
        json!({"archive_days": 29}),
        json!({"example_days": 0}),
        json!({"versions_per_skill": 1}),
        json!({"sessions_per_user": 1}),
        json!({"conversation_bytes_per_user": 1_048_576}),
        json!({"bytes_per_user": 1000, "stored_bytes_per_user": 1000}),
    ] {
        let problem = change(settings.clone(), "").await.refused(409, "confirm-needed");
        let detail = problem["detail"].as_str().unwrap();
        let name = settings.as_object().unwrap().keys().next_back().unwrap();
        assert!(detail.contains(name) && detail.contains("deletes") && detail.contains(confirm), "{detail}");
    }
    assert_eq!(stored(slug), json!({"starter_skills": false, "audit_days": 2000, "time_zone": "UTC"}));
    let problem =
        change(json!({"audit_days": 30, "archive_days": 1, "users": 3}), "").await.refused(409, "confirm-needed");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("audit_days from 2000 to 30") && detail.contains("archive_days from 30 to 1"), "{detail}");
    change(json!({"audit_days": 30}), "?confirm=yes").await.refused(400, "malformed");
    change(json!({"audit_days": 30}), confirm).await.ok(200);
    change(json!({"audit_days": 2000, "users": 3, "skills_per_user": 2}), "").await.ok(200);
}

#[tokio::test]
async fn the_command_line_changes_only_the_settings_it_names() {
    let World { operator, slug, .. } = &World::new().await;
    let run = |arguments: &[&str]| -> Output {
        let mut command = knowhow(&["admin", "--url", &shared().url, "--json"]);
        command.args(["--token", operator.token.as_deref().unwrap(), "set-tenant", slug]).args(arguments);
        command.output().unwrap()
    };
    let done = |arguments: &[&str]| -> Value {
        let output = run(arguments);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["settings"].clone()
    };
    done(&["audit_days=2000", "channels.chat.max_turns=3", "channels.sms={\"max_turns\": 2}"]);
    let settings = done(&["users=5", "channels.chat.min_score=0.25"]);
    assert_eq!((&settings["audit_days"], &settings["users"]), (&json!(2000), &json!(5)));
    let chat = &settings["channels"]["chat"];
    assert_eq!((&chat["max_turns"], &chat["min_score"]), (&json!(3), &json!(0.25)));
    assert_eq!(settings["channels"]["sms"]["max_turns"], 2);
    let refused = run(&["audit_days="]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && told.contains("--shorten-retention") && told.contains("audit log"), "{told}");
    assert_eq!(done(&["audit_days=", "--shorten-retention"])["audit_days"], 400);
    for twice in [["channels.chat.max_turns=1", "channels={}"], ["users=1", "users=2"]] {
        assert!(String::from_utf8_lossy(&run(&twice).stderr).contains("given twice"));
    }
    assert!(!run(&["min_score=1e39"]).status.success());
}

/// A single invalid number once disabled a tenant and the operator's list of all tenants.
#[tokio::test]
async fn invalid_stored_settings_disable_nothing() {
    let world = World::new().await;
    let World { alice, operator, admin, slug, .. } = &world;
    alice.create_all(&["plan"]).await;
    let backend = world.backend().await.acting_for("carol");
    for unusable in [
        json!({"min_score": 1e39}),
        json!({"skill_decay": -1e308, "memory_decay": "NaN", "importance_floor": null}),
        json!({"channels": {"chat": {"min_score": 1e39, "max_turns": "5"}, "fax": {}, "sms": null}}),
        json!({"review": "strict", "dreams": {"gaps": "daily", "nap": "off"}, "reflection_actions": 7}),
        json!({"skills_per_user": -1, "audit_days": "2000", "archive_days": 1e9, "users": null, "time_zone": {}}),
        json!({"of_a_later_release": {"a": [1]}}),
        json!([]),
        json!("settings"),
        json!(null),
    ] {
        let mut settings = unusable.clone();
        if let Some(members) = settings.as_object_mut() {
            members.insert("starter_skills".into(), json!(false));
        }
        store(slug, &settings);
        // Longer than a process caches a tenant.
        tokio::time::sleep(std::time::Duration::from_millis(1000)).await;
        alice.get("/v1/skills").await.ok(200);
        backend.get("/v1/skills").await.ok(200);
        alice.get("/v1/skills/plan").await.ok(200);
        let talk = Talk::long(alice).await;
        talk.say("let us plan").await;
        talk.tell("/end", json!({})).await;
        admin.get("/v1/admin/users").await.ok(200);
        let read = operator.get(&path(slug)).await.ok(200);
        assert_eq!(read["settings"]["min_score"], 0.18, "{unusable}");
        assert!(!pluck(&operator.get("/v1/admin/tenants?limit=200").await.ok(200)["items"], "slug").is_empty());
        // A change of another setting keeps the invalid value, and a change of the setting itself repairs it.
        operator.patch(&path(slug), json!({"settings": {"users": 77}})).await.ok(200);
        if let Some(members) = unusable.as_object() {
            let kept = stored(slug);
            assert!(members.iter().all(|(name, value)| name == "users" || kept[name] == *value), "{kept}");
            let nulls: serde_json::Map<String, Value> =
                members.keys().map(|name| (name.clone(), Value::Null)).collect();
            let repair = format!("{}?confirm=shorten-retention", path(slug));
            operator.patch(&repair, json!({ "settings": nulls })).await.ok(200);
            let repaired = stored(slug);
            assert!(members.keys().all(|name| repaired.get(name).is_none()), "{repaired}");
        }
    }
    alice.post("/v1/skills", skill("after")).await.ok(201);
}

#[tokio::test]
async fn invalid_settings_are_counted_and_logged_once() {
    let World { alice, slug, .. } = &World::new().await;
    let service = Service::start(&[("KNOWHOW_METRICS_BIND", "127.0.0.1:0")]);
    store(slug, &json!({"min_score": 1e39, "starter_skills": false}));
    let alice = alice.at(&service);
    for _ in 0..4 {
        alice.get("/v1/skills").await.ok(200);
        tokio::time::sleep(std::time::Duration::from_millis(950)).await;
    }
    let log = service.log();
    assert_eq!(log.matches("stored settings are invalid").count(), 1, "{log}");
    assert!(log.contains("/min_score must be 0 to 1, is 1e39"), "{log}");
    poll_async("the count", async || {
        let page = crate::raw::try_get(&service.metrics_address(), "/metrics")?;
        let line = page.body.lines().find(|line| line.starts_with("knowhow_settings_unusable_total"))?;
        line.rsplit(' ').next()?.parse::<f64>().ok().filter(|count| *count >= 3.0)
    })
    .await;
}
