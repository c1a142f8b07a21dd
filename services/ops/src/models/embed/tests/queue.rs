//! Tests of the queue, without a model.

use std::time::Duration;

use knowhow_domain::{TenantId, UserId, new_id};
use tokio::time::{Instant, advance};

use super::asking;
use crate::Asker;
use crate::Priority::{self, Background, Change, Turn};
use crate::models::embed::queue::{Batch, Queue};
use crate::models::embed::queued_text::Reply;
use crate::models::embed::{EmbedError, TextKind};

const ME: Asker = Asker::HOUSE;

fn somebody() -> Asker {
    Asker { tenant: TenantId(new_id()), user: UserId(new_id()) }
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// Returns a batch of one text with this priority, already taken from its queue.
pub(super) fn of(priority: Priority) -> Batch {
    let queue = Queue::new(1, 1);
    let _reply = queue.push(texts(1), TextKind::Message, asking(ME, priority, None)).unwrap();
    queue.next().unwrap()
}

/// Records that 84 bytes of text took `took`; the new measurement has a weight of one eighth.
async fn teach(queue: &Queue, took: Duration) {
    let _reply = queue.push(vec!["t".repeat(84)], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let batch = queue.next().unwrap();
    advance(took).await;
    queue.note_done(&batch, true);
}

/// Takes a batch and answers each text with its length.
fn serve(queue: &Queue) -> (Priority, Vec<String>) {
    let Batch { priority, tasks, .. } = queue.next().unwrap();
    let taken = tasks.iter().map(|task| task.text.clone()).collect();
    for task in tasks {
        let vector = vec![task.text.len() as f32];
        task.finish(vector);
    }
    (priority, taken)
}

#[test]
fn turns_are_served_before_changes_and_changes_before_bulk() {
    let queue = Queue::new(10, 1);
    let _bulk = queue.push(texts(3), TextKind::Message, asking(ME, Background, None)).unwrap();
    let _change = queue.push(vec!["change".to_owned()], TextKind::Message, asking(ME, Change, None)).unwrap();
    let _turn = queue.push(vec!["turn".to_owned()], TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert_eq!(serve(&queue), (Turn, vec!["turn".to_owned()]));
    assert_eq!(serve(&queue), (Change, vec!["change".to_owned()]));
    assert_eq!(serve(&queue), (Background, texts(3)));
}

/// A running batch can be overtaken only by more urgent texts, most urgent first.
#[test]
fn only_more_urgent_texts_overtake_a_batch() {
    let queue = Queue::new(10, 1);
    let orders: Vec<_> = [Background, Change, Turn]
        .map(|lane| queue.push(texts(2), TextKind::Message, asking(ME, lane, None)).unwrap())
        .into();
    let [background, change, turn] = [Background, Change, Turn].map(of);
    assert!(queue.next_before(&turn).is_none());
    let lane_before = |batch| queue.next_before(batch).map(|before| (before.priority, before.tasks.len()));
    assert_eq!(lane_before(&change), Some((Turn, 2)));
    assert_eq!(lane_before(&change), None);
    assert_eq!(lane_before(&background), Some((Change, 2)));
    assert_eq!(lane_before(&background), None);
    drop(orders);
}

#[test]
fn short_texts_share_a_batch_and_long_ones_do_not() {
    let queue = Queue::new(10, 1);
    let (short, long) = ("s".repeat(100), "l".repeat(2000));
    let _all = queue
        .push(
            vec![short.clone(), short.clone(), long.clone(), short.clone()],
            TextKind::Message,
            asking(ME, Turn, None),
        )
        .unwrap();
    assert_eq!(serve(&queue).1, [short.clone(), short.clone()]);
    assert_eq!(serve(&queue).1, [long]);
    assert_eq!(serve(&queue).1, [short]);
}

#[tokio::test]
async fn a_request_is_answered_in_order_once_all_its_texts_are_done() {
    let queue = Queue::new(10, 1);
    let order = queue.push(vec!["1".repeat(300), "2".repeat(400)], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let other = queue.push(vec!["3".to_owned()], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let first = queue.next().unwrap().tasks;
    serve(&queue);
    serve(&queue);
    assert_eq!(other.await.unwrap().unwrap(), [[1.0]]);
    first.into_iter().for_each(|task| task.finish(vec![300.0]));
    assert_eq!(order.await.unwrap().unwrap(), [[300.0], [400.0]]);
}

#[test]
fn the_queue_is_bounded_per_priority() {
    let queue = Queue::new(5, 1);
    let _first = queue.push(texts(3), TextKind::Message, asking(ME, Background, None)).unwrap();
    assert!(matches!(queue.push(texts(3), TextKind::Message, asking(ME, Background, None)), Err(EmbedError::Busy(3))));
    let _second = queue.push(texts(2), TextKind::Message, asking(ME, Background, None)).unwrap();
    let _change = queue.push(texts(5), TextKind::Message, asking(ME, Change, None)).unwrap();
    assert!(matches!(queue.push(texts(1), TextKind::Message, asking(ME, Change, None)), Err(EmbedError::Busy(5))));
    let _turn = queue.push(texts(5), TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert!(matches!(queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)), Err(EmbedError::Busy(5))));
    assert!(matches!(queue.push(texts(6), TextKind::Message, asking(ME, Turn, None)), Err(EmbedError::TooMany(5))));
}

#[test]
fn texts_of_callers_that_gave_up_free_space_and_are_skipped() {
    let queue = Queue::new(4, 1);
    drop(queue.push(texts(3), TextKind::Message, asking(ME, Turn, None)).unwrap());
    let kept = queue.push(vec!["kept".to_owned()], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let _more = queue.push(texts(3), TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert_eq!(serve(&queue).1, ["kept", "text 0", "text 1", "text 2"]);
    drop(kept);
    drop(queue.push(texts(2), TextKind::Message, asking(ME, Turn, None)).unwrap());
    assert!(queue.next_before(&of(Change)).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_text_that_would_be_late_is_rejected_without_work() {
    let queue = Queue::new(9, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms per byte
    let within = |ms| Some(Instant::now() + Duration::from_millis(ms));
    let late = queue.push(vec!["l".repeat(84)], TextKind::Message, asking(ME, Turn, within(50))).unwrap();
    let in_time = queue.push(vec!["t".repeat(84)], TextKind::Message, asking(ME, Turn, within(250))).unwrap();
    let patient = queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert_eq!(serve(&queue).1.len(), 2);
    assert!(matches!(late.await.unwrap(), Err(EmbedError::Late)));
    assert!(in_time.await.unwrap().is_ok() && patient.await.unwrap().is_ok());
}

/// Under overload the first texts are served, and the others are rejected immediately. A caller without use does not
/// wait for all texts of another caller.
#[tokio::test(start_paused = true)]
async fn a_text_that_would_be_late_behind_others_is_not_queued() {
    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms per byte
    let deadline = Some(Instant::now() + Duration::from_millis(500));
    let text = || vec!["t".repeat(84)];
    let orders: Vec<_> =
        (0..20).map(|_| queue.push(text(), TextKind::Message, asking(somebody(), Turn, deadline))).collect();
    let taken = orders.iter().filter(|order| order.is_ok()).count();
    assert_eq!(taken, 5, "84 ms each, and 100 ms for one's own");
    assert!(orders[taken..].iter().all(|order| matches!(order, Err(EmbedError::Late))));
    let later = queue.push(text(), TextKind::Message, asking(somebody(), Change, deadline));
    assert!(matches!(later, Err(EmbedError::Late)), "it goes behind all turns");

    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await;
    let deadline = Some(Instant::now() + Duration::from_millis(500));
    let greedy = somebody();
    let flood: Vec<_> =
        (0..20).map(|_| queue.push(text(), TextKind::Message, asking(greedy, Turn, None)).unwrap()).collect();
    assert!(matches!(queue.push(text(), TextKind::Message, asking(greedy, Turn, deadline)), Err(EmbedError::Late)));
    let modest = queue.push(text(), TextKind::Message, asking(somebody(), Turn, deadline));
    assert!(modest.is_ok(), "one text goes before it");
    drop(flood);
    // Texts of callers that gave up do not count.
    assert!(queue.push(text(), TextKind::Message, asking(greedy, Turn, deadline)).is_ok());
}

/// The running batch counts like queued texts, unless it can be overtaken. A batch grows only as long as all its
/// texts meet their deadlines.
#[tokio::test(start_paused = true)]
async fn the_running_batch_counts_and_meets_the_deadlines_of_its_texts() {
    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms per byte, and a quarter more as a margin
    let within = |ms| Some(Instant::now() + Duration::from_millis(ms));
    let text = || vec!["t".repeat(84)];
    let ask = |deadline| queue.push(text(), TextKind::Message, asking(somebody(), Turn, deadline));
    let _four: Vec<Reply> = [150, 250, 500, 500].map(|ms| ask(within(ms)).unwrap()).into();
    let mut batch = queue.next().unwrap();
    assert_eq!(batch.tasks.len(), 1, "two would take 184 ms, or 230, and the first can wait 150");
    assert!(matches!(ask(within(450)), Err(EmbedError::Late)), "behind 100 ms in hand and 252 in line");
    assert!(ask(within(500)).is_ok());
    std::mem::take(&mut batch.tasks).into_iter().for_each(|task| task.finish(vec![1.0]));
    queue.note_done(&batch, false);
    assert_eq!(queue.next().unwrap().tasks.len(), 2, "three would take 268 ms, or 335");

    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await;
    let _bulk = queue.push(text(), TextKind::Message, asking(ME, Background, None)).unwrap();
    let _in_hand = queue.next().unwrap();
    assert!(
        queue.push(text(), TextKind::Message, asking(ME, Turn, within(50))).is_ok(),
        "bulk lets it by, and it finds out how long it takes"
    );
}

/// A single slow moment must not reject all later texts.
#[tokio::test(start_paused = true)]
async fn texts_are_accepted_again_after_a_slow_measurement() {
    let queue = Queue::new(9, 1);
    teach(&queue, Duration::from_secs(80)).await;
    let mut refused = 0;
    loop {
        let waiting = queue
            .push(texts(1), TextKind::Message, asking(ME, Turn, Some(Instant::now() + Duration::from_millis(50))))
            .unwrap();
        if queue.next_before(&of(Change)).is_some() {
            break;
        }
        assert!(matches!(waiting.await.unwrap(), Err(EmbedError::Late)));
        refused += 1;
        advance(Duration::from_millis(100)).await;
    }
    assert!((1..50).contains(&refused), "{refused}");
}

#[tokio::test]
async fn a_failed_text_fails_only_its_own_request() {
    let queue = Queue::new(9, 1);
    let broken = queue.push(vec!["1".repeat(300), "2".repeat(300)], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let whole = queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)).unwrap();
    queue.next().unwrap().tasks.into_iter().for_each(|task| task.fail());
    assert_eq!(serve(&queue).1, texts(1), "the rest of a failed order is skipped");
    assert!(broken.await.is_err() && whole.await.is_ok());
}

#[tokio::test]
async fn closing_the_queue_answers_all_waiting_callers() {
    let queue = Queue::new(9, 1);
    let waiting = queue.push(texts(2), TextKind::Message, asking(ME, Background, None)).unwrap();
    queue.close();
    assert!(waiting.await.is_err());
    assert!(queue.next().is_none() && queue.next_before(&of(Background)).is_none());
    assert!(matches!(queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)), Err(EmbedError::Stopped)));
}

/// Returns the texts in order of service, without answering them.
fn order_of(queue: &Queue, count: usize) -> Vec<String> {
    let mut served = Vec::new();
    while served.len() < count {
        served.extend(queue.next().unwrap().tasks.into_iter().map(|task| task.text));
    }
    served
}

/// One caller queues sixteen long texts. A text of another tenant then waits at most for the running batch.
#[test]
fn a_caller_does_not_wait_for_all_texts_of_another_caller() {
    for lane in [Turn, Change, Background] {
        let queue = Queue::new(100, 1);
        let (greedy, modest) = (somebody(), somebody());
        let _flood: Vec<Reply> = (0..16)
            .map(|_| queue.push(vec!["x".repeat(2000)], TextKind::Message, asking(greedy, lane, None)).unwrap())
            .collect();
        let _first = queue.next().unwrap();
        let _question = queue.push(vec!["mine".to_owned()], TextKind::Message, asking(modest, lane, None)).unwrap();
        assert_eq!(order_of(&queue, 1), ["mine"]);
        // Use is measured in bytes, not in requests.
        let _again = queue.push(vec!["again".to_owned()], TextKind::Message, asking(modest, lane, None)).unwrap();
        assert_eq!(order_of(&queue, 1), ["again"]);
    }
}

/// Shares are divided among tenants first, then among the users of each: a tenant with many users gets no larger
/// share.
#[test]
fn capacity_is_shared_by_tenants_and_then_by_their_users() {
    let queue = Queue::new(100, 1);
    let (one, large) = (somebody(), TenantId(new_id()));
    let long = |name: &str| vec![format!("{name}{}", "-".repeat(300))];
    let mut waiting = Vec::new();
    for user in ["a", "b"] {
        let asker = Asker { tenant: large, user: UserId(new_id()) };
        waiting.extend((0..3).map(|_| queue.push(long(user), TextKind::Message, asking(asker, Turn, None)).unwrap()));
    }
    waiting.extend((0..3).map(|_| queue.push(long("o"), TextKind::Message, asking(one, Turn, None)).unwrap()));
    let order: String = order_of(&queue, 9).iter().map(|text| text.chars().next().unwrap()).collect();
    assert_eq!(order, "aoboaobab");
}

/// A running long text can be overtaken only by short texts of callers with less use.
#[test]
fn short_texts_of_other_callers_overtake_a_long_text() {
    let queue = Queue::new(100, 1);
    let (greedy, modest) = (somebody(), somebody());
    let _long = queue.push(vec!["x".repeat(4000)], TextKind::Message, asking(greedy, Turn, None)).unwrap();
    let in_hand = queue.next().unwrap();
    let _own = queue.push(vec!["own".to_owned()], TextKind::Message, asking(greedy, Turn, None)).unwrap();
    assert!(queue.next_before(&in_hand).is_none(), "one's own waits");
    let _short = queue.push(vec!["short".to_owned()], TextKind::Message, asking(modest, Turn, None)).unwrap();
    let passing = queue.next_before(&in_hand).unwrap();
    assert_eq!(passing.tasks[0].text, "short");
    let other = queue.push(vec!["y".repeat(3000)], TextKind::Message, asking(modest, Turn, None)).unwrap();
    assert!(queue.next_before(&in_hand).is_none(), "it is no shorter by half");
    let of_tenant = Asker { user: UserId(new_id()), ..greedy };
    drop(other);
    let _sibling = queue.push(vec!["sibling".to_owned()], TextKind::Message, asking(of_tenant, Turn, None)).unwrap();
    assert_eq!(queue.next_before(&in_hand).unwrap().tasks[0].text, "sibling");
}

/// A caller that fills the queue loses its last texts to callers with fewer texts.
#[tokio::test]
async fn a_full_queue_accepts_texts_of_callers_with_fewer_texts() {
    let queue = Queue::new(8, 1);
    let (greedy, modest) = (somebody(), somebody());
    let mut flood: Vec<Reply> =
        (0..8).map(|_| queue.push(texts(1), TextKind::Message, asking(greedy, Turn, None)).unwrap()).collect();
    assert!(matches!(queue.push(texts(1), TextKind::Message, asking(greedy, Turn, None)), Err(EmbedError::Busy(8))));
    let mine = queue.push(vec!["mine".to_owned()], TextKind::Message, asking(modest, Turn, None)).unwrap();
    assert!(matches!(flood.pop().unwrap().await, Ok(Err(EmbedError::Busy(8)))));
    assert!(matches!(queue.push(texts(7), TextKind::Message, asking(modest, Turn, None)), Err(EmbedError::Busy(8))));
    serve(&queue);
    assert!(mine.await.unwrap().is_ok());
}
