//! The line of waiting texts, without a model.

use std::time::Duration;

use tokio::time::Instant;

use crate::Priority::{self, Background, Change, Turn};
use crate::embed::EmbedError;
use crate::embed::queue::Queue;

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// Takes one batch and hands in each text's length.
fn serve(queue: &Queue) -> (Priority, Vec<String>) {
    let (priority, tasks) = queue.next().unwrap();
    let taken = tasks.iter().map(|task| task.text.clone()).collect();
    for task in tasks {
        let vector = vec![task.text.len() as f32];
        task.finish(vector);
    }
    (priority, taken)
}

#[test]
fn turns_go_first_then_changes_then_bulk() {
    let queue = Queue::new(10);
    let _bulk = queue.push(texts(3), Background, None).unwrap();
    let _change = queue.push(vec!["change".to_owned()], Change, None).unwrap();
    let _turn = queue.push(vec!["turn".to_owned()], Turn, None).unwrap();
    assert_eq!(serve(&queue), (Turn, vec!["turn".to_owned()]));
    assert_eq!(serve(&queue), (Change, vec!["change".to_owned()]));
    assert!(queue.next_before(Background).is_none());
    assert_eq!(serve(&queue), (Background, texts(3)));
}

/// What a batch in hand makes way for: whatever is in more of a hurry, the most hurried first.
#[test]
fn a_batch_makes_way_for_those_before_it_alone() {
    let queue = Queue::new(10);
    let orders: Vec<_> = [Background, Change, Turn].map(|lane| queue.push(texts(2), lane, None).unwrap()).into();
    assert!(queue.next_before(Turn).is_none());
    let lane_before = |lane| queue.next_before(lane).map(|(before, tasks)| (before, tasks.len()));
    assert_eq!(lane_before(Change), Some((Turn, 2)));
    assert_eq!(lane_before(Change), None);
    assert_eq!(lane_before(Background), Some((Change, 2)));
    assert_eq!(lane_before(Background), None);
    drop(orders);
}

#[test]
fn short_texts_share_a_batch_and_long_ones_do_not() {
    let queue = Queue::new(10);
    let (short, long) = ("s".repeat(100), "l".repeat(2000));
    let _all = queue.push(vec![short.clone(), short.clone(), long.clone(), short.clone()], Turn, None).unwrap();
    assert_eq!(serve(&queue).1, [short.clone(), short.clone()]);
    assert_eq!(serve(&queue).1, [long]);
    assert_eq!(serve(&queue).1, [short]);
}

#[tokio::test]
async fn an_order_is_answered_once_all_of_it_is_done_in_its_order() {
    let queue = Queue::new(10);
    let order = queue.push(vec!["1".repeat(300), "2".repeat(400)], Turn, None).unwrap();
    let other = queue.push(vec!["3".to_owned()], Turn, None).unwrap();
    let (_, first) = queue.next().unwrap();
    serve(&queue);
    serve(&queue);
    assert_eq!(other.await.unwrap().unwrap(), [[1.0]]);
    first.into_iter().for_each(|task| task.finish(vec![300.0]));
    assert_eq!(order.await.unwrap().unwrap(), [[300.0], [400.0]]);
}

#[test]
fn it_is_bounded_for_each_lane() {
    let queue = Queue::new(5);
    let _first = queue.push(texts(3), Background, None).unwrap();
    assert!(matches!(queue.push(texts(3), Background, None), Err(EmbedError::Busy(3))));
    let _second = queue.push(texts(2), Background, None).unwrap();
    let _change = queue.push(texts(5), Change, None).unwrap();
    assert!(matches!(queue.push(texts(1), Change, None), Err(EmbedError::Busy(5))));
    let _turn = queue.push(texts(5), Turn, None).unwrap();
    assert!(matches!(queue.push(texts(1), Turn, None), Err(EmbedError::Busy(5))));
    assert!(matches!(queue.push(texts(6), Turn, None), Err(EmbedError::TooMany(5))));
}

#[test]
fn what_nobody_waits_for_makes_room_and_is_skipped() {
    let queue = Queue::new(4);
    drop(queue.push(texts(3), Turn, None).unwrap());
    let kept = queue.push(vec!["kept".to_owned()], Turn, None).unwrap();
    let _more = queue.push(texts(3), Turn, None).unwrap();
    assert_eq!(serve(&queue).1, ["kept", "text 0", "text 1", "text 2"]);
    drop(kept);
    drop(queue.push(texts(2), Turn, None).unwrap());
    assert!(queue.next_before(Change).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_would_be_late_is_told_at_once_and_costs_nothing() {
    let queue = Queue::new(9);
    let within = |ms| Some(Instant::now() + Duration::from_millis(ms));
    queue.note(84, Duration::from_millis(800)); // 1 ms a byte, of which an eighth is believed
    let late = queue.push(vec!["l".repeat(84)], Turn, within(50)).unwrap();
    let in_time = queue.push(vec!["t".repeat(84)], Turn, within(150)).unwrap();
    let patient = queue.push(texts(1), Turn, None).unwrap();
    assert_eq!(serve(&queue).1.len(), 2);
    assert!(matches!(late.await.unwrap(), Err(EmbedError::Late)));
    assert!(in_time.await.unwrap().is_ok() && patient.await.unwrap().is_ok());
}

/// One slow moment is no reason to refuse everything from then on.
#[tokio::test(start_paused = true)]
async fn after_a_slow_moment_it_tries_again() {
    let queue = Queue::new(9);
    queue.note(84, Duration::from_secs(80));
    let mut refused = 0;
    loop {
        let waiting = queue.push(texts(1), Turn, Some(Instant::now() + Duration::from_millis(50))).unwrap();
        if queue.next_before(Change).is_some() {
            break;
        }
        assert!(matches!(waiting.await.unwrap(), Err(EmbedError::Late)));
        refused += 1;
    }
    assert!((1..100).contains(&refused), "{refused}");
}

#[tokio::test]
async fn a_failed_text_fails_its_order_and_no_other() {
    let queue = Queue::new(9);
    let broken = queue.push(vec!["1".repeat(300), "2".repeat(300)], Turn, None).unwrap();
    let whole = queue.push(texts(1), Turn, None).unwrap();
    queue.next().unwrap().1.into_iter().for_each(|task| task.fail());
    assert_eq!(serve(&queue).1, texts(1), "the rest of a failed order is skipped");
    assert!(broken.await.is_err() && whole.await.is_ok());
}

#[tokio::test]
async fn closing_tells_everybody() {
    let queue = Queue::new(9);
    let waiting = queue.push(texts(2), Background, None).unwrap();
    queue.close();
    assert!(waiting.await.is_err());
    assert!(queue.next().is_none() && queue.next_before(Background).is_none());
    assert!(matches!(queue.push(texts(1), Turn, None), Err(EmbedError::Stopped)));
}
