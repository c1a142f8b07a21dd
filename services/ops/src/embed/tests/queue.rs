//! The line of waiting texts, without a model.

use crate::Priority::{self, Background, Turn};
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
fn turns_go_first() {
    let queue = Queue::new(10);
    let _job = queue.push(texts(3), Background).unwrap();
    let _turn = queue.push(vec!["turn".to_owned()], Turn).unwrap();
    assert_eq!(serve(&queue), (Turn, vec!["turn".to_owned()]));
    assert!(queue.next_urgent().is_none());
    assert_eq!(serve(&queue), (Background, texts(3)));
}

#[test]
fn short_texts_share_a_batch_and_long_ones_do_not() {
    let queue = Queue::new(10);
    let (short, long) = ("s".repeat(100), "l".repeat(2000));
    let _all = queue.push(vec![short.clone(), short.clone(), long.clone(), short.clone()], Turn).unwrap();
    assert_eq!(serve(&queue).1, [short.clone(), short.clone()]);
    assert_eq!(serve(&queue).1, [long]);
    assert_eq!(serve(&queue).1, [short]);
}

#[tokio::test]
async fn an_order_is_answered_once_all_of_it_is_done_in_its_order() {
    let queue = Queue::new(10);
    let order = queue.push(vec!["1".repeat(300), "2".repeat(400)], Turn).unwrap();
    let other = queue.push(vec!["3".to_owned()], Turn).unwrap();
    let (_, first) = queue.next().unwrap();
    serve(&queue);
    serve(&queue);
    assert_eq!(other.await.unwrap(), [[1.0]]);
    first.into_iter().for_each(|task| task.finish(vec![300.0]));
    assert_eq!(order.await.unwrap(), [[300.0], [400.0]]);
}

#[test]
fn it_is_bounded_for_each_lane() {
    let queue = Queue::new(5);
    let _first = queue.push(texts(3), Background).unwrap();
    assert!(matches!(queue.push(texts(3), Background), Err(EmbedError::Busy(3))));
    let _second = queue.push(texts(2), Background).unwrap();
    let _turn = queue.push(texts(5), Turn).unwrap();
    assert!(matches!(queue.push(texts(1), Turn), Err(EmbedError::Busy(5))));
    assert!(matches!(queue.push(texts(6), Turn), Err(EmbedError::TooMany(5))));
}

#[test]
fn what_nobody_waits_for_makes_room_and_is_skipped() {
    let queue = Queue::new(4);
    drop(queue.push(texts(3), Turn).unwrap());
    let kept = queue.push(vec!["kept".to_owned()], Turn).unwrap();
    let _more = queue.push(texts(3), Turn).unwrap();
    assert_eq!(serve(&queue).1, ["kept", "text 0", "text 1", "text 2"]);
    drop(kept);
    drop(queue.push(texts(2), Turn).unwrap());
    assert!(queue.next_urgent().is_none());
}

#[tokio::test]
async fn a_failed_text_fails_its_order_and_no_other() {
    let queue = Queue::new(9);
    let broken = queue.push(vec!["1".repeat(300), "2".repeat(300)], Turn).unwrap();
    let whole = queue.push(texts(1), Turn).unwrap();
    queue.next().unwrap().1.into_iter().for_each(|task| task.fail());
    assert_eq!(serve(&queue).1, texts(1), "the rest of a failed order is skipped");
    assert!(broken.await.is_err() && whole.await.is_ok());
}

#[tokio::test]
async fn closing_tells_everybody() {
    let queue = Queue::new(9);
    let waiting = queue.push(texts(2), Background).unwrap();
    queue.close();
    assert!(waiting.await.is_err());
    assert!(queue.next().is_none() && queue.next_urgent().is_none());
    assert!(matches!(queue.push(texts(1), Turn), Err(EmbedError::Stopped)));
}
