//! Bringing the schema up to date: from nothing, again, at once, and never over something else.

use knowhow_store::{boot, migrate};

use crate::harness::{Place, open, with_database, with_empty_database};

async fn inspect(place: &Place) -> Option<String> {
    let db = open(&place.login_url, 1, 1);
    let finding = boot::inspect_migrations(&db).await.unwrap();
    db.close().await;
    finding
}

#[tokio::test]
async fn an_empty_database_is_brought_up_and_stays_so() {
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
async fn processes_that_start_at_once_bring_it_up_once() {
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

#[tokio::test]
async fn databases_of_one_server_can_be_brought_up_at_once() {
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
async fn a_schema_of_another_form_is_refused_in_words() {
    with_database(async |place| {
        place.run("update _sqlx_migrations set checksum = '\\x00' where version = 2").await;
        let finding = inspect(place).await;
        assert_eq!(finding.as_deref(), Some("migration 2 was applied in another form"));
        let refusal = migrate(&place.owner_url, None).await.unwrap_err();
        assert_eq!(refusal.code(), "migration-changed");
        let sentence = "migration 2 was applied in another form; this binary does not fit the database";
        assert_eq!(refusal.to_string(), sentence);
    })
    .await;
}

#[tokio::test]
async fn a_schema_that_lags_behind_is_told() {
    with_database(async |place| {
        place.run("delete from _sqlx_migrations where version = 3").await;
        assert_eq!(inspect(place).await.as_deref(), Some("1 migrations are missing: run knowhow migrate"));
    })
    .await;
}

#[tokio::test]
async fn a_server_out_of_reach_is_unavailable() {
    let refusal = migrate("postgres://nobody:none@127.0.0.1:1/none", None).await.unwrap_err();
    assert_eq!(refusal.code(), "unavailable");
}
