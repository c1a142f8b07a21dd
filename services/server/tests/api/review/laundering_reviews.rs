//! Skills tainted before the review was switched on: no later change removes the taint.

use reqwest::Method;
use serde_json::{Value, json};

use super::laundering::{FILE, WORDS, check_unmarked, skill_md, user};
use crate::callers::{Caller, Sending, World, skill};
use crate::exchange::{unzip, zip};
use crate::reviewing::{ATTACK, saying};
use crate::service::poll_async;
use crate::talk::Talk;

/// A user with a clean skill and a skill written by a tainted session, both saved while changes were not reviewed.
struct Before {
    who: Caller,
    /// A session that is not tainted.
    clean: Talk,
    tainted: Talk,
}

impl Before {
    async fn of(world: &World, name: &str) -> Self {
        let who = user(world, name);
        who.create(skill("plan")).await;
        who.create(skill("mail")).await;
        let (clean, tainted) = (Talk::long(&who).await, Talk::tainted(&who).await);
        let before = Self { who, clean, tainted };
        let saved = before.save_by_key(&before.tainted.id).await.ok(200);
        assert_eq!((&saved["version"], &saved["tainted"]), (&json!(2), &json!(true)), "{saved}");
        before
    }

    fn save_by_key(&self, session: &str) -> Sending {
        let save = self.who.post("/v1/skills", saying("mail", WORDS));
        save.header("Knowhow-Session", session).header("Idempotency-Key", "first")
    }

    /// Builds a request in the clean session.
    fn send(&self, method: Method, path: &str) -> Sending {
        self.who.send(method, path).header("Knowhow-Session", &self.clean.id)
    }

    /// Returns the current version and taint of the skill that the tainted session wrote.
    async fn mail(&self) -> (Value, Value) {
        let mut mail = self.who.peek("mail").await;
        (mail["version"].take(), mail["tainted"].take())
    }

    async fn import(&self, files: &[(String, Vec<u8>)]) -> Value {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        self.send(Method::POST, "/v1/skills/import").files(&[("skills.zip", &zip(&files))]).await.ok(200)
    }
}

/// Makes the tenant review tainted changes again, and waits until the service applies the setting.
async fn review_again(world: &World) {
    let settings = json!({"settings": {"starter_skills": false, "review": "tainted"}});
    world.operator.patch(&format!("/v1/admin/tenants/{}", world.slug), settings).await.ok(200);
    let mut tries = 0;
    poll_async("the setting to be heard of", async || {
        tries += 1;
        // The name must not mention attacks, because a skill about attacks may quote one as an example.
        let attack = saying(&format!("plan-{tries}"), ATTACK);
        (world.bob.post("/v1/skills", attack).await.status == 202).then_some(())
    })
    .await;
}

#[tokio::test]
async fn skills_tainted_before_the_review_stay_tainted() {
    let world = World::unreviewed().await;
    let changed = Before::of(&world, "changes").await;
    let rolled = Before::of(&world, "rolls-back").await;
    rolled.who.post("/v1/skills", json!({"skill_md": skill_md("mail", "Look at the calendar.")})).await.ok(200);
    let (moved, shared) = (Before::of(&world, "moves").await, Before::of(&world, "shares").await);
    let (restored, absorbing) = (Before::of(&world, "restores").await, Before::of(&world, "absorbs").await);
    let absorbed = Before::of(&world, "is-absorbed").await;
    review_again(&world).await;
    change(&changed).await;
    roll_back(&rolled).await;
    move_away(&moved).await;
    share(&world, &shared).await;
    restore(&world, &restored).await;
    absorb(&absorbing, &absorbed).await;
}

/// Changes the skill, and repeats the request that wrote it.
async fn change(of: &Before) {
    let edits = json!({"edits": [{"old_string": "First this", "new_string": "Last this"}]});
    let file = format!("/v1/skills/mail/resources/{FILE}");
    for held in [
        of.send(Method::PATCH, "/v1/skills/mail").json(&edits),
        of.send(Method::PUT, "/v1/skills/mail/fields").json(&json!({"category": "office"})),
        of.send(Method::PUT, &file).body("text/markdown", "alpha"),
    ] {
        let held = held.await.ok(202);
        assert_eq!((&held["tainted"], &held["tainted_by"]), (&json!(true), &json!(["a mail"])), "{held}");
    }
    let again = of.save_by_key(&of.clean.id).await.ok(200);
    assert_eq!((&again["version"], &again["tainted"]), (&json!(2), &json!(true)), "{again}");
    assert_eq!(of.mail().await, (json!(2), json!(true)));
    check_unmarked(&of.who, "changes and a repeated key").await;
}

/// Rolls back to the tainted version, and to the clean version before it.
async fn roll_back(of: &Before) {
    assert_eq!(of.mail().await, (json!(3), json!(false)));
    let back = |version: i64| of.send(Method::POST, "/v1/skills/mail/rollback").json(&json!({"version": version}));
    let held = back(2).await.ok(202);
    assert_eq!((&held["kind"], &held["tainted"]), (&json!("rollback"), &json!(true)), "{held}");
    assert_eq!(of.mail().await, (json!(3), json!(false)));
    back(1).await.ok(200);
    assert_eq!(of.mail().await, (json!(4), json!(false)));
    check_unmarked(&of.who, "a rollback").await;
}

/// Renames the skill, then exports and imports it, with and without the provenance file of the archive.
async fn move_away(of: &Before) {
    let text = of.who.get("/v1/skills/mail/SKILL.md").await.text();
    let renamed = json!({"skill_md": text.replace("name: mail", "name: letters")});
    let held = of.send(Method::POST, "/v1/skills").json(&renamed).await.ok(202);
    assert_eq!((&held["skill"], &held["tainted"]), (&json!("letters"), &json!(true)), "{held}");
    let mut files = unzip(&of.who.get("/v1/skills/export").await.body);
    assert!(files.iter().any(|(path, _)| path == "knowhow-provenance.json"), "{files:?}");
    of.send(Method::DELETE, "/v1/skills/mail").await.empty(204);
    let report = of.import(&files).await;
    assert_eq!((&report["waiting"], &report["unchanged"], &report["failed"]), (&json!(1), &json!(1), &json!(0)));
    files.retain(|(path, _)| path.starts_with("mail/"));
    for (path, bytes) in &mut files {
        *path = path.replace("mail/", "parcels/");
        *bytes = String::from_utf8_lossy(bytes).replace("name: mail", "name: parcels").into_bytes();
    }
    let report = of.import(&files).await;
    assert_eq!((&report["waiting"], &report["created"], &report["failed"]), (&json!(1), &json!(0), &json!(0)));
    assert_eq!(of.who.names().await, ["plan"]);
    check_unmarked(&of.who, "archives").await;
}

/// Shares the skill with all users of the tenant.
async fn share(world: &World, of: &Before) {
    let held = of.send(Method::POST, "/v1/skills/mail/share").json(&json!({"reason": "all of us do it"}));
    let held = held.await.ok(202);
    assert_eq!((&held["kind"], &held["tainted"]), (&json!("share"), &json!(true)), "{held}");
    check_unmarked(&of.who, "a share").await;
    check_unmarked(&world.bob, "a share of another's").await;
    assert!(!world.bob.names().await.contains(&"mail".to_owned()));
}

/// Deletes the skill, saves its text again, and restores it from the archive.
async fn restore(world: &World, of: &Before) {
    of.send(Method::DELETE, "/v1/skills/mail").await.empty(204);
    let held = of.send(Method::POST, "/v1/skills").json(&saying("mail", WORDS)).await.ok(202);
    assert_eq!(held["tainted"], true, "{held}");
    let page = world.admin.get("/v1/admin/archive?limit=200").await.ok(200);
    let entries = page["items"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["name"] == "mail" && entry["user"] == "restores").unwrap();
    let path = format!("/v1/admin/archive/{}/restore", entry["id"].as_str().unwrap());
    world.admin.post(&path, json!({"reason": "needed again"})).await.ok(200);
    assert_eq!(of.mail().await, (json!(2), json!(true)));
    check_unmarked(&of.who, "a restore").await;
}

/// Merges a clean skill into the tainted one, and the tainted one into a clean one. The old name shows the taint of
/// its target.
async fn absorb(absorbing: &Before, absorbed: &Before) {
    let delete = |of: &Before, name: &str, into: &str| {
        of.send(Method::DELETE, &format!("/v1/skills/{name}")).json(&json!({"absorbed_into": into}))
    };
    delete(absorbing, "plan", "mail").await.empty(204);
    let shown = absorbing.who.peek("plan").await;
    assert_eq!((&shown["name"], &shown["tainted"]), (&json!("mail"), &json!(true)), "{shown}");
    check_unmarked(&absorbing.who, "absorbing").await;
    delete(absorbed, "mail", "plan").await.empty(204);
    let shown = absorbed.who.peek("mail").await;
    assert_eq!((&shown["name"], &shown["tainted"]), (&json!("plan"), &json!(false)), "{shown}");
    let edits = json!({"edits": [{"old_string": "First this", "new_string": WORDS}]});
    let held = absorbed.send(Method::PATCH, "/v1/skills/plan").json(&edits).await.ok(202);
    assert_eq!(held["tainted"], true, "{held}");
    check_unmarked(&absorbed.who, "being absorbed").await;
}
