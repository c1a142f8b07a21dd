//! Starters: first without rows of the user, then as rows that refer to a shared text, then with the user's own text.

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{Limits, SkillDocument, SkillName, new_id};
use knowhow_store::skills::embeddings::Page;
use knowhow_store::skills::starters::{NewVector, StarterText};
use knowhow_store::skills::{self, LoadUse, SkillKey, embeddings, starters, versions};
use knowhow_store::{Principal, StaleVectors, WriteTx, enqueue_stale};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::harness::{House, now, with_database};
use crate::writer::{Draft, Keep, delete, document, named, peek, save};

const MODEL: &str = "test/one";

/// A release with the starters of one test, because all tests share the table of starters.
pub(super) struct Release {
    digest: [u8; 16],
    names: Vec<String>,
}

/// Returns a SKILL.md of a starter.
pub fn body(name: &str, body: &str) -> SkillDocument {
    let raw = format!(
        "---\nname: {name}\ndescription: What {name} is for\nmetadata:\n  summary: In short\n  tags: [one, two]\n---\n\n{body}\n"
    );
    SkillDocument::parse(&raw, &Limits::default()).unwrap()
}

/// Publishes a release of these starters, given by name and body.
pub(super) async fn publish(house: &House, starters: &[(&str, &str)]) -> Release {
    let digest = *new_id().as_bytes();
    let texts: Vec<(SkillName, SkillDocument)> =
        starters.iter().map(|(name, text)| (SkillName::parse(name).unwrap(), body(name, text))).collect();
    let frontmatter = json!({"name": "x"});
    let texts: Vec<StarterText<'_>> =
        texts.iter().map(|(name, document)| StarterText { name, document, frontmatter: &frontmatter }).collect();
    // Two processes publish the release concurrently, and a third one later.
    let (one, two) =
        tokio::join!(starters::publish(&house.db, &digest, &texts), starters::publish(&house.db, &digest, &texts));
    one.unwrap();
    two.unwrap();
    starters::publish(&house.db, &digest, &texts).await.unwrap();
    Release { digest, names: starters.iter().map(|(name, _)| (*name).to_owned()).collect() }
}

/// Returns names that no other test uses.
pub(super) fn own_names<const N: usize>() -> [String; N] {
    let stem = new_id().simple().to_string();
    std::array::from_fn(|n| format!("s-{stem}-{n}"))
}

/// Gives a user the release, as the service does when a session begins.
pub(super) async fn sync(house: &House, user: &Principal, release: &Release) {
    let mut tx = WriteTx::begin(&house.db, user, "test").await.unwrap();
    if !starters::lend(&mut tx, &release.digest, now()).await.unwrap()
        && starters::lock(&mut tx).await.unwrap().as_deref() != Some(&release.digest)
    {
        starters::settle(&mut tx).await.unwrap();
        starters::bring(&mut tx, &release.digest, now()).await.unwrap();
    }
    tx.commit().await.unwrap();
}

pub(super) async fn settle(house: &House, user: &Principal) {
    let mut tx = WriteTx::begin(&house.db, user, "test").await.unwrap();
    starters::settle(&mut tx).await.unwrap();
    tx.commit().await.unwrap();
}

/// Returns the number of the user's rows in a table.
async fn rows(house: &House, user: &Principal, table: &str) -> i64 {
    house.place.count(&format!("select count(*) from {table} where user_id = '{}'", user.user().unwrap().0)).await
}

/// Returns the states of all of the user's skills, as JSON.
pub(super) async fn states(house: &House, user: &Principal) -> Vec<serde_json::Value> {
    let (tenant, user) = (user.tenant().0, user.user().unwrap().0);
    let mut conn = house.place.login().await;
    let begin = format!(
        "begin; set local role knowhow_tenant; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'"
    );
    conn.execute(AssertSqlSafe(begin)).await.unwrap();
    let sql = "select to_jsonb(s) - 'lent' from skill_states s order by name";
    let states = sqlx::query_scalar(sql).fetch_all(&mut conn).await.unwrap();
    conn.close().await.unwrap();
    states
}

pub(super) async fn history(house: &House, user: &Principal, name: &str) -> Vec<(i32, String, String, DateTime<Utc>)> {
    let mut tx = WriteTx::begin(&house.db, user, "test").await.unwrap();
    let (id, _, _) = skills::find(&mut tx, &named(name)).await.unwrap().unwrap();
    let mut all = Vec::new();
    for row in versions::list(&mut tx, id, None, 100).await.unwrap() {
        let state = versions::find(&mut tx, id, row.version).await.unwrap().unwrap();
        all.push((row.version, row.change.as_str().to_owned(), state.document, row.created_at));
    }
    tx.commit().await.unwrap();
    all
}

#[tokio::test]
async fn a_starter_reads_the_same_before_and_after_it_gets_rows() {
    let house = House::open().await;
    let [a, b] = &own_names();
    let release = publish(&house, &[(a, "First."), (b, "Second.")]).await;
    let tenancy = house.tenant().await;
    let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
    sync(&house, &alice, &release).await;
    for table in ["skills", "skill_resources", "skill_versions", "skill_usage", "starter_installs"] {
        assert_eq!(rows(&house, &alice, table).await, 0, "{table}");
    }
    let lent = states(&house, &alice).await;
    assert_eq!(lent.iter().map(|s| s["name"].as_str().unwrap()).collect::<Vec<_>>(), release.names);
    assert_eq!((&lent[0]["summary"], &lent[0]["tags"]), (&json!("In short"), &json!(["one", "two"])));
    assert!(states(&house, &bob).await.is_empty());
    let counts = |user: &Principal| {
        let user = user.user().unwrap().0;
        format!(
            "select revision * 1000000 + skill_count * 100000 + byte_count from user_catalogs where user_id = '{user}'"
        )
    };
    let before = house.place.count(&counts(&alice)).await;
    let bytes = body(a, "First.").raw().len() + body(b, "Second.").raw().len();
    assert_eq!(before, 1_000_000 + 200_000 + i64::try_from(bytes).unwrap());
    // The ids are no UUIDs of version 7, which would be read as times.
    for state in &lent {
        let id: uuid::Uuid = state["skill_id"].as_str().unwrap().parse().unwrap();
        assert_eq!((id.get_version_num(), id.get_timestamp()), (8, None));
    }
    settle(&house, &alice).await;
    assert_eq!(states(&house, &alice).await, lent);
    assert_eq!(house.place.count(&counts(&alice)).await, before);
    for (table, expected) in [("skills", 2), ("skill_versions", 2), ("skill_usage", 2), ("starter_installs", 2)] {
        assert_eq!(rows(&house, &alice, table).await, expected, "{table}");
    }
    assert_eq!(rows(&house, &alice, "skill_resources").await, 0);
    // The only audit entry is that of the user's creation.
    assert_eq!(rows(&house, &alice, "audit_log").await, 1);
    // Another user of the same release has other ids, because an id belongs to one skill of one user.
    sync(&house, &bob, &release).await;
    assert_ne!(states(&house, &bob).await[0]["skill_id"], lent[0]["skill_id"]);
}

#[tokio::test]
async fn concurrent_first_sessions_give_the_starters_once() {
    let house = House::open().await;
    let [a, b] = &own_names();
    let release = &publish(&house, &[(a, "First."), (b, "Second.")]).await;
    let alice = &house.tenant().await.user("alice").await;
    join_all((0..8).map(|_| sync(&house, alice, release))).await;
    let sql = format!("select revision from user_catalogs where user_id = '{}'", alice.user().unwrap().0);
    assert_eq!(house.place.count(&sql).await, 1);
    let (name, drafts) = (named(b), ["One.", "Two.", "Three."].map(|body| Draft::text(a, body)));
    let (saved, counted, ()) = tokio::join!(
        join_all(drafts.iter().map(|draft| save(&house.db, alice, draft))),
        join_all((0..8).map(|_| skills::load(
            &house.db,
            alice,
            &name,
            LoadUse { session: None, taught_since: None, relations: None, now: now() }
        ))),
        async {
            join_all((0..4).map(|_| settle(&house, alice))).await;
        }
    );
    let mut made: Vec<i32> = saved.into_iter().map(|written| written.unwrap().version).collect();
    made.sort_unstable();
    assert_eq!(made, [2, 3, 4]);
    assert!(counted.into_iter().all(|loaded| loaded.unwrap().is_some()));
    assert_eq!(peek(&house.db, alice, b).await.unwrap().times_used, 8);
    assert_eq!((rows(&house, alice, "skills").await, rows(&house, alice, "skill_versions").await), (2, 5));
}

#[tokio::test]
async fn concurrent_first_changes_find_all_starters() {
    let house = House::open().await;
    let names: [String; 4] = own_names();
    let starters: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "Given.")).collect();
    let release = publish(&house, &starters).await;
    let tenancy = &house.tenant().await;
    let rounds = (0..8).map(async |n| {
        let user = tenancy.user(&format!("u{n}")).await;
        sync(&house, &user, &release).await;
        let draft = Draft::text(&names[0], "Mine.");
        let gone = join_all(names[1..].iter().map(|name| delete(&house.db, &user, name, Keep::a_month())));
        let (saved, gone) = tokio::join!(save(&house.db, &user, &draft), gone);
        assert_eq!(saved.unwrap().version, 2);
        assert!(gone.into_iter().all(|gone| gone.unwrap()));
        assert_eq!(states(&house, &user).await.len(), 1);
    });
    join_all(rounds).await;
}

#[tokio::test]
async fn the_first_change_of_a_starter_keeps_its_original_version() {
    let house = House::open().await;
    let [a, b] = &own_names();
    let release = publish(&house, &[(a, "First."), (b, "Second.")]).await;
    let alice = house.tenant().await.user("alice").await;
    sync(&house, &alice, &release).await;
    let given = states(&house, &alice).await[0].clone();
    // A crash during the change leaves the starter without rows.
    let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
    assert!(skills::lock(&mut tx, &named(a)).await.unwrap().is_some());
    drop(tx);
    assert_eq!(rows(&house, &alice, "skills").await, 0);
    let written = save(&house.db, &alice, &Draft::text(a, "Mine.")).await.unwrap();
    assert_eq!((written.version, json!(written.id.0)), (2, given["skill_id"].clone()));
    assert_eq!(rows(&house, &alice, "skill_resources").await, 1);
    let past = history(&house, &alice, a).await;
    let told: Vec<_> =
        past.iter().map(|(version, change, text, _)| (*version, change.as_str(), text.as_str())).collect();
    let (mine, first) = (document(a, "Mine."), body(a, "First."));
    assert_eq!(told, [(2, "save", mine.raw()), (1, "sync", first.raw())]);
    assert_eq!(json!(past[1].3), json!(given["created_at"].as_str().unwrap().parse::<DateTime<Utc>>().unwrap()));
    let current = peek(&house.db, &alice, a).await.unwrap().skill;
    assert_eq!((current.document.as_str(), current.summary), (mine.raw(), None));
    assert_eq!(peek(&house.db, &alice, b).await.unwrap().skill.document, body(b, "Second.").raw());
}

#[tokio::test]
async fn one_vector_serves_all_users_until_one_changes_the_text() {
    with_database(async |place| {
        let house = House::at(place, 4, 2);
        let [a, b] = &own_names();
        let release = publish(&house, &[(a, "First."), (b, "Second.")]).await;
        let tenancy = house.tenant().await;
        let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
        for user in [&alice, &bob] {
            sync(&house, user, &release).await;
        }
        settle(&house, &alice).await;
        let has_vector = async |user: &Principal| {
            let stamps = skills::list_stamps(&house.db, user, Some(MODEL)).await.unwrap().skills;
            let wanted: Vec<_> =
                stamps.iter().map(|s| skills::CatalogueRequest { id: s.id, body: true, vector: true }).collect();
            let mut found = skills::list_texts(&house.db, user, &wanted, Some(MODEL)).await.unwrap();
            found.sort_by(|a, b| a.name.cmp(&b.name));
            let starter = |id| stamps.iter().find(|s| s.id == id).unwrap();
            let read = |row: &skills::CatalogueRow| {
                assert!(row.body.is_some() && row.embedding.is_some() == starter(row.id).vector.is_some());
                (starter(row.id).is_starter, row.embedding.is_some())
            };
            found.iter().map(read).collect::<Vec<_>>()
        };
        assert_eq!(has_vector(&bob).await, [(true, false), (true, false)]);
        let missing = starters::list_unembedded(&house.db, MODEL).await.unwrap();
        let vector = |starter| NewVector { starter, text_digest: [7; 32], embedding: vec![0.6, 0.8] };
        let made: Vec<_> = missing.iter().map(|text| vector(text.starter)).collect();
        assert_eq!(made.len(), 2);
        for _ in 0..2 {
            starters::put_vectors(&house.db, MODEL, &made).await.unwrap();
        }
        assert!(starters::list_unembedded(&house.db, MODEL).await.unwrap().is_empty());
        for user in [&alice, &bob] {
            assert_eq!(has_vector(user).await, [(true, true), (true, true)]);
            assert_eq!(skills::list_cosines(&house.db, user, MODEL, &[&[0.6, 0.8]]).await.unwrap().len(), 2);
        }
        // Starters are neither embedded for a user nor listed as lacking a vector.
        let id = states(&house, &alice).await[0]["skill_id"].as_str().unwrap().parse().unwrap();
        let id = knowhow_domain::SkillId(id);
        assert!(embeddings::find_pending(&house.db, &alice, MODEL, id).await.unwrap().is_none());
        let page = Page { model: MODEL, after: new_id(), limit: 10 };
        assert!(embeddings::list_pending(&house.db, &alice, EmbeddedKind::Skill, page).await.unwrap().is_empty());
        let wanted = StaleVectors { kind: EmbeddedKind::Skill, model: MODEL, task: "test_embed", page: 10, now: now() };
        assert_eq!(enqueue_stale(&house.db, wanted).await.unwrap(), 0);
        // Another body with the same description keeps the vector.
        save(&house.db, &alice, &Draft::text(a, "Mine.")).await.unwrap();
        assert_eq!(rows(&house, &alice, "skill_embeddings").await, 1);
        assert_eq!(has_vector(&alice).await, [(false, true), (true, true)]);
    })
    .await;
}

#[tokio::test]
async fn an_id_finds_a_starter_without_rows() {
    let house = House::open().await;
    let [a] = &own_names();
    let release = publish(&house, &[(a, "First.")]).await;
    let alice = house.tenant().await.user("alice").await;
    sync(&house, &alice, &release).await;
    let id = states(&house, &alice).await[0]["skill_id"].as_str().unwrap().parse().unwrap();
    let key = SkillKey::Id(knowhow_domain::SkillId(id));
    assert_eq!(skills::peek(&house.db, &alice, &key).await.unwrap().unwrap().skill.name, *a);
    assert_eq!(rows(&house, &alice, "skills").await, 0);
    let loaded = skills::load(
        &house.db,
        &alice,
        &key,
        LoadUse { session: None, taught_since: None, relations: None, now: now() },
    )
    .await
    .unwrap()
    .unwrap();
    assert_eq!((loaded.skill.name, loaded.times_used), (a.clone(), 1));
}
