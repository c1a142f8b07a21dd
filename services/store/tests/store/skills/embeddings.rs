//! Vectors of skills: stored only if they fit the text of the skill, and visible to caches.

use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{SkillId, new_id};
use knowhow_store::skills::embeddings::{self, Page, TextToEmbed, Vectors};
use knowhow_store::{Principal, StaleVectors, Window, enqueue_stale, jobs};
use uuid::Uuid;

use crate::harness::{House, Place, now, with_database};
use crate::writer::{Draft, Keep, delete, save};

const MODEL: &str = "test/one";

async fn revision(house: &House, principal: &Principal) -> i64 {
    let user = principal.user().unwrap().0;
    house.place.count(&format!("select revision from user_catalogs where user_id = '{user}'")).await
}

async fn find(house: &House, principal: &Principal, skill: SkillId) -> Option<TextToEmbed> {
    embeddings::find_pending(&house.db, principal, MODEL, skill).await.unwrap()
}

/// Returns the names of the skills without a vector of the model.
async fn stale(house: &House, principal: &Principal, model: &str) -> Vec<String> {
    let page = Page { model, after: new_id(), limit: 10 };
    let stale = embeddings::list_pending(&house.db, principal, EmbeddedKind::Skill, page).await.unwrap();
    let name_of = |pending: TextToEmbed| pending.text.split(':').next().unwrap_or_default().to_owned();
    let mut names: Vec<String> = stale.into_iter().map(name_of).collect();
    names.sort();
    names
}

async fn put(house: &House, principal: &Principal, model: &str, of: Vec<TextToEmbed>) -> usize {
    let vectors: Vec<_> = of.into_iter().map(|of| (of, vec![0.5, -0.25, 0.125])).collect();
    let made = Vectors { model, vectors: &vectors, now: now() };
    embeddings::put(&house.db, principal, EmbeddedKind::Skill, made).await.unwrap().ids.len()
}

#[tokio::test]
async fn vectors_are_stored_only_if_the_skills_text_is_unchanged() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    let mut pending = Vec::new();
    for name in ["same", "body", "text", "gone"] {
        let written = save(&house.db, &alice, &Draft::text(name, "First.")).await.unwrap();
        pending.push(find(&house, &alice, written.id).await.unwrap());
    }
    assert_eq!(stale(&house, &alice, MODEL).await, ["body", "gone", "same", "text"]);
    assert!(find(&house, &bob, SkillId(pending[0].id)).await.is_none());
    save(&house.db, &alice, &Draft::text("body", "Second.")).await.unwrap();
    let user = alice.user().unwrap().0;
    house.place.run(&format!("update skills set triggers = '{{x}}' where user_id = '{user}' and name = 'text'")).await;
    delete(&house.db, &alice, "gone", Keep::a_month()).await.unwrap();

    let before = revision(&house, &alice).await;
    assert_eq!(put(&house, &bob, MODEL, pending.clone()).await, 0);
    assert_eq!(put(&house, &alice, MODEL, pending.clone()).await, 2);
    assert_eq!(revision(&house, &alice).await, before + 1);
    assert_eq!(stale(&house, &alice, MODEL).await, ["text"]);
    assert!(find(&house, &alice, SkillId(pending[0].id)).await.is_none(), "its vector is of its text");
    assert!(find(&house, &alice, SkillId(pending[2].id)).await.is_some());
    let exact = format!(
        "select count(*) from skill_embeddings where user_id = '{user}' and embedding = '[0.5,-0.25,0.125]'::halfvec"
    );
    assert_eq!(house.place.count(&exact).await, 2);
    assert_eq!(put(&house, &alice, MODEL, vec![pending[2].clone()]).await, 0);
    assert_eq!(revision(&house, &alice).await, before + 1);

    assert_eq!(stale(&house, &alice, "test/two").await.len(), 3);
    assert_eq!(put(&house, &alice, "test/two", pending).await, 2);
    assert_eq!(stale(&house, &alice, "test/two").await, ["text"]);
    assert_eq!(stale(&house, &alice, MODEL).await, ["text"], "each model has its own");
}

async fn skill_id(place: &Place, principal: &Principal, name: &str) -> SkillId {
    let sql =
        format!("select skill_id from skills where name = '{name}' and user_id = '{}'", principal.user().unwrap().0);
    let mut conn = place.owner().await;
    SkillId(sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut conn).await.unwrap())
}

#[tokio::test]
async fn a_change_of_models_enqueues_each_job_once() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let (one, two) = (house.tenant().await, house.tenant().await);
        for user in [one.user("alice").await, one.user("bob").await, two.user("alice").await] {
            for name in ["a", "b"] {
                let written = save(&house.db, &user, &Draft::text(name, "First.")).await.unwrap();
                let pending = find(&house, &user, written.id).await.unwrap();
                assert_eq!(put(&house, &user, if name == "a" { MODEL } else { "test/two" }, vec![pending]).await, 1);
            }
        }
        let wanted = StaleVectors { kind: EmbeddedKind::Skill, model: MODEL, task: "test_embed", page: 2, now: now() };
        let enqueue = || async { enqueue_stale(&house.db, wanted).await.unwrap() };
        assert_eq!((enqueue().await, enqueue().await), (3, 0));
        let jobs = jobs::list(&house.db, &one.admin().await, None, Window { behind: None, limit: 10 }).await.unwrap();
        assert_eq!(jobs.iter().map(|job| job.user.as_deref().unwrap()).collect::<Vec<_>>(), ["bob", "alice"]);
        assert!(jobs.iter().all(|job| job.task == "test_embed"));
        place.run("update graphile_worker._private_jobs set attempts = max_attempts").await;
        assert_eq!(enqueue().await, 0);
        // A vector of another model stays for a day after the current model has made its own.
        let alice = one.user("alice").await;
        let vectors = "select count(*) from skill_embeddings";
        let both = stale(&house, &alice, MODEL).await;
        assert_eq!(both, ["b"]);
        let id = skill_id(place, &alice, "b").await;
        assert_eq!(put(&house, &alice, MODEL, vec![find(&house, &alice, id).await.unwrap()]).await, 1);
        enqueue().await;
        assert_eq!(place.count(vectors).await, 7);
        place.run("update skill_embeddings set updated_at = updated_at - interval '25 hours'").await;
        enqueue().await;
        assert_eq!(place.count(vectors).await, 6);
        assert_eq!(stale(&house, &alice, MODEL).await, [""; 0]);
    })
    .await;
}

/// Concurrent jobs of one import should not all make the same vectors.
#[tokio::test]
async fn concurrent_jobs_choose_different_additional_skills() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let mut ids = Vec::new();
    for n in 0..24 {
        ids.push(save(&house.db, &alice, &Draft::text(&format!("skill-{n}"), "First.")).await.unwrap().id);
    }
    let list = async |asked: SkillId| -> Vec<Uuid> {
        let page = Page { model: MODEL, after: asked.0, limit: 8 };
        let others = embeddings::list_pending(&house.db, &alice, EmbeddedKind::Skill, page).await.unwrap();
        others.into_iter().map(|pending| pending.id).collect()
    };
    let mut found = Vec::new();
    for asked in [ids[0], ids[1]] {
        let others = list(asked).await;
        assert!(others.len() == 8 && !others.contains(&asked.0));
        found.push(others);
    }
    let both = found[0].iter().filter(|skill| found[1].contains(skill)).count();
    assert!(both < 8, "{found:?}");
    // A repeated query returns the same skills.
    assert_eq!(list(ids[0]).await, found[0]);
}
