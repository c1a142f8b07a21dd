//! Vectors of skills that a user has changed: made by the server that made the change, without waiting for jobs.

use knowhow_domain::recall::embedded_text;
use knowhow_domain::skills::manifest;
use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{Caller, World, skill};
use crate::service::poll;
use crate::worker::{Ground, world};

/// Setting that gives the model enough time to answer, even if it is slow.
const PATIENT: (&str, &str) = ("KNOWHOW_EMBEDDINGS_TIMEOUT_MS", "60000");
const JOBS: &str = "graphile_worker._private_jobs";

/// Waits until a vector of this text exists. The skill has one trigger or none.
fn await_vector(ground: &Ground, name: &str, description: &str, trigger: Option<&str>) {
    let triggers: Vec<String> = trigger.map(str::to_owned).into_iter().collect();
    let text = embedded_text(name, description, &triggers);
    let digest = manifest::hex(&manifest::digest(text.as_bytes()));
    let vector = format!("skill_embeddings where encode(text_digest, 'hex') = '{digest}'");
    poll(&format!("the vector of {text}"), || (ground.count(&vector) == 1).then_some(()));
}

fn described(name: &str) -> String {
    skill(name)["description"].as_str().unwrap().to_owned()
}

async fn import(who: &Caller, files: &[(String, String)]) -> Value {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    who.send(Method::POST, "/v1/skills/import").files(&files).await.ok(200)
}

fn skill_md(name: &str) -> (String, String) {
    (
        format!("{name}/SKILL.md"),
        format!("---\nname: {name}\ndescription: {}\n---\n\nBody of {name}\n", described(name)),
    )
}

#[tokio::test]
async fn a_changed_skill_has_its_vector_without_any_worker() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let World { alice, .. } = &world(&service).await;
    alice.create(skill("plan")).await;
    await_vector(&ground, "plan", &described("plan"), None);
    alice.put("/v1/skills/plan/fields", json!({"triggers": ["make a plan"]})).await.ok(200);
    await_vector(&ground, "plan", &described("plan"), Some("make a plan"));
    let edit = json!({"edits": [{"old_string": "make a plan", "new_string": "think ahead"}]});
    alice.patch("/v1/skills/plan", edit).await.ok(200);
    await_vector(&ground, "plan", &described("plan"), Some("think ahead"));
    alice.post("/v1/skills/plan/rollback", json!({"version": 1})).await.ok(200);
    await_vector(&ground, "plan", &described("plan"), None);
    let mut again = skill("plan");
    again["description"] = json!("Plans otherwise. Use it now and then.");
    alice.post("/v1/skills", again).await.ok(200);
    await_vector(&ground, "plan", "Plans otherwise. Use it now and then.", None);
    import(alice, &[skill_md("imported")]).await;
    await_vector(&ground, "imported", &described("imported"), None);

    // The changes have enqueued jobs as well, which find the vectors and do no work.
    assert_eq!(ground.count(&format!("{JOBS} where priority < 100 and attempts = 0")), 2);
    let (asked, revision) = (ground.asked(), "user_catalogs where skill_count = 2 and revision = 12");
    assert_eq!(ground.count(revision), 1, "six changes and six vectors");
    let _worker = ground.work(&[]);
    ground.idle();
    assert_eq!((ground.asked(), ground.count(revision)), (asked, 1));
}

/// The server applies its own change to its cached catalogue. It reads a change of another server from the database.
#[tokio::test]
async fn own_changes_update_the_cached_catalogue_without_a_read() {
    let ground = Ground::new();
    let (here, elsewhere) = (ground.serve(&[]), ground.serve(&[]));
    let World { operator, alice, .. } = &world(&here).await;
    let misses = async || operator.get("/v1/admin/stats").await.ok(200)["catalogues"]["misses"].as_u64().unwrap();
    let says = |word: &str| {
        let mut plan = skill("plan");
        plan["content"] = json!(format!("## Procedure\n\n1. Think of {word}.\n"));
        plan
    };
    let is_found_by = async |word: &str| {
        let found = alice.get(&format!("/v1/skills?q={word}")).await.ok(200);
        found["items"][0]["reason"].as_str().is_some_and(|reason| reason.contains("words of its text"))
    };
    alice.create(skill("plan")).await;
    await_vector(&ground, "plan", &described("plan"), None);
    assert!(!is_found_by("quetzals").await);
    let before = misses().await;
    for word in ["quetzals", "zebras"] {
        alice.post("/v1/skills", says(word)).await.ok(200);
        assert!(is_found_by(word).await, "{word}");
    }
    assert!(!is_found_by("quetzals").await);
    assert_eq!(misses().await, before);
    alice.at(&elsewhere).post("/v1/skills", says("ocelots")).await.ok(200);
    assert!(is_found_by("ocelots").await && !is_found_by("zebras").await);
    assert_eq!(misses().await, before + 1);
}

/// At most 64 changed skills of a tenant wait for vectors in the process, and at most eight requests are sent at
/// once. Jobs make the remaining vectors, and every save is answered.
#[tokio::test]
async fn vectors_made_at_once_are_limited_and_jobs_make_the_rest() {
    const PLACES: u64 = 64;
    let ground = Ground::new();
    let service = ground.serve(&[PATIENT]);
    let world = world(&service).await;
    let names: Vec<String> = (0..PLACES + 2).map(|n| format!("skill-{n}")).collect();
    for name in &names {
        world.alice.create(skill(name)).await;
    }
    poll("the first vectors", || (ground.count("skill_embeddings") == PLACES + 2).then_some(()));
    ground.think(true);
    let asked = ground.asked();
    for name in &names {
        world.alice.put(&format!("/v1/skills/{name}/fields"), json!({"triggers": ["do it"]})).await.ok(200);
    }
    poll("eight to be in hand", || (ground.asked() == asked + 8).then_some(()));
    ground.think(false);
    let made_again =
        "skill_embeddings e join skills s using (tenant_id, user_id, skill_id) where e.updated_at >= s.updated_at";
    poll("those that have a place", || (ground.count(made_again) == PLACES).then_some(()));
    // The vector of a later save shows that no earlier change is still waiting for one.
    world.alice.create(skill("last")).await;
    await_vector(&ground, "last", &described("last"), None);
    assert_eq!(ground.count(made_again), PLACES + 1);
    let _worker = ground.work(&[]);
    ground.idle();
    assert_eq!(ground.count(made_again), PLACES + 3);
}

/// An import occupies its half of the worker and its share of the model. A save of another tenant does not wait for
/// it.
#[tokio::test]
async fn a_save_does_not_wait_for_an_import() {
    let ground = Ground::new();
    let service = ground.serve(&[PATIENT, ("KNOWHOW_WITH_WORKER", "true")]);
    let (large, small) = (world(&service).await, world(&service).await);
    ground.think(true);
    let files: Vec<(String, String)> = (0..200).map(|n| skill_md(&format!("imported-{n}"))).collect();
    assert_eq!(import(&large.alice, &files).await["created"], 200);
    assert_eq!(ground.count(&format!("{JOBS} where priority < 100 and payload::text like '%skill_id%'")), 0);
    let in_hand = format!("{JOBS} where locked_at is not null and priority >= 100");
    poll("the import to be in hand", || (ground.count(&in_hand) == 2).then_some(()));
    let mut urgent = skill("plan");
    urgent["description"] = json!("Does what is urgent. Use it at once.");
    small.alice.create(urgent).await;
    await_vector(&ground, "plan", "Does what is urgent. Use it at once.", None);
    assert_eq!(ground.count("skill_embeddings"), 1);
    // The job of the save runs as well, while the import is still running.
    let urgent_job = format!("{JOBS} where priority < 100 and payload::text like '%skill_id%'");
    poll("its job to be done", || (ground.count(&urgent_job) == 0).then_some(()));
    poll("the import to be in hand still", || (ground.count(&in_hand) == 2).then_some(()));
    ground.think(false);
    ground.idle();
    assert_eq!(ground.count("skill_embeddings"), 201);
    // Many vectors share one revision, because each new revision makes the catalogue be rebuilt.
    assert_eq!(ground.count("user_catalogs where skill_count = 200 and revision between 201 and 240"), 1);
}
