//! The audit log: no role of the service can change it, expired entries are removed, and an index finds the entries
//! of one user.

use chrono::TimeDelta;
use knowhow_domain::TenantSettings;
use knowhow_store::deployment::boot;
use knowhow_store::prune;
use sqlx::{AssertSqlSafe, Connection, Executor, Row};
use uuid::Uuid;

use crate::harness::{House, Place, now, with_database};

#[tokio::test]
async fn no_role_of_the_service_changes_an_entry() {
    let place = Place::shared().await;
    let (tenant, user) = (Uuid::now_v7(), Uuid::now_v7());
    place.run(&entry(&tenant.to_string(), user, 29)).await;
    let mut conn = place.login().await;
    for role in ["knowhow_tenant", "knowhow_admin", "knowhow_system", "knowhow_queue"] {
        let context =
            format!("set local role {role}; set local app.tenant_id = '{tenant}'; set local app.user_id = '{user}'");
        let delete = format!("delete from audit_log where tenant_id = '{tenant}'");
        for verb in ["update audit_log set actor = 'x'", &delete, "truncate audit_log"] {
            let mut tx = conn.begin().await.unwrap();
            (&mut *tx).execute(AssertSqlSafe(context.as_str())).await.unwrap();
            let outcome = (&mut *tx).execute(AssertSqlSafe(verb)).await;
            if role == "knowhow_system" && verb == delete {
                // The system role may prune the log, but no entry is old enough.
                assert_eq!(outcome.unwrap().rows_affected(), 0, "{role}: {verb}");
                continue;
            }
            let error = outcome.expect_err(verb);
            let code = error.as_database_error().and_then(|e| e.code().map(|code| code.into_owned()));
            assert_eq!(code.as_deref(), Some("42501"), "{role}: {verb}: {error}");
        }
    }
}

/// Returns a statement that inserts an entry that is `days` days old, with `days` as its action.
fn entry(tenant: &str, user: Uuid, days: i32) -> String {
    format!(
        "insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
         select '{tenant}', '{user}', (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000a' ||
                substr(md5(random()::text), 1, 15))::uuid, at, 'a', '{days}', 'c'
         from (select now() - interval '{days} days' as at) t;"
    )
}

/// Returns the ages of the tenant's remaining entries, in ascending order.
async fn ages(place: &Place, tenant: &str) -> Vec<String> {
    let sql = format!("select action from audit_log where tenant_id = '{tenant}' and actor = 'a' order by at desc");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_all(&mut place.owner().await).await.unwrap()
}

#[tokio::test]
async fn entries_are_removed_after_their_tenants_retention() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let usual = house.tenant().await.id.0.to_string();
        let brief = TenantSettings { audit_days: 60, ..TenantSettings::default() };
        let brief = house.tenant_with(&brief).await.id.0.to_string();
        let nobody = Uuid::nil().to_string();
        for tenant in [&usual, &brief, &nobody] {
            for days in [1, 31, 61, 399, 401, 402] {
                place.run(&entry(tenant, Uuid::now_v7(), days)).await;
            }
        }
        // One round removes at most one batch, over all tenants together.
        let first = prune(&house.db, now(), 3).await.unwrap();
        assert!(first.audit_entries == 3 && first.has_more(3));
        let rest = prune(&house.db, now(), 100).await.unwrap();
        assert_eq!(rest.audit_entries, 5);
        assert_eq!(ages(place, &usual).await, ["1", "31", "61", "399"]);
        assert_eq!(ages(place, &brief).await, ["1", "31"]);
        assert_eq!(ages(place, &nobody).await, ["1", "31", "61", "399"]);
        // A wrong clock, or a worker that gives a wrong time, removes no entry early.
        let late = prune(&house.db, now() + TimeDelta::days(1000), 100).await.unwrap();
        assert_eq!(late.audit_entries, 0);
        // A setting that no operator can give removes no entry early either.
        place.run("update tenants set settings = jsonb_set(settings, '{audit_days}', '0')").await;
        prune(&house.db, now(), 100).await.unwrap();
        assert_eq!(ages(place, &usual).await, ["1", "31", "61", "399"]);
        place.run("update tenants set settings = '{}'").await;
        place.run(&(entry(&usual, Uuid::now_v7(), 29) + &entry(&usual, Uuid::now_v7(), 40))).await;
        prune(&house.db, now(), 100).await.unwrap();
        assert_eq!(ages(place, &usual).await, ["1", "29", "31", "40", "61", "399"]);
        // Without the policy the service does not start.
        place.run("drop policy past_its_time on audit_log").await;
        let findings = boot::inspect(&house.db).await.unwrap();
        assert!(findings.len() == 1 && findings[0].contains("past_its_time"), "{findings:?}");
    })
    .await;
}

#[tokio::test]
async fn ended_keys_are_removed_after_a_month() {
    with_database(async |place| {
        let house = House::at(place, 2, 2);
        let tenant = house.tenant().await.id.0;
        for (name, expires, revoked) in [
            ("works", "null", "null"),
            ("works until later", "now() + interval '1 day'", "null"),
            ("expired lately", "now() - interval '29 days'", "null"),
            ("expired", "now() - interval '31 days'", "null"),
            ("revoked lately", "now() + interval '1 day'", "now() - interval '29 days'"),
            ("revoked", "now() + interval '1 day'", "now() - interval '31 days'"),
        ] {
            place
                .run(&format!(
                    "insert into api_keys (tenant_id, key_id, prefix, secret_hash, name, scopes, created_at, expires_at, revoked_at)
                     values ('{tenant}', gen_random_uuid(), 'p', '', '{name}', '{{}}', now(), {expires}, {revoked})"
                ))
                .await;
        }
        assert_eq!(prune(&house.db, now(), 100).await.unwrap().api_keys, 2);
        assert_eq!(place.count("select count(*) from api_keys where name in ('expired', 'revoked')").await, 0);
        assert_eq!(place.count("select count(*) from api_keys").await, 4);
    })
    .await;
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
    // Without statistics of the new rows Postgres could choose another index.
    place.run("analyze audit_log").await;
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
