//! Migrations: of an empty database, repeated, concurrent, and refused for a schema with other contents.

use std::path::{Path, PathBuf};

use knowhow_domain::new_id;
use knowhow_store::deployment::boot;
use knowhow_store::migrate;
use knowhow_testing::poll_async;
use serde_json::Value;
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Executor, Row};

use crate::harness::{Place, open, with_database, with_empty_database};

async fn inspect(place: &Place) -> Option<String> {
    let db = open(&place.login_url, 1, 1);
    let finding = boot::inspect_migrations(&db).await.unwrap();
    db.close().await;
    finding
}

/// Applies all migrations before `version`.
async fn migrate_to_before(place: &Place, version: i64) {
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

#[tokio::test]
async fn an_empty_database_is_migrated_once() {
    with_empty_database(async |place| {
        assert_eq!(inspect(place).await.as_deref(), Some("the schema is missing: run knowhow migrate"));
        migrate(&place.owner_url, None).await.unwrap();
        assert_eq!(inspect(place).await, None);
        let tables = "select count(*) from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'";
        let before = place.count(tables).await;
        migrate(&place.owner_url, None).await.unwrap();
        assert_eq!(inspect(place).await, None);
        assert_eq!(place.count(tables).await, before);
    })
    .await;
}

#[tokio::test]
async fn processes_that_start_together_migrate_once() {
    with_empty_database(async |place| {
        let start = || migrate(&place.owner_url, Some(&place.login));
        let (a, b, c, d) = tokio::join!(start(), start(), start(), start());
        for outcome in [a, b, c, d] {
            outcome.unwrap_or_else(|e| panic!("{e}: {:?}", std::error::Error::source(&e)));
        }
        assert_eq!(inspect(place).await, None);
        assert_eq!(place.count("select count(*) - count(distinct version) from _sqlx_migrations").await, 0);
    })
    .await;
}

/// Another process may start between the creation of the list of migrations and the end of the first migration.
#[tokio::test]
async fn a_migration_interrupted_before_the_first_step_continues() {
    with_empty_database(async |place| {
        migrate_to_before(place, 1).await;
        migrate(&place.owner_url, Some(&place.login)).await.unwrap();
        assert_eq!(inspect(place).await, None);
    })
    .await;
}

/// A writer of a table waits behind a migration that waits for a lock on the table. The writer waits for a moment
/// only, not until the holder of the lock has ended.
#[tokio::test]
async fn a_migration_that_waits_for_a_lock_lets_writers_pass() {
    with_empty_database(async |place| {
        // The foreign keys of the next migration lock the table `sessions` against writers.
        migrate_to_before(place, 6).await;
        let (mut holder, mut writer) = (place.owner().await, place.owner().await);
        holder.execute("begin; lock table sessions in row exclusive mode").await.unwrap();
        let migration = migrate(&place.owner_url, Some(&place.login));
        let pass = async {
            let waiting = "select count(*) from pg_locks where relation = 'sessions'::regclass and not granted";
            poll_async("the migration to wait", async || (place.count(waiting).await > 0).then_some(())).await;
            writer.execute("set statement_timeout = '20s'; delete from sessions").await.unwrap();
            holder.execute("commit").await.unwrap();
        };
        let (migrated, ()) = tokio::join!(migration, pass);
        migrated.unwrap();
        assert_eq!(inspect(place).await, None);
    })
    .await;
}

#[tokio::test]
async fn databases_of_one_server_can_be_migrated_concurrently() {
    with_empty_database(async |one| {
        with_empty_database(async |two| {
            with_empty_database(async |three| {
                let start = |place: &Place| {
                    let place = place.clone();
                    async move { migrate(&place.owner_url, Some(&place.login)).await }
                };
                let (a, b, c) = tokio::join!(start(one), start(two), start(three));
                for outcome in [a, b, c] {
                    outcome.unwrap_or_else(|e| panic!("{e}: {:?}", std::error::Error::source(&e)));
                }
            })
            .await;
        })
        .await;
    })
    .await;
}

/// Asserts that `migrate` and the checks before the service starts refuse the database of a development version.
async fn refuse_as_of_development(place: &Place, version: i64) {
    let sentence = format!(
        "migration {version} was applied with other contents: a development version from before 0.1.0 made this database; \
         make a new database and import an export, which the program that made this one can write"
    );
    assert_eq!(inspect(place).await.as_ref(), Some(&sentence));
    let refusal = migrate(&place.owner_url, None).await.unwrap_err();
    assert_eq!((refusal.code(), refusal.to_string()), ("migration-changed", sentence));
}

#[tokio::test]
async fn a_schema_with_changed_migrations_is_refused() {
    with_database(async |place| {
        place.run("update _sqlx_migrations set checksum = '\\x00' where version = 2").await;
        refuse_as_of_development(place, 2).await;
        place.run("delete from _sqlx_migrations where version = 3").await;
        refuse_as_of_development(place, 2).await;
    })
    .await;
}

/// The development versions before 0.1.0 had 58 migrations, with other contents.
#[tokio::test]
async fn a_database_of_a_development_version_is_refused() {
    with_database(async |place| {
        place
            .run(
                "update _sqlx_migrations set checksum = '\\x00';
                 insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 select n, 'bounds', true, '\\x00', 0 from generate_series(13, 68) n",
            )
            .await;
        refuse_as_of_development(place, 1).await;
    })
    .await;
}

/// A newer version has migrated the database. This one can serve it, but not migrate it.
#[tokio::test]
async fn a_database_of_a_newer_version_is_served_and_not_migrated() {
    with_database(async |place| {
        place
            .run(
                "insert into _sqlx_migrations (version, description, success, checksum, execution_time)
                 values (9999, 'later', true, '\\x00', 0)",
            )
            .await;
        assert_eq!(inspect(place).await, None);
        let refusal = migrate(&place.owner_url, None).await.unwrap_err();
        assert_eq!(refusal.code(), "migration-unknown");
        let sentence = "migration 9999 was applied by a newer version of Knowhow; run that version or a newer one";
        assert_eq!(refusal.to_string(), sentence);
    })
    .await;
}

#[tokio::test]
async fn missing_migrations_are_reported() {
    with_database(async |place| {
        place.run("delete from _sqlx_migrations where version = 3").await;
        assert_eq!(inspect(place).await.as_deref(), Some("1 migrations are missing: run knowhow migrate"));
    })
    .await;
}

#[tokio::test]
async fn an_unreachable_server_is_unavailable() {
    let refusal = migrate("postgres://nobody:none@127.0.0.1:1/none", None).await.unwrap_err();
    assert_eq!(refusal.code(), "unavailable");
}

/// Returns every row of every tenant table, with the table's name. If `columns` is given, a row has only these
/// columns.
async fn rows(place: &Place, columns: Option<&[(String, String)]>) -> Vec<(String, Value)> {
    let mut owner = place.owner().await;
    let mut rows = Vec::new();
    for table in tables(place).await {
        let sql = format!("select to_jsonb(t) from {table} t");
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut owner).await.unwrap() {
            let mut row: Value = row.get(0);
            if let Some(columns) = columns {
                let is_there = |name: &str| columns.iter().any(|(of, column)| *of == table && column == name);
                row.as_object_mut().unwrap().retain(|name, _| is_there(name));
            }
            rows.push((table.clone(), row));
        }
    }
    rows
}

async fn tables(place: &Place) -> Vec<String> {
    let mut names: Vec<String> = columns(place).await.into_iter().map(|(table, _)| table).collect();
    names.dedup();
    names
}

/// Returns the columns of all tables with a `tenant_id`, ordered by table. The rows of partitions are those of their
/// table.
async fn columns(place: &Place) -> Vec<(String, String)> {
    let sql = "select c.relname::text, a.attname::text from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and exists (
            select from pg_attribute o where o.attrelid = c.oid and o.attname = 'tenant_id' and not o.attisdropped)
        order by 1, a.attnum";
    sqlx::query_as(sql).fetch_all(&mut place.owner().await).await.unwrap()
}

/// Tables whose rows a migration changes or removes on purpose. The comparison leaves them out.
const CHANGED_ON_PURPOSE: &[&str] = &[];

#[tokio::test]
async fn migrations_keep_existing_rows() {
    with_empty_database(async |place| {
        migrate_to_before(place, 13).await;
        place.run(include_str!("rows_of_0012.sql")).await;
        let filled: Vec<String> = rows(place, None).await.into_iter().map(|(table, _)| table).collect();
        let empty: Vec<String> = tables(place).await.into_iter().filter(|table| !filled.contains(table)).collect();
        assert_eq!(empty, Vec::<String>::new(), "tables without a row");
        let (columns_before, all_before) = (columns(place).await, rows(place, None).await);
        migrate(&place.owner_url, None).await.unwrap();
        assert_eq!(inspect(place).await, None);
        let columns_after = columns(place).await;
        let after = rows(place, Some(&columns_before)).await;
        for (table, mut row) in all_before {
            let is_there = |name: &str| columns_after.iter().any(|(of, column)| *of == table && column == name);
            row.as_object_mut().unwrap().retain(|name, _| is_there(name));
            let is_kept = after.iter().any(|(of, kept)| *of == table && *kept == row);
            assert!(is_kept || CHANGED_ON_PURPOSE.contains(&table.as_str()), "{table}: {row}");
        }
    })
    .await;
}

/// Histories store actors by the ids of users, and show the names.
#[tokio::test]
async fn actors_are_shown_by_name() {
    const TENANT: &str = "00000000-0000-7000-8000-00000000000a";
    const ALICE: &str = "00000000-0000-7000-8000-00000000000b";
    with_database(async |place| {
        place
            .run(&format!(
                "insert into tenants (tenant_id, slug, name, created_at) values ('{TENANT}', 'acme', 'Acme', now());
                 insert into users (tenant_id, user_id, external_id, created_at) values ('{TENANT}', '{ALICE}', 'alice for a', now())"
            ))
            .await;
        let sql = format!(
            "begin; set local role knowhow_tenant; set local app.tenant_id = '{TENANT}'; set local app.user_id = '{TENANT}'"
        );
        let mut conn = place.owner().await;
        conn.execute(AssertSqlSafe(sql)).await.unwrap();
        let shown = "select app.shown_actor(a) from unnest($1::text[]) a";
        let actors = [format!("key:a1b2c3d4e5f6 for {ALICE}"), format!("user:{TENANT}"), "job:dream".to_owned()];
        let shown: Vec<String> = sqlx::query_scalar(shown).bind(&actors[..]).fetch_all(&mut conn).await.unwrap();
        assert_eq!(shown, ["key:a1b2c3d4e5f6 for alice for a", &actors[1], "job:dream"]);
    })
    .await;
}
