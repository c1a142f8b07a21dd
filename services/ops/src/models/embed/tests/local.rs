//! Tests of the local model.

use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_testing::poll;
use tokio::time::Instant;

use super::{asking, begin};
use crate::models::embed::{EmbedError, Embedder, LocalEmbedder, LocalSettings, Networks, TextKind};
use crate::{Asker, Priority};

/// Two threads over one model, shared by all tests.
static EMBEDDER: LazyLock<LocalEmbedder> = LazyLock::new(|| start(2, 200));

fn model_folder() -> PathBuf {
    named_folder().unwrap()
}

/// Returns whether a model is configured, as `make test` does. Without a model, the tests that need it are skipped
/// with a message.
#[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it")]
fn has_model() -> bool {
    let is_named = named_folder().is_some();
    if !is_named {
        // Writes to stderr directly, as the test runner hides the output of passing tests.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: KNOWHOW_TEST_MODEL_DIR names no folder; python3 -m tools.model makes one"
        );
    }
    is_named
}

#[expect(clippy::disallowed_methods, reason = "the one place where these tests read the environment")]
fn named_folder() -> Option<PathBuf> {
    std::env::var_os("KNOWHOW_TEST_MODEL_DIR").map(PathBuf::from)
}

fn start(threads: usize, queue: usize) -> LocalEmbedder {
    let settings = LocalSettings { folder: model_folder(), networks: Networks::All, threads, queue };
    LocalEmbedder::start(&settings).unwrap_or_else(|error| panic!("KNOWHOW_TEST_MODEL_DIR: {error}"))
}

async fn one(text: &str) -> Vec<f32> {
    EMBEDDER
        .embed(vec![text.to_owned()], TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None))
        .await
        .unwrap()
        .pop()
        .unwrap()
}

fn long(words: usize) -> String {
    "schedule a meeting ".repeat(words / 3)
}

#[tokio::test]
async fn the_model_has_its_name_and_dimensions() {
    if !has_model() {
        return;
    }
    assert_eq!(EMBEDDER.dims(), 384);
    assert_eq!(EMBEDDER.model(), "minilm-muse-384");
    assert!(
        EMBEDDER
            .embed(Vec::new(), TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None))
            .await
            .unwrap()
            .is_empty()
    );
}

/// The model's threads have no lower priority, as turns would wait long during a flood of cheap requests.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn model_threads_have_the_priority_of_request_threads() {
    if !has_model() {
        return;
    }
    one("so that they have begun").await;
    let own = rustix::process::nice(0).unwrap();
    let nice = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
            // The nice value is the nineteenth field (proc_pid_stat(5)). The thread's name, an earlier field, is in
            // brackets.
            let nice: i32 = rest.split(' ').nth(16)?.parse().ok()?;
            (name.starts_with("embed-") && name != "embed-chatter").then_some(nice)
        });
        threads.collect::<Vec<i32>>()
    };
    poll("the threads of the model", || (nice().len() >= 2).then_some(()));
    assert!(nice().iter().all(|nice| *nice == own), "{:?}", nice());
}

/// Small-talk phrases are embedded first. Otherwise small talk would find skills while other requests keep the model
/// busy.
#[tokio::test]
async fn small_talk_is_embedded_before_any_other_text() {
    if !has_model() {
        return;
    }
    let embedder = start(1, 1000);
    let texts = (0..300).map(|number| format!("change {number}")).collect();
    let mut changes = embedder.embed(texts, TextKind::Message, asking(Asker::HOUSE, Priority::Change, None));
    while embedder.chatter().is_none() {
        tokio::select! {
            biased;
            _ = &mut changes => panic!("changes came first"),
            () = tokio::task::yield_now() => {}
        }
    }
}

#[tokio::test]
async fn concurrent_requests_get_the_same_vectors_as_single_requests() {
    if !has_model() {
        return;
    }
    // Starts its own embedder. The queue of the shared embedder starts with the small-talk phrases and may be full.
    let embedder = start(1, 1000);
    let texts: Vec<String> = (0..100).map(|number| format!("request {number} about topic {}", number % 7)).collect();
    let asked = texts.iter().enumerate().map(|(number, text)| {
        let priority = if number % 2 == 0 { Priority::Turn } else { Priority::Background };
        embedder.embed(vec![text.clone()], TextKind::Message, asking(Asker::HOUSE, priority, None))
    });
    let together = join_all(asked.collect::<Vec<_>>()).await;
    for (text, vectors) in texts.iter().zip(together).step_by(9) {
        assert_eq!(vectors.unwrap(), [one(text).await], "{text}");
    }
    let in_one = embedder
        .embed(texts.clone(), TextKind::Message, asking(Asker::HOUSE, Priority::Background, None))
        .await
        .unwrap();
    assert_eq!(in_one.len(), 100);
    assert_eq!(in_one[99], one(&texts[99]).await);
}

#[tokio::test]
async fn huge_and_unusual_texts_are_truncated_and_embedded() {
    if !has_model() {
        return;
    }
    let huge = long(200_000);
    let texts = [huge.as_str(), "", "\0", "🧑‍🚀", "会议", "\u{301}", "é".repeat(1_000_000).as_str()].map(str::to_owned);
    let vectors =
        EMBEDDER.embed(texts.to_vec(), TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None)).await.unwrap();
    assert!(vectors.iter().all(|vector| (vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5));
    assert_eq!(vectors[0], one(&long(900)).await, "the same once cut");
}

#[tokio::test]
async fn a_request_with_a_past_deadline_is_late_immediately() {
    if !has_model() {
        return;
    }
    let deadline = Some(Instant::now() - Duration::from_millis(1));
    let outcome = EMBEDDER
        .embed(vec![long(900); 20], TextKind::Message, asking(Asker::HOUSE, Priority::Background, deadline))
        .await;
    assert!(matches!(outcome, Err(EmbedError::Late)), "{:?}", outcome.err());
}

#[tokio::test]
async fn a_full_queue_rejects_texts_until_a_request_is_dropped() {
    if !has_model() {
        return;
    }
    let embedder = start(1, 50);
    let mut flood =
        embedder.embed(vec![long(900); 50], TextKind::Message, asking(Asker::HOUSE, Priority::Background, None));
    begin(&mut flood).await;
    let refused =
        embedder.embed(vec![long(900); 49], TextKind::Message, asking(Asker::HOUSE, Priority::Background, None)).await;
    assert!(matches!(refused, Err(EmbedError::Busy(_))), "{:?}", refused.err());
    let too_many =
        embedder.embed(vec![String::new(); 51], TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None)).await;
    assert!(matches!(too_many, Err(EmbedError::TooMany(50))));
    drop(flood);
    // Dropped work must not be executed: fifty long texts would take seconds.
    let all = embedder
        .embed(vec!["short".to_owned(); 50], TextKind::Message, asking(Asker::HOUSE, Priority::Background, None))
        .await
        .unwrap();
    assert_eq!(all.len(), 50);
}

#[tokio::test]
async fn a_turn_overtakes_jobs() {
    if !has_model() {
        return;
    }
    let embedder = start(1, 50);
    let mut job =
        embedder.embed(vec![long(900); 20], TextKind::Message, asking(Asker::HOUSE, Priority::Background, None));
    begin(&mut job).await;
    let turn = embedder
        .embed(vec!["now".to_owned()], TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None))
        .await
        .unwrap();
    assert_eq!(turn, [one("now").await]);
    begin(&mut job).await; // still pending
    assert_eq!(job.await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_change_overtakes_bulk_and_is_overtaken_by_turns() {
    if !has_model() {
        return;
    }
    let embedder = start(1, 50);
    let mut bulk =
        embedder.embed(vec![long(900); 20], TextKind::Message, asking(Asker::HOUSE, Priority::Background, None));
    begin(&mut bulk).await;
    let mut change =
        embedder.embed(vec![long(900); 10], TextKind::Message, asking(Asker::HOUSE, Priority::Change, None));
    begin(&mut change).await;
    embedder
        .embed(vec!["now".to_owned()], TextKind::Message, asking(Asker::HOUSE, Priority::Turn, None))
        .await
        .unwrap();
    begin(&mut change).await; // still pending
    assert_eq!(change.await.unwrap().len(), 10);
    begin(&mut bulk).await;
    assert_eq!(bulk.await.unwrap().len(), 20);
}

#[test]
fn the_error_for_a_folder_without_a_model_names_the_missing_file() {
    let settings = LocalSettings { folder: "/nonexistent".into(), networks: Networks::All, threads: 1, queue: 1 };
    let error = LocalEmbedder::start(&settings).err().unwrap();
    assert!(error.to_string().starts_with("/nonexistent/config.json is missing"), "{error}");
}
