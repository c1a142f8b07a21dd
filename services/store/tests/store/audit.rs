//! The audit log: nobody who serves can change it, and one user's page is found by an index.

use sqlx::{AssertSqlSafe, Connection, Executor, Row};
use uuid::Uuid;

use crate::harness::Place;

#[tokio::test]
async fn no_role_that_serves_changes_an_entry() {
    let place = Place::shared().await;
    let (tenant, user) = (Uuid::now_v7(), Uuid::now_v7());
    place
        .run(&format!(
            "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
             values ('{tenant}', '{user}', gen_random_uuid(), now(), 'a', 'b', 'c')"
        ))
        .await;
    let mut conn = place.login().await;
    for role in ["knowhow_tenant", "knowhow_admin", "knowhow_system", "knowhow_queue"] {
        for verb in ["update audit_log set actor = 'x'", "delete from audit_log", "truncate audit_log"] {
            let mut tx = conn.begin().await.unwrap();
            let context = format!(
                "set local role {role}; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'"
            );
            (&mut *tx).execute(AssertSqlSafe(context)).await.unwrap();
            let error = (&mut *tx).execute(verb).await.expect_err(verb);
            let code = error.as_database_error().and_then(|e| e.code().map(|code| code.into_owned()));
            assert_eq!(code.as_deref(), Some("42501"), "{role}: {verb}: {error}");
        }
    }
}

#[tokio::test]
async fn the_log_of_one_user_is_read_by_an_index() {
    let place = Place::shared().await;
    let (tenant, user) = (Uuid::now_v7(), Uuid::now_v7());
    place
        .run(&format!(
            "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
             select '{tenant}', case when i % 50 = 0 then '{user}'::uuid else gen_random_uuid() end, gen_random_uuid(), now(),
                    'a', 'b', 'c' from generate_series(1, 5000) i"
        ))
        .await;
    let mut conn = place.login().await;
    let mut tx = conn.begin().await.unwrap();
    let context =
        format!("set local role knowhow_admin; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'");
    (&mut *tx).execute(AssertSqlSafe(context)).await.unwrap();
    let sql = format!(
        "explain select * from audit_log l where l.tenant_id = '{tenant}' and l.user_id = '{user}'
           and l.audit_id < 'ffffffff-ffff-ffff-ffff-ffffffffffff' order by l.audit_id desc limit 51"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *tx).await.unwrap();
    let plan: String = rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect();
    assert!(plan.contains("audit_log_pkey") && !plan.contains("Filter: (user_id"), "{plan}");
}
