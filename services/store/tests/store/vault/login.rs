//! The login role of the service, and roles that may migrate. Roles belong to the whole server, so its databases must
//! not affect one another.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt;
use knowhow_domain::new_id;
use knowhow_store::deployment::boot;
use knowhow_store::{Login, migrate};
use sqlx::{Connection, PgConnection};

use crate::harness::{House, Place, open, with_empty_database};

async fn lets_in(url: &str) -> bool {
    PgConnection::connect(url).await.is_ok()
}

async fn findings(url: &str) -> Vec<String> {
    let db = open(url, 1, 1);
    let findings = boot::inspect(&db).await.unwrap();
    db.close().await;
    findings
}

/// Runs `test` with the name of a role that does not exist yet. Drops the role afterwards, when its databases are
/// gone.
async fn with_name(test: impl AsyncFnOnce(&str)) {
    let role = format!("knowhow_test_{}", new_id().simple());
    let outcome = AssertUnwindSafe(test(&role)).catch_unwind().await;
    Place::shared().await.run(&format!("drop role if exists {role}")).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic));
}

fn login(role: &str, password: &str) -> Login {
    Login { role: role.to_owned(), password: Some(password.into()), set_password: false }
}

#[tokio::test]
async fn a_second_database_keeps_the_password_of_the_first() {
    with_name(async |role| {
        with_empty_database(async |production| {
            migrate(&production.owner_url, Some(&login(role, "first"))).await.unwrap();
            let url = production.login_url_of(role, "first");
            assert!(lets_in(&url).await, "the role is made with the password");
            with_empty_database(async |staging| {
                migrate(&staging.owner_url, Some(&login(role, "second"))).await.unwrap();
                assert!(lets_in(&url).await && !lets_in(&production.login_url_of(role, "second")).await);
                let asked = Login { set_password: true, ..login(role, "second") };
                migrate(&staging.owner_url, Some(&asked)).await.unwrap();
                assert!(!lets_in(&url).await && lets_in(&production.login_url_of(role, "second")).await);
                let unknown = Login { password: None, ..asked };
                migrate(&staging.owner_url, Some(&unknown)).await.unwrap();
                assert!(lets_in(&staging.login_url_of(role, "second")).await, "without one there is none to set");
            })
            .await;
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_database_may_have_its_own_login_role() {
    with_name(async |role| {
        with_empty_database(async |place| {
            let own = login(role, "its own");
            let (a, b) = tokio::join!(migrate(&place.owner_url, Some(&own)), migrate(&place.owner_url, Some(&own)));
            a.and(b).unwrap();
            let place = Place { login_url: place.login_url_of(role, "its own"), ..place.clone() };
            assert_eq!(findings(&place.login_url).await, Vec::<String>::new());
            let house = House::at(&place, 1, 1);
            house.tenant().await.user("alice").await;
            house.db.close().await;
            let limit = format!(
                "select count(*) from pg_db_role_setting where setrole = '{role}'::regrole
                 and 'idle_in_transaction_session_timeout=10s' = any (setconfig)"
            );
            assert_eq!(place.count(&limit).await, 1);
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_login_role_that_inherits_is_granted_nothing() {
    with_name(async |role| {
        with_empty_database(async |place| {
            place.run(&format!("create role {role} login inherit password 'x'")).await;
            migrate(&place.owner_url, Some(&login(role, "x"))).await.unwrap();
            let found = findings(&place.login_url_of(role, "x")).await.join("; ");
            assert!(found.contains("inherits its grants") && found.contains("run knowhow migrate"), "{found}");
            place.run(&format!("alter role {role} noinherit")).await;
            migrate(&place.owner_url, Some(&login(role, "x"))).await.unwrap();
            assert_eq!(findings(&place.login_url_of(role, "x")).await, Vec::<String>::new());
        })
        .await;
    })
    .await;
}

/// A database owner who is not a superuser gets all statements that a superuser must run, at once. Nothing else is
/// needed.
#[tokio::test]
async fn the_database_owner_migrates_after_a_superuser_ran_the_statements() {
    with_name(async |role| {
        with_empty_database(async |place| {
            place.run(&format!("create role {role} login createrole password 'x'")).await;
            let database = place.owner_url.rsplit('/').next().unwrap();
            place.run(&format!("alter database {database} owner to {role}")).await;
            let owner_url = place.login_url_of(role, "x");
            let refusal = migrate(&owner_url, Some(&place.login)).await.unwrap_err();
            assert_eq!(refusal.code(), "cannot-migrate");
            let said = refusal.to_string();
            let (sentence, statements) = said.split_once("as a superuser run: ").unwrap();
            assert!(sentence.contains(role) && sentence.contains(database), "{said}");
            assert_eq!(said.matches("create extension vector;").count(), 1, "{said}");
            assert_eq!(place.count("select count(*) from pg_namespace where nspname = 'app'").await, 0);
            place.run(statements).await;
            migrate(&owner_url, Some(&place.login)).await.unwrap();
            assert_eq!(findings(&place.login_url).await, Vec::<String>::new());
            migrate(&owner_url, Some(&place.login)).await.unwrap();
            place.run(&format!("drop owned by {role} cascade")).await;
        })
        .await;
    })
    .await;
}

/// A later migration needs no rights over the roles, but must own the objects of the first one.
#[tokio::test]
async fn another_migrating_role_gets_the_statements_it_needs() {
    with_name(async |role| {
        with_empty_database(async |place| {
            migrate(&place.owner_url, None).await.unwrap();
            place.run(&format!("create role {role} login password 'x'")).await;
            let owner_url = place.login_url_of(role, "x");
            let said = migrate(&owner_url, None).await.unwrap_err().to_string();
            let (_, statements) = said.split_once("as a superuser run: ").unwrap();
            assert!(statements.contains("grant knowhow_owner to"), "{said}");
            place.run(statements).await;
            migrate(&owner_url, None).await.unwrap();

            // Another login role needs statements too.
            let other = login(&format!("{role}_login"), "y");
            let said = migrate(&owner_url, Some(&other)).await.unwrap_err().to_string();
            let (_, statements) = said.split_once("as a superuser run: ").unwrap();
            place.run(statements).await;
            migrate(&owner_url, Some(&other)).await.unwrap();
            assert_eq!(findings(&place.login_url_of(&other.role, "y")).await, Vec::<String>::new());
            place.run(&format!("drop owned by {0}, {role} cascade; drop role {0}", other.role)).await;
        })
        .await;
    })
    .await;
}
