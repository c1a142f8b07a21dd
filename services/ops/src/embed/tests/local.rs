//! The model in this process.

use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_testing::poll;
use tokio::time::Instant;

use super::{asking, begin};
use crate::embed::{EmbedError, Embedder, LocalEmbedder, LocalSettings, Networks, TextKind};
use crate::{Asker, Priority};

/// Two threads over one model, for all tests.
static EMBEDDER: LazyLock<LocalEmbedder> = LazyLock::new(|| start(2, 200));

fn model_folder() -> PathBuf {
    named_folder().unwrap()
}

/// Whether a model is named; `make test` sees to it. Without one the tests that need it say so and pass.
#[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it")]
fn has_model() -> bool {
    let is_named = named_folder().is_some();
    if !is_named {
        // Past the test runner, which keeps to itself what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: KNOWHOW_TEST_MODEL_DIR names no folder; scripts/dev/model.py makes one"
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
async fn it_knows_its_name_and_size() {
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

/// Behind a flood of cheap requests, turns would wait long for threads that are less urgent.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn its_threads_are_as_urgent_as_those_that_answer_requests() {
    if !has_model() {
        return;
    }
    one("so that they have begun").await;
    let own = rustix::process::nice(0).unwrap();
    let nice = || {
        let threads = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
            // The nineteenth field (proc_pid_stat(5)), behind the thread's name in brackets.
            let nice: i32 = rest.split(' ').nth(16)?.parse().ok()?;
            (name.starts_with("embed-") && name != "embed-chatter").then_some(nice)
        });
        threads.collect::<Vec<i32>>()
    };
    poll("the threads of the model", || (nice().len() >= 2).then_some(()));
    assert!(nice().iter().all(|nice| *nice == own), "{:?}", nice());
}

/// Else small talk would find skills for as long as others keep the model busy.
#[tokio::test]
async fn small_talk_is_known_before_anything_else_is_embedded() {
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
async fn a_hundred_requests_at_once_get_what_each_would_get_alone() {
    if !has_model() {
        return;
    }
    let texts: Vec<String> = (0..100).map(|number| format!("request {number} about topic {}", number % 7)).collect();
    let asked = texts.iter().enumerate().map(|(number, text)| {
        let priority = if number % 2 == 0 { Priority::Turn } else { Priority::Background };
        EMBEDDER.embed(vec![text.clone()], TextKind::Message, asking(Asker::HOUSE, priority, None))
    });
    let together = join_all(asked.collect::<Vec<_>>()).await;
    for (text, vectors) in texts.iter().zip(together).step_by(9) {
        assert_eq!(vectors.unwrap(), [one(text).await], "{text}");
    }
    let in_one = EMBEDDER
        .embed(texts.clone(), TextKind::Message, asking(Asker::HOUSE, Priority::Background, None))
        .await
        .unwrap();
    assert_eq!(in_one.len(), 100);
    assert_eq!(in_one[99], one(&texts[99]).await);
}

#[tokio::test]
async fn huge_and_strange_texts_are_cut_and_embedded() {
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
async fn a_deadline_in_the_past_is_late_at_once() {
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
async fn a_full_queue_refuses_and_a_dropped_request_makes_room() {
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
    // Dropped work is neither done nor in the way: fifty long texts would take seconds.
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
    begin(&mut job).await; // still under way
    assert_eq!(job.await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_change_overtakes_bulk_and_lets_turns_by() {
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
    begin(&mut change).await; // still under way
    assert_eq!(change.await.unwrap().len(), 10);
    begin(&mut bulk).await;
    assert_eq!(bulk.await.unwrap().len(), 20);
}

#[test]
fn a_folder_that_is_no_model_is_an_error_that_says_so() {
    let settings = LocalSettings { folder: "/nonexistent".into(), networks: Networks::All, threads: 1, queue: 1 };
    let error = LocalEmbedder::start(&settings).err().unwrap();
    assert!(error.to_string().starts_with("/nonexistent/config.json is missing"), "{error}");
}
