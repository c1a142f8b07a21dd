//! The line of waiting texts, without a model.

use std::time::Duration;

use knowhow_domain::{TenantId, UserId, new_id};
use tokio::time::{Instant, advance};

use super::asking;
use crate::Asker;
use crate::Priority::{self, Background, Change, Turn};
use crate::embed::queue::{Batch, Queue, Reply};
use crate::embed::{EmbedError, TextKind};

const ME: Asker = Asker::HOUSE;

fn somebody() -> Asker {
    Asker { tenant: TenantId(new_id()), user: UserId(new_id()) }
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("text {number}")).collect()
}

/// A short batch in hand, of that kind.
pub(super) fn of(priority: Priority) -> Batch {
    let queue = Queue::new(1, 1);
    let _reply = queue.push(texts(1), TextKind::Message, asking(ME, priority, None)).unwrap();
    queue.next().unwrap()
}

/// Lets it see that 84 bytes of text took so long, of which an eighth is believed.
async fn teach(queue: &Queue, took: Duration) {
    let _reply = queue.push(vec!["t".repeat(84)], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let batch = queue.next().unwrap();
    advance(took).await;
    queue.note_done(&batch, true);
}

/// Takes one batch and hands in each text's length.
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
fn turns_go_first_then_changes_then_bulk() {
    let queue = Queue::new(10, 1);
    let _bulk = queue.push(texts(3), TextKind::Message, asking(ME, Background, None)).unwrap();
    let _change = queue.push(vec!["change".to_owned()], TextKind::Message, asking(ME, Change, None)).unwrap();
    let _turn = queue.push(vec!["turn".to_owned()], TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert_eq!(serve(&queue), (Turn, vec!["turn".to_owned()]));
    assert_eq!(serve(&queue), (Change, vec!["change".to_owned()]));
    assert_eq!(serve(&queue), (Background, texts(3)));
}

/// What a batch in hand makes way for: whatever is in more of a hurry, the most hurried first.
#[test]
fn a_batch_makes_way_for_those_before_it_alone() {
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
async fn an_order_is_answered_once_all_of_it_is_done_in_its_order() {
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
fn it_is_bounded_for_each_lane() {
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
fn what_nobody_waits_for_makes_room_and_is_skipped() {
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
async fn what_would_be_late_is_told_at_once_and_costs_nothing() {
    let queue = Queue::new(9, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms a byte
    let within = |ms| Some(Instant::now() + Duration::from_millis(ms));
    let late = queue.push(vec!["l".repeat(84)], TextKind::Message, asking(ME, Turn, within(50))).unwrap();
    let in_time = queue.push(vec!["t".repeat(84)], TextKind::Message, asking(ME, Turn, within(250))).unwrap();
    let patient = queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)).unwrap();
    assert_eq!(serve(&queue).1.len(), 2);
    assert!(matches!(late.await.unwrap(), Err(EmbedError::Late)));
    assert!(in_time.await.unwrap().is_ok() && patient.await.unwrap().is_ok());
}

/// Under more than the model can do the first are served, and the others know at once; an asker who has had nothing yet does
/// not wait for all of somebody else's.
#[tokio::test(start_paused = true)]
async fn what_would_be_late_behind_others_is_not_taken_in() {
    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms a byte
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
    // What nobody waits for any more is in nobody's way.
    assert!(queue.push(text(), TextKind::Message, asking(greedy, Turn, deadline)).is_ok());
}

/// What is in hand is in the way like what waits, unless it lets questions by. A batch takes in no more than those in it can
/// wait for.
#[tokio::test(start_paused = true)]
async fn the_batch_in_hand_counts_and_is_no_longer_than_its_first_can_wait() {
    let queue = Queue::new(100, 1);
    teach(&queue, Duration::from_millis(800)).await; // 1 ms a byte, and a quarter more for bad luck
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

/// One slow moment is no reason to refuse everything from then on.
#[tokio::test(start_paused = true)]
async fn after_a_slow_moment_it_tries_again() {
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
async fn a_failed_text_fails_its_order_and_no_other() {
    let queue = Queue::new(9, 1);
    let broken = queue.push(vec!["1".repeat(300), "2".repeat(300)], TextKind::Message, asking(ME, Turn, None)).unwrap();
    let whole = queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)).unwrap();
    queue.next().unwrap().tasks.into_iter().for_each(|task| task.fail());
    assert_eq!(serve(&queue).1, texts(1), "the rest of a failed order is skipped");
    assert!(broken.await.is_err() && whole.await.is_ok());
}

#[tokio::test]
async fn closing_tells_everybody() {
    let queue = Queue::new(9, 1);
    let waiting = queue.push(texts(2), TextKind::Message, asking(ME, Background, None)).unwrap();
    queue.close();
    assert!(waiting.await.is_err());
    assert!(queue.next().is_none() && queue.next_before(&of(Background)).is_none());
    assert!(matches!(queue.push(texts(1), TextKind::Message, asking(ME, Turn, None)), Err(EmbedError::Stopped)));
}

/// What is served next, text by text, without being answered.
fn order_of(queue: &Queue, count: usize) -> Vec<String> {
    let mut served = Vec::new();
    while served.len() < count {
        served.extend(queue.next().unwrap().tasks.into_iter().map(|task| task.text));
    }
    served
}

/// Somebody asks for sixteen long texts, and another tenant for one: it comes after at most what is in hand.
#[test]
fn nobody_waits_for_all_that_somebody_else_has_asked() {
    for lane in [Turn, Change, Background] {
        let queue = Queue::new(100, 1);
        let (greedy, modest) = (somebody(), somebody());
        let _flood: Vec<Reply> = (0..16)
            .map(|_| queue.push(vec!["x".repeat(2000)], TextKind::Message, asking(greedy, lane, None)).unwrap())
            .collect();
        let _first = queue.next().unwrap();
        let _question = queue.push(vec!["mine".to_owned()], TextKind::Message, asking(modest, lane, None)).unwrap();
        assert_eq!(order_of(&queue, 1), ["mine"]);
        // Nor does it help to have asked once: it is bytes that count.
        let _again = queue.push(vec!["again".to_owned()], TextKind::Message, asking(modest, lane, None)).unwrap();
        assert_eq!(order_of(&queue, 1), ["again"]);
    }
}

/// Tenants share first, then the users of each: a tenant of many users gets no more than a tenant of one.
#[test]
fn shares_are_of_tenants_and_then_of_their_users() {
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

/// A long text in hand lets by what is short and of somebody who has had less, and nothing else.
#[test]
fn a_long_question_lets_short_ones_of_others_by() {
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

/// An asker that fills the line loses the end of it to those who have less in it.
#[tokio::test]
async fn a_full_line_has_room_for_those_who_have_less_in_it() {
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
