//! Migration of users who had their own copies of the starters.

use std::path::{Path, PathBuf};

use knowhow_domain::new_id;
use knowhow_domain::skills::manifest;
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::skills::{starters, versions};
use knowhow_store::{Principal, WriteTx, migrate};
use sqlx::migrate::Migrator;
use uuid::Uuid;

use crate::harness::{House, Place, now, with_empty_database};
use crate::skills::starters::body;
use crate::writer::{Draft, Keep, delete, document, named, peek, save};

/// Columns that later migrations add to tenants and users.
const NEWER: [(&str, &str, &str); 8] = [
    ("tenants", "user_count", "integer not null default 0"),
    ("tenants", "library", "integer[]"),
    ("tenants", "erasures", "bigint not null default 0"),
    ("tenants", "suspended_at", "timestamptz"),
    ("tenants", "suspended_reason", "text"),
    ("users", "erased_at", "timestamptz"),
    ("users", "suspended_at", "timestamptz"),
    ("users", "suspended_reason", "text"),
];

/// Applies all migrations before `version`.
pub async fn migrate_to_before(place: &Place, version: i64) {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
    let some = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("migrations-{}", new_id().simple()));
    std::fs::create_dir(&some).unwrap();
    for entry in std::fs::read_dir(all).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.split('_').next().and_then(|number| number.parse::<i64>().ok()).is_some_and(|number| number < version) {
            std::fs::copy(entry.path(), some.join(name)).unwrap();
        }
    }
    Migrator::new(some.as_path()).await.unwrap().run(&mut place.owner().await).await.unwrap();
    std::fs::remove_dir_all(some).unwrap();
}

fn bytea(bytes: &[u8]) -> String {
    format!("'\\x{}'::bytea", manifest::hex(bytes))
}

/// A starter as a user had it: the SKILL.md of each version, the last one current.
struct Had<'a> {
    name: &'a str,
    texts: Vec<String>,
    /// The resources of the last version, as JSON.
    resources: &'a str,
}

/// Returns the rows of one starter as the earlier service wrote them.
fn rows_of(user: &Principal, had: &Had<'_>) -> String {
    let owner = format!("'{}', '{}'", user.tenant().0, user.user().unwrap().0);
    let (id, Had { name, texts, resources }) = (Uuid::now_v7(), had);
    let digest = |text: &str| bytea(&manifest::digest(text.as_bytes()));
    let (last, version) = (texts.last().unwrap(), texts.len());
    let cut = last.rfind("---\n").unwrap() + 4;
    let mut sql = format!(
        "insert into starter_installs values ({owner}, '{name}', {}, now());\n",
        digest(body(name, "Given.").raw())
    );
    for text in texts {
        sql += &format!(
            "insert into skill_resources values ({owner}, {}, {}) on conflict do nothing;\n",
            digest(text),
            bytea(text.as_bytes())
        );
    }
    sql += &format!(
        "insert into skills (tenant_id, user_id, skill_id, name, description, tags, triggers, see_also, attributes, source,
             pinned, version, digest, document_digest, document_bytes, frontmatter_at_byte, frontmatter_end_at_byte,
             content_at_byte, resources, resource_bytes, created_at, updated_at, frontmatter)
         values ({owner}, '{id}', '{name}', 'What {name} is for', '{{}}', '{{}}', '{{}}', '{{}}', 'starter', true, {version},
             sha256('state'), {digest}, {bytes}, 4, {end}, {cut}, '{resources}', 0, now(), now(), '{{\"name\": \"x\"}}');
         insert into skill_usage values ({owner}, '{id}', 3);
         insert into skill_embeddings values ({owner}, '{id}', 'm', '\\x00', '[1,0]', now());\n",
        digest = digest(last),
        bytes = last.len(),
        end = cut - 4,
    );
    for (at, text) in texts.iter().enumerate() {
        let (change, resources) =
            (if at == 0 { "sync" } else { "save" }, if at + 1 == version { resources } else { "[]" });
        sql += &format!(
            "insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, document_digest,
                 document_bytes, resources, created_at)
             values ({owner}, '{id}', {}, '{change}', 'test', sha256('state'), {}, {}, '{resources}', now());\n",
            at + 1,
            digest(text),
            text.len()
        );
    }
    sql
}

/// Returns the text of a starter as it was given.
fn given(name: &str) -> String {
    body(name, "Given.").raw().to_owned()
}

/// Returns the text of a starter as a user changed it.
fn own(name: &str) -> String {
    document(name, "Mine.").raw().to_owned()
}

/// Returns the earlier text of the starter `renewed`.
fn older() -> String {
    document("renewed", "Older.").raw().to_owned()
}

/// Asserts that bob has his texts and their versions.
async fn check_texts(house: &House, bob: &Principal) {
    for (name, version, text) in [
        ("kept", 1, given("kept")),
        ("changed", 2, own("changed")),
        ("back", 3, given("back")),
        ("filed", 2, given("filed")),
    ] {
        let loaded = peek(&house.db, bob, name).await.unwrap();
        assert_eq!((loaded.skill.version, &loaded.skill.document), (version, &text), "{name}");
        assert_eq!((loaded.skill.pinned, loaded.times_used, loaded.skill.source.as_str()), (true, 3, "starter"));
        assert_eq!(loaded.skill.description, format!("What {name} is for"));
        assert_eq!(loaded.skill.content(), &text[loaded.skill.cuts[2]..]);
        assert_eq!(loaded.skill.resources.len(), usize::from(name == "filed"));
        let mut tx = WriteTx::begin(&house.db, bob, "test").await.unwrap();
        let past = versions::list(&mut tx, loaded.skill.id, None, 10).await.unwrap();
        assert_eq!(past.iter().map(|row| row.version).collect::<Vec<_>>(), (1..=version).rev().collect::<Vec<_>>());
        let first = versions::find(&mut tx, loaded.skill.id, 1).await.unwrap().unwrap();
        assert_eq!(first.document, given(name));
    }
    assert!(peek(&house.db, bob, "gone").await.is_none());
}

/// Asserts that carol and dave have each version of the starter `renewed`.
async fn check_renewed(house: &House, carol: &Principal, dave: &Principal) {
    for (user, version) in [(carol, 3), (dave, 1)] {
        let loaded = peek(&house.db, user, "renewed").await.unwrap();
        assert_eq!((loaded.skill.version, &loaded.skill.document), (version, &older()));
        let mut tx = WriteTx::begin(&house.db, user, "test").await.unwrap();
        for (version, text) in [(1, older()), (2, given("renewed")), (3, older())].into_iter().take(version as usize) {
            assert_eq!(versions::find(&mut tx, loaded.skill.id, version).await.unwrap().unwrap().document, text);
        }
    }
}

/// Asserts that later operations work: bob saves and deletes starters, and alice's unchanged starters have the given
/// text.
async fn check_ways_on(house: &House, alice: &Principal, bob: &Principal) {
    let mut tx = WriteTx::begin(&house.db, bob, "test").await.unwrap();
    assert!(!starters::lend(&mut tx, b"two", now()).await.unwrap());
    tx.commit().await.unwrap();
    save(&house.db, bob, &Draft::text("kept", "Mine.")).await.unwrap();
    let texts = peek(&house.db, bob, "kept").await.unwrap().skill;
    assert_eq!((texts.version, texts.document), (2, own("kept")));
    assert!(delete(&house.db, bob, "back", Keep::a_month()).await.unwrap());
    assert_eq!(
        skills::raw(&house.db, alice, &SkillKey::Name("back".into())).await.unwrap().unwrap().content,
        given("back").into_bytes()
    );
    assert_eq!(skills::peek(&house.db, alice, &named("kept")).await.unwrap().unwrap().skill.version, 1);
}

#[tokio::test]
async fn existing_users_keep_their_skills_and_free_the_space() {
    with_empty_database(async |place| {
        migrate_to_before(place, 10).await;
        let house = House::at(place, 2, 1);
        // The current code creates tenants and users with columns that later migrations add, so the test adds the
        // columns first.
        for (table, column, kind) in NEWER {
            place.run(&format!("alter table {table} add column {column} {kind}")).await;
        }
        place
            .run("create table tenants_elsewhere (tenant uuid); grant select on tenants_elsewhere to knowhow_system")
            .await;
        let tenancy = house.tenant().await;
        let (alice, bob) = (tenancy.user("alice").await, tenancy.user("bob").await);
        let file = manifest::hex(&manifest::digest(b"a file"));
        let filed = format!(r#"[{{"path": "a.md", "media_type": "text/markdown", "size": 6, "digest": "{file}"}}]"#);
        let had = [
            Had { name: "kept", texts: vec![given("kept")], resources: "[]" },
            Had { name: "changed", texts: vec![given("changed"), own("changed")], resources: "[]" },
            Had { name: "back", texts: vec![given("back"), own("back"), given("back")], resources: "[]" },
            Had { name: "filed", texts: vec![given("filed"), given("filed")], resources: &filed },
        ];
        // Carol was given another text and went back to the earlier one, which dave still has unchanged.
        let (carol, dave) = (tenancy.user("carol").await, tenancy.user("dave").await);
        let renewed = |texts| Had { name: "renewed", texts, resources: "[]" };
        place.run(&rows_of(&carol, &renewed(vec![older(), given("renewed"), older()]))).await;
        place.run(&rows_of(&dave, &renewed(vec![older()]))).await;
        let digest = bytea(&manifest::digest(older().as_bytes()));
        let user = dave.user().unwrap().0;
        place.run(&format!("update starter_installs set document_digest = {digest} where user_id = '{user}'")).await;
        for user in [&alice, &bob] {
            for had in &had {
                let untouched = Had { texts: vec![given(had.name)], resources: "[]", ..*had };
                place
                    .run(&rows_of(user, if user.external_id() == alice.external_id() { &untouched } else { had }))
                    .await;
            }
            let (tenant, user) = (user.tenant().0, user.user().unwrap().0);
            place
                .run(&format!(
                    "insert into starter_installs values ('{tenant}', '{user}', 'gone', sha256('gone'), now());
                 update user_catalogs set starters_release = '\\x01', skill_count = 4, byte_count = (
                     select sum(document_bytes) from skills where user_id = '{user}') where user_id = '{user}'"
                ))
                .await;
        }

        for (table, column, _) in NEWER {
            place.run(&format!("alter table {table} drop column {column}")).await;
        }
        place.run("drop table tenants_elsewhere").await;
        migrate(&place.owner_url, None).await.unwrap();

        check_texts(&house, &bob).await;
        check_renewed(&house, &carol, &dave).await;
        // Bob's own texts: two that he wrote, and one of a version with other files.
        let bob_has = |what: &str| format!("select count(*) from {what} and user_id = '{}'", bob.user().unwrap().0);
        assert_eq!(place.count(&bob_has("skills where starter_id is not null")).await, 2);
        assert_eq!(place.count(&bob_has("skill_resources where true")).await, 3);
        assert_eq!(place.count(&bob_has("skill_embeddings where true")).await, 2);
        assert_eq!(place.count("select count(*) from starter_texts").await, 5);

        check_ways_on(&house, &alice, &bob).await;
        house.db.close().await;
    })
    .await;
}
