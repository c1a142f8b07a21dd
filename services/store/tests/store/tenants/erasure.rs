//! Erased users: all their rows are deleted, no other row is deleted, and a restored backup does not restore them.

use knowhow_domain::new_id;
use knowhow_store::note_restored;
use knowhow_store::tenants::erasures::{self, LedgerLine, Subject};
use sqlx::{AssertSqlSafe, Row};

use crate::harness::{Place, now, open, with_database};
use crate::rows::{self, Owner};

/// Returns the number of an owner's rows in every table with users.
async fn rows_of(place: &Place, owner: Owner) -> Vec<(String, i64)> {
    let mut conn = place.owner().await;
    let tables = "select t::text from app.tables_of_users() t order by 1";
    let mut counts = Vec::new();
    for table in sqlx::query(tables).fetch_all(&mut conn).await.unwrap() {
        let table: String = table.get(0);
        let sql =
            format!("select count(*) from {table} where tenant_id = '{}' and user_id = '{}'", owner.tenant, owner.user);
        let rows = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut conn).await.unwrap();
        counts.push((table, rows));
    }
    counts
}

/// Marks a user as erased, as the first step of an admin's request does.
async fn mark(place: &Place, owner: Owner) {
    let Owner { tenant, user, .. } = owner;
    place
        .run(&format!(
            "insert into erasures (tenant_id, erasure_id, subject_id, external_hash, reason, actor, requested_at)
             values ('{tenant}', '{}', '{user}', 'hash', 'a test', 'test', now());
             update users set external_id = chr(1) || user_id::text, erased_at = now()
             where tenant_id = '{tenant}' and user_id = '{user}'",
            new_id()
        ))
        .await;
}

fn subject(owner: Owner) -> Subject {
    Subject { tenant: owner.tenant.into(), user: owner.user.into() }
}

#[tokio::test]
async fn no_table_keeps_rows_of_an_erased_user() {
    with_database(async |place| {
        // A table that a later release adds, which the erasure must include by itself.
        place
            .run(
                "set role knowhow_owner;
                 create table later (tenant_id uuid, user_id uuid, n integer, primary key (tenant_id, user_id, n));
                 select app.protect('later')",
            )
            .await;
        let tenant = new_id();
        let (gone, other, namesake) = {
            let gone = Owner::new(tenant, new_id());
            (gone, Owner::new(tenant, new_id()), gone.namesake())
        };
        rows::seed(&mut place.owner().await, &[gone, other, namesake]).await;
        for owner in [gone, other, namesake] {
            let rows = format!(
                "insert into later select '{}', '{}', n from generate_series(1, 30) n",
                owner.tenant, owner.user
            );
            place.run(&rows).await;
        }
        let before = rows_of(place, gone).await;
        let empty: Vec<_> = before.iter().filter(|(_, rows)| *rows == 0).collect();
        assert!(before.len() > 40 && empty.is_empty(), "tables without a canary: {empty:?}");
        let kept = (rows_of(place, other).await, rows_of(place, namesake).await);

        let db = open(&place.login_url, 2, 1);
        // A user who is not in the ledger cannot be erased.
        assert!(erasures::take_step(&db, subject(gone), 7).await.is_err());
        assert_eq!(rows_of(place, gone).await, before);
        mark(place, gone).await;
        assert_eq!(erasures::list_unfinished(&db, now(), 10).await.unwrap(), [subject(gone)]);
        let mut steps = 0;
        loop {
            let removed = erasures::take_step(&db, subject(gone), 7).await.unwrap();
            assert!(removed <= 7, "{removed} in one step");
            if removed == 0 {
                break;
            }
            steps += 1;
        }
        assert!(steps > 5, "{steps}");
        erasures::note_finished(&db, subject(gone), now()).await.unwrap();
        let left: Vec<_> = rows_of(place, gone).await.into_iter().filter(|(_, rows)| *rows > 0).collect();
        assert_eq!(left, [("audit_log".to_owned(), 1)]);
        let entry = "select count(*) from audit_log where target = '' and detail = '{}' and salt is null
            and address is null and octet_length(erased_digest) = 32";
        assert_eq!(place.count(&format!("{entry} and user_id = '{}' and tenant_id = '{tenant}'", gone.user)).await, 1);
        assert_eq!((rows_of(place, other).await, rows_of(place, namesake).await), kept);
        assert_eq!(place.count(entry).await, 1);
        // A repeated step removes no row, and the erasure is no longer listed as unfinished.
        assert_eq!(erasures::take_step(&db, subject(gone), 7).await.unwrap(), 0);
        assert!(erasures::list_unfinished(&db, now(), 10).await.unwrap().is_empty());
        db.close().await;
    })
    .await;
}

/// A statement of a tenant's role cannot use the rights of the erasing function.
#[tokio::test]
async fn only_the_system_role_erases() {
    with_database(async |place| {
        let owner = Owner::new(new_id(), new_id());
        rows::seed(&mut place.owner().await, &[owner]).await;
        mark(place, owner).await;
        let mut login = place.login().await;
        for role in ["knowhow_tenant", "knowhow_admin", "knowhow_queue"] {
            let sql = format!(
                "begin; set local role {role}; set local app.tenant_id = '{}'; set local app.user_id = '{}';
                 set local app.erased_user = '{}'; select app.erase_step('{}', '{}', 1)",
                owner.tenant, owner.user, owner.user, owner.tenant, owner.user
            );
            let refused = sqlx::Executor::execute(&mut login, AssertSqlSafe(sql)).await.unwrap_err();
            assert!(refused.to_string().contains("permission denied"), "{role}: {refused}");
            sqlx::Executor::execute(&mut login, "rollback").await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_restored_backup_does_not_bring_erased_users_back() {
    with_database(async |place| {
        let tenant = new_id();
        let (gone, other) = (Owner::new(tenant, new_id()), Owner::new(tenant, new_id()));
        rows::seed(&mut place.owner().await, &[gone, other]).await;
        // The database is from before the erasure, which is only in the ledger that is stored elsewhere.
        let line = LedgerLine {
            tenant_id: tenant,
            erasure_id: new_id(),
            subject_id: gone.user,
            external_hash: "ab".repeat(32),
            reason: "a test".into(),
            actor: "test".into(),
            requested_at: now(),
        };
        let strange = LedgerLine { tenant_id: new_id(), erasure_id: new_id(), ..line.clone() };
        let ledger = [line, strange];
        let done = note_restored(&place.owner_url, &ledger).await.unwrap();
        assert_eq!((done.users, done.erased), (2, 1));
        let lifted =
            "select count(*) from user_catalogs where revision >= 4294967296 and examples_revision >= 4294967296";
        assert_eq!(place.count(lifted).await, 2);
        assert_eq!(place.count("select count(*) from tenants where erasures >= 4294967296").await, 1);
        assert_eq!(note_restored(&place.owner_url, &ledger).await.unwrap().erased, 0);

        let db = open(&place.login_url, 2, 1);
        assert_eq!(erasures::list_unfinished(&db, now(), 10).await.unwrap(), [subject(gone)]);
        while erasures::take_step(&db, subject(gone), 500).await.unwrap() > 0 {}
        let left: Vec<_> = rows_of(place, gone).await.into_iter().filter(|(_, rows)| *rows > 0).collect();
        assert_eq!(left, [("audit_log".to_owned(), 1)]);
        assert!(rows_of(place, other).await.iter().all(|(_, rows)| *rows > 0));
        let forced = "select count(*) from pg_class where relname in ('users', 'user_catalogs', 'tenants', 'erasures')
            and relforcerowsecurity";
        assert_eq!(place.count(forced).await, 4);
        db.close().await;
    })
    .await;
}
