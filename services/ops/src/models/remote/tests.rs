//! Tests of failing servers: retries, permanent errors and pauses.

use std::time::Duration;

use knowhow_testing::{FakeServer, Reply, until};

use knowhow_telemetry::metrics::Model;

use super::{Remote, RemoteError, RemoteSettings};
use crate::Priority;

/// Returns settings for the tests of both clients.
pub(crate) fn settings(fake: &FakeServer) -> RemoteSettings {
    RemoteSettings {
        url: fake.url().parse().unwrap(),
        key: Some("sk-secret".to_owned()),
        model: "tiny".to_owned(),
        timeout: Duration::from_secs(5),
        retries: 2,
    }
}

fn remote(settings: RemoteSettings) -> Remote {
    Remote::new(settings, "ask", 1000, Model::Chat).unwrap()
}

async fn ask(remote: &Remote) -> Result<String, RemoteError> {
    let read = |body: &[u8]| match body {
        b"nonsense" => Err(RemoteError::BadAnswer("nonsense".to_owned())),
        b"{}" => Err(RemoteError::Unfit("nothing in it".to_owned())),
        body => Ok(String::from_utf8_lossy(body).into_owned()),
    };
    remote.ask(Priority::Turn, &serde_json::json!({}), read).await
}

async fn outcome(reply: Reply) -> RemoteError {
    let fake = FakeServer::start([reply]);
    ask(&remote(RemoteSettings { retries: 0, ..settings(&fake) })).await.unwrap_err()
}

#[tokio::test]
async fn transient_failures_are_retried() {
    let passing = [
        Reply::Status(500, "", "oops"),
        Reply::Status(429, "Retry-After: 0\r\n", r#"{"error":{"message":"slow down"}}"#),
        Reply::Status(503, "", ""),
        Reply::Half,
        Reply::Close,
        Reply::Hang,
    ];
    for reply in passing {
        let fake = FakeServer::start([reply, Reply::body("hello")]);
        let hasty = RemoteSettings { timeout: Duration::from_millis(500), ..settings(&fake) };
        assert_eq!(ask(&remote(hasty)).await.unwrap(), "hello");
        assert_eq!(fake.seen().len(), 2);
    }
    let fake = FakeServer::start([Reply::Status(502, "", "bad gateway")]);
    let error = ask(&remote(settings(&fake))).await.unwrap_err();
    assert!(matches!(error, RemoteError::Refused { status: 502, .. }) && error.is_transient(), "{error}");
    assert_eq!(fake.seen().len(), 3, "the first attempt and two more");
}

#[tokio::test]
async fn rejections_invalid_answers_and_long_waits_are_not_retried() {
    for reply in [
        Reply::Status(400, "", "no"),
        Reply::Status(302, "Location: /elsewhere\r\n", ""),
        Reply::Status(429, "Retry-After: 3600\r\n", ""),
        Reply::body("nonsense"),
        Reply::body("{}"),
        Reply::Huge,
    ] {
        let fake = FakeServer::start([reply, Reply::body("hello")]);
        assert!(ask(&remote(settings(&fake))).await.is_err());
        assert_eq!(fake.seen().len(), 1);
    }
}

#[tokio::test]
async fn errors_contain_codes_but_neither_key_nor_content() {
    let named = r#"{"error":{"message":"No model 'my\nmodel'","code":"model_not_found"}}"#;
    let error = outcome(Reply::Status(404, "", named)).await;
    assert!(matches!(&error, RemoteError::Refused { detail, .. } if detail == "No model 'my model'"));
    assert_eq!(error.to_string(), "the server answered 404: model_not_found");
    let echo = r#"{"error":{"message":"a secret","code":"of 'a secret'"}}"#;
    assert_eq!(outcome(Reply::Status(400, "", echo)).await.to_string(), "the server answered 400: Bad Request");
    let error = outcome(Reply::Status(401, "", r#"{"error":{"message":"wrong key sk-secret"}}"#)).await;
    assert_eq!(error.to_string(), "the server answered 401: Unauthorized");
    let error = outcome(Reply::Huge).await;
    assert_eq!(error.to_string(), "the server's answer cannot be used: it has more than 1000 bytes");
    let fake = FakeServer::start([Reply::Close]);
    let nobody =
        RemoteSettings { url: "http://127.0.0.1:1/v1?key=password".parse().unwrap(), retries: 0, ..settings(&fake) };
    let error = ask(&remote(nobody)).await.unwrap_err();
    assert!(matches!(&error, RemoteError::Unreachable(text) if !text.contains("password")), "{error}");
}

#[tokio::test]
async fn a_failing_server_is_paused_until_it_recovers() {
    let fake = FakeServer::start([Reply::Status(500, "", "")]);
    let remote = remote(RemoteSettings { retries: 0, ..settings(&fake) });
    for _ in 0..5 {
        assert!(matches!(ask(&remote).await, Err(RemoteError::Refused { .. })));
    }
    assert!(matches!(ask(&remote).await, Err(RemoteError::Paused(_))) && remote.is_paused());
    assert_eq!(fake.seen().len(), 5);
    fake.replies([Reply::body("hello")]);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    assert_eq!(ask(&remote).await.unwrap(), "hello");
    assert!(!remote.is_paused());
}

#[tokio::test]
async fn unexpected_json_does_not_pause_a_server_but_invalid_answers_do() {
    for (reply, is_paused) in
        [(Reply::Status(400, "", ""), false), (Reply::body("{}"), false), (Reply::body("nonsense"), true)]
    {
        let fake = FakeServer::start([reply]);
        let remote = remote(settings(&fake));
        for _ in 0..5 {
            assert!(!ask(&remote).await.unwrap_err().is_transient());
        }
        assert_eq!(remote.is_paused(), is_paused);
    }
}

/// Sends a question and gives up after this time.
async fn give_up(remote: &Remote, fake: &FakeServer, after: Duration) {
    let (seen, mut asked) = (fake.seen().len(), Box::pin(ask(remote)));
    tokio::select! {
        biased;
        _ = &mut asked => panic!("it hangs"),
        () = until("the questions", || fake.seen().len() > seen) => {}
    }
    tokio::time::pause();
    tokio::time::advance(after).await;
    drop(asked);
    tokio::time::resume();
}

/// Callers give up after 1.9 s, nearly the default deadline of a judged turn, two seconds.
#[tokio::test]
async fn a_server_that_does_not_answer_in_time_is_paused() {
    let fake = FakeServer::start([Reply::Hang]);
    let remote = remote(RemoteSettings { timeout: Duration::from_secs(3600), ..settings(&fake) });
    for _ in 0..9 {
        give_up(&remote, &fake, Duration::from_millis(50)).await;
    }
    for _ in 0..5 {
        assert!(!remote.is_paused());
        give_up(&remote, &fake, Duration::from_millis(1_900)).await;
    }
    assert!(remote.is_paused());
}

#[tokio::test]
async fn an_abandoned_request_frees_its_slot() {
    let fake = FakeServer::start([Reply::Hang]);
    let remote = remote(settings(&fake));
    let mut waiting: Vec<_> = (0..40).map(|_| Box::pin(ask(&remote))).collect();
    tokio::select! {
        _ = futures_util::future::select_all(&mut waiting) => panic!("it hangs"),
        () = until("the questions", || fake.seen().len() == super::PLACES[0]) => {}
    }
    assert_eq!(remote.turns.available_permits(), 0);
    fake.replies([Reply::body("hello")]);
    drop(waiting);
    assert_eq!(ask(&remote).await.unwrap(), "hello");
    assert_eq!(remote.turns.available_permits(), super::PLACES[0]);
}

#[test]
fn the_path_is_appended_to_the_base_url_once() {
    let fake = FakeServer::start([Reply::Close]);
    for (url, endpoint) in [
        ("http://a", "http://a/ask"),
        ("http://a/v1/", "http://a/v1/ask"),
        ("http://a/v1/ask", "http://a/v1/ask"),
        ("http://a/v1?version=1", "http://a/v1/ask?version=1"),
    ] {
        let remote = remote(RemoteSettings { url: url.parse().unwrap(), ..settings(&fake) });
        assert_eq!(remote.endpoint.as_str(), endpoint);
    }
}

#[test]
fn invalid_settings_are_rejected() {
    let fake = FakeServer::start([Reply::Close]);
    let good = || settings(&fake);
    for bad in [
        RemoteSettings { url: "ftp://example.com".parse().unwrap(), ..good() },
        RemoteSettings { url: "http://me:sk-secret@example.com".parse().unwrap(), ..good() },
        RemoteSettings { key: Some("sk-secret\n".to_owned()), ..good() },
        RemoteSettings { model: String::new(), ..good() },
        RemoteSettings { timeout: Duration::ZERO, ..good() },
    ] {
        let error = Remote::new(bad, "ask", 1000, Model::Chat).err().unwrap();
        assert!(matches!(&error, RemoteError::Setting(text) if !text.contains("sk-")), "{error}");
    }
}
