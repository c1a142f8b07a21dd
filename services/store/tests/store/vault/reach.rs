//! Messages for an operator if the database cannot be reached.

use knowhow_store::{Cause, explain};

use crate::harness::Place;

#[tokio::test]
async fn connection_errors_are_explained_without_the_password() {
    let place = Place::shared().await;
    let right: url::Url = place.login_url.parse().unwrap();
    assert!(explain(right.as_str()).await.unwrap().is_none());
    let address = format!("{}:{}", right.host_str().unwrap(), right.port().unwrap_or(5432));
    let changed = |change: fn(&mut url::Url)| {
        let mut url = right.clone();
        change(&mut url);
        url
    };
    for (url, cause, words) in [
        (changed(|url| url.set_password(Some("5ec4e7")).unwrap()), Cause::Login, "password authentication failed"),
        (changed(|url| url.set_path("no-such-base")), Cause::NoDatabase, "database \"no-such-base\" does not exist"),
        (changed(|url| url.set_query(Some("sslmode=require"))), Cause::NoTls, "the server does not offer TLS"),
        (changed(|url| url.set_port(Some(1)).unwrap()), Cause::Silent, "Connection refused"),
    ] {
        let found = explain(url.as_str()).await.unwrap().unwrap();
        let said = found.to_string();
        assert_eq!(found.cause, cause, "{said}");
        let address = if cause == Cause::Silent { format!("{}:1", url.host_str().unwrap()) } else { address.clone() };
        for expected in [words, &address, "'knowhow_login'", &format!("'{}'", url.path().trim_start_matches('/'))] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
        assert_eq!(said.matches(words).count(), 1, "{said}");
        let password = url.password().unwrap();
        assert!(!said.contains(password), "{said}");
    }
    assert_eq!(explain("nonsense").await.unwrap_err().code(), "malformed");
}
