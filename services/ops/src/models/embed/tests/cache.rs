//! Tests of cached vectors.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::{TenantId, UserId, new_id};
use knowhow_testing::{FakeServer, Reply};
use tokio::time::Instant;

use super::begin;
use crate::models::embed::EmbedError;
use crate::models::remote::tests::settings;
use crate::{Asker, Models, ModelsSettings};

fn somebody() -> Asker {
    Asker { tenant: TenantId(new_id()), user: UserId(new_id()) }
}

fn models(fake: &FakeServer) -> Models {
    Models::open(ModelsSettings { embeddings: Some((settings(fake), 4)), ..ModelsSettings::default() }).unwrap()
}

#[tokio::test]
async fn the_same_text_of_a_user_is_embedded_once() {
    let fake = FakeServer::start([Reply::Vectors(4)]);
    let (models, user) = (models(&fake), somebody());
    let all = join_all((0..50).map(|_| models.embed_message(user, "hello", None))).await;
    let first = all[0].as_ref().unwrap();
    assert!(all.iter().all(|vector| Arc::ptr_eq(vector.as_ref().unwrap(), first)));
    assert_eq!(fake.seen().len(), 1);
    models.embed_message(user, "hello!", None).await.unwrap();
    assert_eq!(fake.seen().len(), 2);
    // Another user's request does not use the cached vector: a fast answer would reveal that the text was sent
    // before.
    models.embed_message(somebody(), "hello", None).await.unwrap();
    assert_eq!(fake.seen().len(), 3);
}

#[tokio::test]
async fn failures_are_not_cached() {
    let fake = FakeServer::start([Reply::Status(400, "", "no"), Reply::Vectors(4)]);
    let (models, user) = (models(&fake), somebody());
    assert!(matches!(models.embed_message(user, "hello", None).await, Err(EmbedError::Remote(_))));
    assert!(models.embed_message(user, "hello", None).await.is_ok());
}

#[tokio::test]
async fn a_joined_request_outlives_the_deadline_of_the_first_caller() {
    let fake = FakeServer::start([Reply::Hang, Reply::Vectors(4)]);
    let (models, user) = (models(&fake), somebody());
    let soon = Instant::now() + Duration::from_millis(50);
    let mut first = Box::pin(models.embed_message(user, "hello", Some(soon)));
    let mut second = Box::pin(models.embed_message(user, "hello", None));
    begin(&mut first).await;
    begin(&mut second).await;
    assert!(matches!(first.await, Err(EmbedError::Late)));
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn each_caller_of_a_shared_request_has_its_own_deadline() {
    let fake = FakeServer::start([Reply::Hang, Reply::Hang, Reply::Vectors(4)]);
    let (models, user) = (models(&fake), somebody());
    let within = |ms| Some(Instant::now() + Duration::from_millis(ms));
    let (first, second, third) = (within(50), within(100), within(30_000));
    let all = join_all([first, second, third].map(|deadline| models.embed_message(user, "hello", deadline))).await;
    assert!(matches!(all[..], [Err(EmbedError::Late), Err(EmbedError::Late), Ok(_)]));
}

#[tokio::test]
async fn without_a_model_there_is_no_vector() {
    let none = Models::default().embed_message(somebody(), "hello", None).await;
    assert!(matches!(none, Err(EmbedError::NoModel)));
}
