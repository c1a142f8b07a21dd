//! Isolation: no statement of a caller reads, counts, changes or deletes rows of another owner.

use sqlx::{AssertSqlSafe, Executor};

use crate::harness::{Place, with_database};
use crate::vault::matrix::{self, Cast, Frame};

#[tokio::test]
async fn every_table_restricts_rows_to_their_owner() {
    let place = Place::shared().await;
    let mut owner = place.owner().await;
    let cast = Cast::seed(&mut owner).await;
    let tables = matrix::tables(&mut owner).await;
    assert!(tables.len() >= 16, "the catalogue was not read: {tables:?}");
    let findings = matrix::findings(&mut place.login().await, Frame::Transaction, &cast, &tables).await;
    assert_eq!(findings, Vec::<String>::new());
}

#[tokio::test]
async fn policies_hold_even_with_excessive_grants() {
    with_database(async |place| {
        let mut owner = place.owner().await;
        grant_everything(place).await;
        let cast = Cast::seed(&mut owner).await;
        let tables = matrix::tables(&mut owner).await;
        let findings = matrix::findings(&mut place.login().await, Frame::Transaction, &cast, &tables).await;
        assert_eq!(findings, Vec::<String>::new());
    })
    .await;
}

/// Grants everything, so that only the policies can refuse.
pub async fn grant_everything(place: &Place) {
    place.run("grant all on all tables in schema public to knowhow_tenant, knowhow_admin, knowhow_system").await;
}

#[tokio::test]
async fn a_missing_context_is_an_error_even_for_empty_tables() {
    with_database(async |place| {
        grant_everything(place).await;
        let tables = matrix::tables(&mut place.owner().await).await;
        let mut findings = Vec::new();
        for role in ["knowhow_tenant", "knowhow_admin"] {
            for table in tables.iter().filter(|t| t.of_users || role == "knowhow_admin") {
                // A new connection never had the setting. After a transaction the setting reads as an empty string.
                let mut fresh = place.login().await;
                for before in ["never set", "set and gone"] {
                    let begin = format!("begin; set local role {role}");
                    fresh.execute(AssertSqlSafe(begin)).await.unwrap();
                    let rows = fresh.execute(AssertSqlSafe(format!("select * from {}", table.name))).await;
                    if !rows.as_ref().is_err_and(|e| e.to_string().contains("no tenant context")) {
                        findings.push(format!("{} as {role}, context {before}: {rows:?}", table.name));
                    }
                    fresh.execute("rollback; begin; set local app.tenant_id = 'x'; rollback").await.unwrap();
                }
            }
        }
        assert_eq!(findings, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn the_login_role_cannot_access_any_table() {
    let place = Place::shared().await;
    let tables = matrix::tables(&mut place.owner().await).await;
    let mut login = place.login().await;
    for table in tables {
        let verbs: &[&str] =
            if table.is_view { &["select * from"] } else { &["select * from", "delete from", "truncate"] };
        for verb in verbs {
            let error = login.execute(AssertSqlSafe(format!("{verb} {}", table.name))).await.unwrap_err();
            let code = error.as_database_error().and_then(|e| e.code().map(|c| c.into_owned()));
            assert_eq!(code.as_deref(), Some("42501"), "{verb} {}: {error}", table.name);
        }
    }
}
