//! Tests of the embeddings client: requests and parsing of answers. Retries and pauses are tested in `models/remote`.

use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{Error, TenantId, UserId, new_id};
use knowhow_testing::{FakeServer, Reply, until};
use tokio::time::Instant;

use super::asking;
use crate::Asker;
use crate::Priority::{Background, Turn};
use crate::models::embed::{EmbedError, Embedder, HttpEmbedder, TextKind, Vectors};
use crate::models::remote::tests::settings;
use crate::models::remote::{RemoteError, RemoteSettings};

const DIMS: usize = 4;

fn embedder(fake: &FakeServer) -> HttpEmbedder {
    HttpEmbedder::new(settings(fake), DIMS).unwrap()
}

async fn embed(embedder: &HttpEmbedder, texts: &[&str]) -> Result<Vectors, EmbedError> {
    embedder
        .embed(texts.iter().map(|&text| text.to_owned()).collect(), TextKind::Message, asking(Asker::HOUSE, Turn, None))
        .await
}

#[tokio::test]
async fn texts_are_sent_in_batches_and_vectors_keep_their_order() {
    let fake = FakeServer::start([Reply::Vectors(DIMS)]);
    let embedder = embedder(&fake);
    assert_eq!((embedder.model(), embedder.dims(), embedder.is_paused()), ("tiny@4", DIMS, false));
    let long = "é".repeat(1500);
    let texts: Vec<String> = (0..40).map(|length| "x".repeat(length)).chain([long]).collect();
    let vectors = embedder.embed(texts, TextKind::Message, asking(Asker::HOUSE, Background, None)).await.unwrap();
    let lengths: Vec<usize> = vectors.iter().map(|vector| (vector[0] / vector[1]).round() as usize).collect();
    assert_eq!(lengths, [1].into_iter().chain(1..40).chain([2000]).collect::<Vec<_>>());
    assert!(vectors.iter().all(|vector| (vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
    assert_eq!(fake.seen().len(), 2);
    assert!(embed(&embedder, &[]).await.unwrap().is_empty());
    assert_eq!(fake.seen().len(), 2, "nothing is asked for nothing");
    embed(&embedder, &["", "22"]).await.unwrap();
    let seen = &fake.seen()[2];
    assert_eq!(
        (seen.line.as_str(), seen.headers.get("authorization").map(String::as_str)),
        ("POST /v1/embeddings HTTP/1.1", Some("Bearer sk-secret"))
    );
    let expected = serde_json::json!({ "model": "tiny", "input": [" ", "22"], "encoding_format": "float" });
    assert_eq!(seen.body, expected);
}

#[tokio::test]
async fn a_model_with_longer_vectors_is_asked_to_shorten_them() {
    let fake = FakeServer::start([Reply::Vectors(DIMS + 3)]);
    let embedder = embedder(&fake);
    for _ in 0..2 {
        assert_eq!(embed(&embedder, &["a"]).await.unwrap()[0].len(), DIMS);
    }
    let asked: Vec<_> = fake.seen().iter().map(|seen| seen.body["dimensions"].as_u64()).collect();
    assert_eq!(asked, [None, Some(4), Some(4)], "found out once");
}

/// Vectors of different sizes have different model names. The name sent to the server is the same.
#[tokio::test]
async fn the_model_name_includes_the_size_of_its_vectors() {
    let fake = FakeServer::start([Reply::Vectors(8)]);
    for (dims, name) in [(8, "tiny@8"), (4, "tiny@4")] {
        let embedder = HttpEmbedder::new(settings(&fake), dims).unwrap();
        assert_eq!((embed(&embedder, &["a"]).await.unwrap()[0].len(), embedder.model()), (dims, name));
    }
    assert!(fake.seen().iter().all(|seen| seen.body["model"] == "tiny"));
}

/// 2,000 bytes of a dense script exceed the token limit of a small model.
#[tokio::test]
async fn rejected_texts_are_halved_at_most_twice() {
    let refused = |status| Reply::Status(status, "", r#"{"error":{"message":"more than 512 tokens"}}"#);
    let (long, shorter) = ("証".repeat(1000), "1".repeat(700));
    let fake = FakeServer::start([refused(400), refused(413), Reply::Vectors(DIMS)]);
    embed(&embedder(&fake), &[&long, &shorter, "short"]).await.unwrap();
    let lengths = |fake: &FakeServer| -> Vec<Vec<usize>> {
        let texts = |seen: knowhow_testing::Seen| seen.body["input"].as_array().unwrap().clone();
        fake.seen().into_iter().map(|seen| texts(seen).iter().map(|t| t.as_str().unwrap().len()).collect()).collect()
    };
    assert_eq!(lengths(&fake), [[1998, 700, 5], [999, 700, 5], [498, 500, 5]]);
    for (status, text, expected) in [
        (400, long.as_str(), &[1998, 999, 498][..]),
        (413, &shorter, &[700, 500]),
        (400, "short", &[5]),
        (401, &long, &[1998]),
        (422, &long, &[1998]),
    ] {
        let fake = FakeServer::start([refused(status)]);
        let embedder = embedder(&fake);
        let error = embed(&embedder, &[text]).await.unwrap_err();
        assert!(error.to_string().contains(&status.to_string()) && !embedder.is_paused(), "{error}");
        assert_eq!(lengths(&fake).concat(), expected, "{status}");
    }
}

#[tokio::test]
async fn unusable_answers_are_named_in_the_error() {
    let one = |embedding: &str| Reply::body(&format!(r#"{{"data":[{{"index":0,"embedding":{embedding}}}]}}"#));
    let cases = [
        (Reply::body("garbage"), "no JSON"),
        (Reply::body(""), "JSON that breaks off"),
        (Reply::body("{}"), "JSON of another form"),
        (Reply::Body(vec![0xff, 0xfe, 0]), "no JSON"),
        (Reply::body(r#"{"data":[]}"#), "0 vectors for 1 texts"),
        (Reply::Vectors(3), "a vector of 3 numbers instead of 4"),
        (one("[1,1,1,1,1]"), "a vector of 5 numbers instead of 4"),
        (one("[]"), "a vector without a direction"),
        (one("[NaN,0,0,1]"), "no JSON"),
        (one("[null,0,0,1]"), "another form"),
        (one("[1e999,0,0,1]"), "no JSON"),
        (one("[1e39,0,0,1]"), "a vector without a direction"),
        (one("[0,0,0,0]"), "a vector without a direction"),
        (one("\"AACAPwAAgD8=\""), "another form"),
        (Reply::body(r#"{"data":[{"index":1,"embedding":[1,1,1,1]}]}"#), "the index 1 is invalid or occurs twice"),
        (Reply::Huge, "more than 4194304 bytes"),
    ];
    for (reply, complaint) in cases {
        let fake = FakeServer::start([reply]);
        let error = embed(&embedder(&fake), &["a"]).await.unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains(complaint), "{complaint}: {error}");
    }
    let twice = r#"{"data":[{"index":0,"embedding":[1,1,1,1]},{"index":0,"embedding":[1,1,1,1]}]}"#;
    let error = embed(&embedder(&FakeServer::start([Reply::body(twice)])), &["a", "b"]).await.unwrap_err();
    assert!(error.to_string().contains("occurs twice"), "{error}");
    let public = Error::from(error);
    assert!(matches!(&public, Error::Unavailable(text) if !text.contains("server")), "{public}");
}

#[tokio::test]
async fn a_request_ends_at_its_deadline_if_the_server_hangs() {
    let fake = FakeServer::start([Reply::Hang]);
    let patient = RemoteSettings { timeout: Duration::from_secs(3600), ..settings(&fake) };
    let embedder = HttpEmbedder::new(patient, DIMS).unwrap();
    let deadline = Instant::now() + Duration::from_millis(50);
    let error = embedder
        .embed(vec!["a".to_owned()], TextKind::Message, asking(Asker::HOUSE, Turn, Some(deadline)))
        .await
        .unwrap_err();
    assert!(matches!(error, EmbedError::Late), "{error}");
}

#[test]
fn invalid_settings_are_rejected() {
    let fake = FakeServer::start([Reply::Close]);
    for dims in [0, 200_000] {
        assert!(matches!(HttpEmbedder::new(settings(&fake), dims), Err(EmbedError::Setting(_))));
    }
    let nameless = RemoteSettings { model: String::new(), ..settings(&fake) };
    let error = HttpEmbedder::new(nameless, DIMS).err().unwrap();
    assert!(matches!(&error, EmbedError::Remote(inner) if matches!(**inner, RemoteError::Setting(_))), "{error}");
}

/// A tenant with many requests must not block another tenant's request.
#[tokio::test]
async fn one_tenant_does_not_occupy_all_slots() {
    let replies = std::iter::repeat_n(Reply::Hang, 8).chain([Reply::Vectors(DIMS)]);
    let fake = FakeServer::start(replies.collect::<Vec<_>>());
    let embedder = embedder(&fake);
    let [greedy, modest] = [(); 2].map(|()| Asker { tenant: TenantId(new_id()), user: UserId(new_id()) });
    let flood =
        join_all((0..40).map(|n| embedder.embed(vec![n.to_string()], TextKind::Message, asking(greedy, Turn, None))));
    let question = async {
        until("the flood", || fake.seen().len() >= 8).await;
        embedder.embed(vec!["mine".to_owned()], TextKind::Message, asking(modest, Turn, None)).await
    };
    let vectors = tokio::select! {
        _ = flood => panic!("the server does not answer them"),
        vectors = question => vectors.unwrap(),
    };
    assert_eq!((vectors.len(), fake.seen().len()), (1, 9));
}
