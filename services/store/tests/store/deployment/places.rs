//! Tenants at several places: each is stored where it lives, and a tenant marked as living elsewhere is left alone.

use knowhow_domain::{Error, TenantSettings};
use knowhow_store::across::tenants::{self, NewTenant};
use knowhow_store::skills::starters;
use knowhow_store::{Database, DatabaseConfig, HOME_NAME, PlaceConfig, WriteTx, prune, skills};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::harness::{House, Place, config, gate, now, with_database};
use crate::writer::{Draft, named, peek, save};

/// Runs a test on a deployment with two places, `home` and `other`.
async fn with_places(test: impl AsyncFnOnce(&House, &Place)) {
    with_database(async |home| {
        with_database(async |other| {
            let place = PlaceConfig { name: "other".into(), url: other.login_url.as_str().into() };
            let settings = DatabaseConfig { places: vec![place], ..config(&home.login_url, 2, 2) };
            let db = Database::open(&settings).unwrap();
            let house = House { place: home.clone(), gate: gate(&db), db };
            test(&house, other).await;
            house.db.close().await;
        })
        .await;
    })
    .await;
}

fn mark(tenant: impl std::fmt::Display) -> String {
    format!("insert into tenants_elsewhere values ('{tenant}', 'leaving', 'test', now())")
}

#[tokio::test]
async fn all_data_of_a_tenant_are_at_its_place() {
    with_places(async |house, other| {
        let (here, there) = (house.tenant().await, house.tenant_at("other", &TenantSettings::default()).await);
        let (alice, bob) = (here.user("alice").await, there.user("bob").await);
        save(&house.db, &alice, &Draft::text("at-home", "Mine.")).await.unwrap();
        save(&house.db, &bob, &Draft::text("abroad", "Mine.")).await.unwrap();
        for (place, own, foreign) in [(&house.place, here.id, there.id), (other, there.id, here.id)] {
            for table in ["tenants", "issuers", "users", "skills", "audit_log"] {
                let count = |tenant| format!("select count(*) from {table} where tenant_id = '{tenant}'");
                assert!(place.count(&count(own.0)).await > 0, "{table}");
                assert_eq!(place.count(&count(foreign.0)).await, 0, "{table}");
            }
        }
        assert!(peek(&house.db, &bob, "abroad").await.is_some());
        assert!(peek(&house.db, &bob, "at-home").await.is_none());
    })
    .await;
}

#[tokio::test]
async fn a_slug_is_unique_over_all_places() {
    with_places(async |house, _| {
        let operator = house.gate.operator_at_shell(None).await.unwrap();
        let settings = json!({});
        let make = async |place| {
            let new = NewTenant { slug: "acme", name: "Acme", settings: &settings, place };
            tenants::create(&house.db, &operator, &new, now()).await
        };
        let (one, two) = tokio::join!(make(HOME_NAME), make("other"));
        let taken =
            [one, two].into_iter().filter(|made| matches!(made, Err(Error::Conflict { code: "tenant-exists", .. })));
        assert_eq!(taken.count(), 1);
        assert!(matches!(make("nowhere").await, Err(Error::Malformed(_))));
    })
    .await;
}

#[tokio::test]
async fn a_tenant_marked_as_elsewhere_is_refused_and_skipped() {
    with_places(async |house, other| {
        let (moved, stays) = (house.tenant().await, house.tenant().await);
        let (alice, bob) = (moved.user("alice").await, stays.user("bob").await);
        assert!(peek(&house.db, &alice, "late").await.is_none());
        let old = "insert into idempotency_keys (tenant_id, user_id, key, request_digest, created_at)
                   select tenant_id, user_id, 'old', '\\x00', now() - interval '1 year' from users";
        house.place.run(old).await;
        house.place.run(&mark(moved.id.0)).await;
        // Known and new users are refused.
        let refused = save(&house.db, &alice, &Draft::text("late", "Lost.")).await.err().unwrap();
        assert!(refused.to_string().contains("is being moved"), "{refused}");
        let connected = connections(&house.place).await;
        assert!(matches!(skills::peek(&house.db, &alice, &named("late")).await, Err(Error::Unavailable(_))));
        let still = connections(&house.place).await;
        assert!(connected.iter().all(|pid| still.contains(pid)), "a refused read has cost a connection");
        house.gate.state().forget_tenants();
        let newcomer = house.gate.authenticate(&moved.token("carol", "user"), None).await;
        assert!(matches!(newcomer, Err(Error::Unavailable(_))));
        save(&house.db, &bob, &Draft::text("kept", "Kept.")).await.unwrap();
        // Statements over all tenants leave the rows of the marked tenant unchanged.
        prune(&house.db, now(), 100).await.unwrap();
        let keys =
            |tenant| format!("select count(*) from idempotency_keys where key = 'old' and tenant_id = '{tenant}'");
        assert_eq!(house.place.count(&keys(moved.id.0)).await, 1);
        assert_eq!(house.place.count(&keys(stays.id.0)).await, 0);
        assert_eq!(other.count("select count(*) from tenants").await, 0);
        // Without the mark the tenant works again.
        house.place.run("delete from tenants_elsewhere").await;
        save(&house.db, &alice, &Draft::text("again", "Kept.")).await.unwrap();
    })
    .await;
}

/// Returns the server process ids of the service's connections.
async fn connections(place: &Place) -> Vec<i32> {
    let sql =
        "select pid from pg_stat_activity where datname = current_database() and application_name like 'knowhow%'";
    sqlx::query_scalar(sql).fetch_all(&mut place.owner().await).await.unwrap()
}

/// A move takes the lock of `app.require_here` exclusively, so it waits for transactions that began before the mark.
#[tokio::test]
async fn running_transactions_can_be_waited_for() {
    with_places(async |house, _| {
        let tenancy = house.tenant().await;
        let alice = tenancy.user("alice").await;
        let mut tx = WriteTx::begin(&house.db, &alice, "test").await.unwrap();
        starters::lock(&mut tx).await.unwrap();
        let mut owner = house.place.owner().await;
        let sql = format!(
            "select pg_try_advisory_lock(hashtext('tenant at work'), hashtext('{}'))::int::bigint",
            tenancy.id.0
        );
        assert_eq!(number(&mut owner, &sql).await, 0);
        tx.commit().await.unwrap();
        assert_eq!(number(&mut owner, &sql).await, 1);
        owner.close().await.unwrap();
    })
    .await;
}

async fn number(conn: &mut PgConnection, sql: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(conn).await.unwrap()
}
