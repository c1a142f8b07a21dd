//! Migrations: of an empty database, repeated, concurrent, and refused for a schema with other contents.

use knowhow_store::deployment::boot;
use knowhow_store::migrate;
use knowhow_testing::poll_async;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor, Row};

use crate::deployment::carried::migrate_to_before;
use crate::harness::{Place, open, with_database, with_empty_database};

async fn inspect(place: &Place) -> Option<String> {
    let db = open(&place.login_url, 1, 1);
    let finding = boot::inspect_migrations(&db).await.unwrap();
    db.close().await;
    finding
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

/// A reader of a table waits behind a migration that waits for a lock on the table. The reader waits for a moment
/// only, not until the holder of the lock has ended.
#[tokio::test]
async fn a_migration_that_waits_for_a_lock_lets_readers_pass() {
    with_empty_database(async |place| {
        migrate_to_before(place, 34).await;
        let (mut holder, mut reader) = (place.owner().await, place.owner().await);
        holder.execute("begin; lock table sessions in access share mode").await.unwrap();
        let migration = migrate(&place.owner_url, Some(&place.login));
        let pass = async {
            let waiting = "select count(*) from pg_locks where relation = 'sessions'::regclass and not granted";
            poll_async("the migration to wait", async || (place.count(waiting).await > 0).then_some(())).await;
            reader.execute("set statement_timeout = '20s'; select count(*) from sessions").await.unwrap();
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

#[tokio::test]
async fn a_schema_with_changed_migrations_is_refused() {
    with_database(async |place| {
        place.run("update _sqlx_migrations set checksum = '\\x00' where version = 2").await;
        let finding = inspect(place).await;
        assert_eq!(finding.as_deref(), Some("migration 2 was applied with other contents"));
        let refusal = migrate(&place.owner_url, None).await.unwrap_err();
        assert_eq!(refusal.code(), "migration-changed");
        let sentence = "migration 2 was applied with other contents; this binary does not match the database";
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

/// Returns the columns of all tables with a `tenant_id`, ordered by table.
async fn columns(place: &Place) -> Vec<(String, String)> {
    let sql = "select c.table_name::text, c.column_name::text from information_schema.columns c
        join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and exists (
            select from information_schema.columns o
            where o.table_schema = 'public' and o.table_name = c.table_name and o.column_name = 'tenant_id')
        order by 1, c.ordinal_position";
    sqlx::query_as(sql).fetch_all(&mut place.owner().await).await.unwrap()
}

/// Tables whose rows a migration changes or removes on purpose. The comparison leaves them out.
const CHANGED_ON_PURPOSE: &[&str] = &[
    // No user had set the decay rate of a skill, so the migration lets all skills follow the tenant's rate.
    "skills",
];

#[tokio::test]
async fn migrations_keep_existing_rows() {
    with_empty_database(async |place| {
        migrate_to_before(place, 17).await;
        place.run(include_str!("rows_of_0016.sql")).await;
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

/// Histories used to store the names of users. They now store ids, and show the same names.
#[tokio::test]
async fn actors_are_stored_by_id() {
    const TENANT: &str = "00000000-0000-7000-8000-00000000000a";
    const ALICE: &str = "00000000-0000-7000-8000-00000000000b";
    let entry = |n: u32, actor: &str, action: &str, target: &str| {
        format!(
            "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
             values ('{TENANT}', '{ALICE}', '00000000-0000-7000-8000-0000000001{n:02}', now(), '{actor}', '{action}', '{target}')"
        )
    };
    with_empty_database(async |place| {
        migrate_to_before(place, 43).await;
        place
            .run(&format!(
                "insert into tenants (tenant_id, slug, name, created_at) values ('{TENANT}', 'acme', 'Acme', now());
                 insert into users (tenant_id, user_id, external_id, created_at) values ('{TENANT}', '{ALICE}', 'alice for a', now());
                 insert into souls (tenant_id, user_id, version, content, actor, tainted, created_at)
                 values ('{TENANT}', '{ALICE}', 1, 'Be brief.', 'user:alice for a', false, now())"
            ))
            .await;
        for (n, (actor, action, target)) in [
            ("user:alice for a", "user.create", "alice for a"),
            ("key:a1b2c3d4e5f6 for alice for a", "skill.save", "alice for a"),
            ("shell for alice for a", "audit.read", "alice for a"),
            ("operator:alice for a", "tenant.read", "keys"),
        ]
        .into_iter()
        .enumerate()
        {
            place.run(&entry(u32::try_from(n).unwrap(), actor, action, target)).await;
        }
        migrate(&place.owner_url, None).await.unwrap();
        let sql = "select actor || ' ' || action || ' ' || target from audit_log order by audit_id";
        let kept: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut place.owner().await).await.unwrap();
        assert_eq!(
            kept,
            [
                format!("user:{ALICE} user.create {ALICE}"),
                format!("key:a1b2c3d4e5f6 for {ALICE} skill.save alice for a"),
                format!("shell for {ALICE} audit.read {ALICE}"),
                "operator:alice for a tenant.read keys".to_owned(),
            ]
        );
        assert_eq!(place.count(&format!("select count(*) from souls where actor = 'user:{ALICE}'")).await, 1);
        let sql = format!(
            "begin; set local role knowhow_tenant; set local app.tenant_id = '{TENANT}'; set local app.user_id = '{TENANT}'"
        );
        let mut conn = place.owner().await;
        sqlx::Executor::execute(&mut conn, AssertSqlSafe(sql)).await.unwrap();
        let shown = "select app.shown_actor(a) from unnest($1::text[]) a";
        let actors = [format!("key:a1b2c3d4e5f6 for {ALICE}"), format!("user:{TENANT}"), "job:dream".to_owned()];
        let shown: Vec<String> = sqlx::query_scalar(shown).bind(&actors[..]).fetch_all(&mut conn).await.unwrap();
        assert_eq!(shown, ["key:a1b2c3d4e5f6 for alice for a", &actors[1], "job:dream"]);
    })
    .await;
}
