use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use knowhow_domain::new_id;

use super::*;
use crate::vault::request_context::{Trail, Urgency, follow};

const LONG: Duration = Duration::from_secs(600);

fn queue(length: usize, all: [usize; 3]) -> Arc<ConnectionQueue> {
    ConnectionQueue::new(Bounds { length, longest: LONG }, all)
}

fn tenant() -> TenantId {
    TenantId(new_id())
}

type Asking = BoxFuture<'static, Result<Place>>;

/// Starts a request with this urgency, which queues for a write connection.
fn asks(queue: &Arc<ConnectionQueue>, tenant: TenantId, urgency: Urgency) -> Asking {
    let queue = queue.clone();
    let trail = Trail { request: new_id(), address: None, urgency };
    let mut asking = follow(trail, async move { queue.enter(Kind::Changes, tenant, LONG).await }).boxed();
    match asking.as_mut().now_or_never() {
        Some(outcome) => std::future::ready(outcome).boxed(),
        None => asking,
    }
}

/// Removes answered requests from the list and returns their answers.
fn look(waiting: &mut Vec<(Urgency, Asking)>) -> Vec<(Urgency, Result<Place>)> {
    let mut answered = Vec::new();
    let mut at = 0;
    while at < waiting.len() {
        match (&mut waiting[at].1).now_or_never() {
            Some(outcome) => answered.push((waiting.remove(at).0, outcome)),
            None => at += 1,
        }
    }
    answered
}

#[tokio::test]
async fn least_urgent_requests_are_rejected_first_and_turns_last() {
    let queue = queue(2, [1, 1, 1]);
    let mut held = vec![asks(&queue, tenant(), Urgency::Turn).await.unwrap()];
    let order = [Urgency::Exchange, Urgency::Admin, Urgency::Search, Urgency::Save, Urgency::Turn];
    let (mut waiting, mut refused) = (Vec::new(), Vec::new());
    for urgency in order.into_iter().flat_map(|urgency| [urgency; 3]) {
        waiting.push((urgency, asks(&queue, tenant(), urgency)));
        for (urgency, outcome) in look(&mut waiting) {
            assert!(matches!(outcome, Err(Error::Unavailable(_))));
            refused.push(urgency);
        }
    }
    let expected: Vec<Urgency> = order.into_iter().flat_map(|urgency| [urgency; 3]).collect();
    assert_eq!(refused, expected[..13], "at first the newest of a kind, then the others");
    for _ in 0..2 {
        held.pop();
        let (urgency, place) = look(&mut waiting).pop().unwrap();
        assert_eq!(urgency, Urgency::Turn);
        held.push(place.unwrap());
    }
    drop(held);
    assert!(queue.lock().waiting.is_empty() && queue.lock().connections.iter().all(|c| c.held.is_empty()));
}

#[tokio::test]
async fn a_queue_is_crowded_when_half_of_it_is_used() {
    let queue = queue(4, [1, 1, 1]);
    let held = asks(&queue, tenant(), Urgency::Turn).await.unwrap();
    let job = asks(&queue, tenant(), Urgency::Work);
    let first = asks(&queue, tenant(), Urgency::Turn);
    assert!(!queue.is_crowded(), "one of four waits, and what is never turned away");
    let second = asks(&queue, tenant(), Urgency::Save);
    assert!(queue.is_crowded());
    drop((job, first, second, held));
    assert!(!queue.is_crowded());
}

#[tokio::test]
async fn requests_are_admitted_by_urgency_then_by_arrival() {
    let queue = queue(8, [1, 1, 1]);
    let mut held = Some(asks(&queue, tenant(), Urgency::Save).await.unwrap());
    let (first, second) = (tenant(), tenant());
    let mut waiting = vec![
        (Urgency::Search, asks(&queue, first, Urgency::Search)),
        (Urgency::Turn, asks(&queue, first, Urgency::Turn)),
        (Urgency::Turn, asks(&queue, second, Urgency::Turn)),
        (Urgency::Save, asks(&queue, second, Urgency::Save)),
    ];
    let mut called = Vec::new();
    for _ in 0..4 {
        held.take();
        let (urgency, place) = look(&mut waiting).pop().unwrap();
        let place = place.unwrap();
        called.push((urgency, place.tenant));
        held = Some(place);
    }
    let [turn, save, search] = [Urgency::Turn, Urgency::Save, Urgency::Search];
    assert_eq!(called, [(turn, first), (turn, second), (save, second), (search, first)]);
}

#[tokio::test]
async fn a_long_wait_outranks_a_more_urgent_new_request() {
    // One step of urgency is a nanosecond here, and more than three nanoseconds pass between two requests.
    let queue = ConnectionQueue::new(Bounds { length: 8, longest: Duration::from_nanos(10) }, [1, 1, 1]);
    let held = asks(&queue, tenant(), Urgency::Save).await.unwrap();
    let mut waiting = vec![
        (Urgency::Search, asks(&queue, tenant(), Urgency::Search)),
        (Urgency::Turn, asks(&queue, tenant(), Urgency::Turn)),
    ];
    drop(held);
    let (urgency, place) = look(&mut waiting).pop().unwrap();
    assert_eq!(urgency, Urgency::Search);
    drop(place);
    assert_eq!(look(&mut waiting).pop().unwrap().0, Urgency::Turn);
}

#[tokio::test]
async fn a_tenant_gets_no_more_than_its_share_while_others_wait() {
    let queue = queue(8, [1, 5, 1]);
    let (greedy, other) = (tenant(), tenant());
    let mut held = Vec::new();
    for _ in 0..5 {
        held.push(asks(&queue, greedy, Urgency::Turn).await.unwrap());
    }
    let mut waiting: Vec<_> = (0..3).map(|_| (Urgency::Turn, asks(&queue, greedy, Urgency::Turn))).collect();
    waiting.push((Urgency::Search, asks(&queue, other, Urgency::Search)));
    // The tenant's share is three of five connections. So the next two go to the other tenant, although its request
    // came later and is less urgent.
    held.pop();
    held.push(look(&mut waiting).pop().unwrap().1.unwrap());
    assert_eq!(held[4].tenant, other);
    // The other tenant has no waiting request now.
    held.remove(0);
    held.push(look(&mut waiting).pop().unwrap().1.unwrap());
    assert_eq!(held.iter().filter(|place| place.tenant == greedy).count(), 4);
}

#[tokio::test]
async fn a_full_queue_rejects_the_tenant_with_the_most_waiters() {
    let queue = queue(4, [1, 1, 1]);
    let (greedy, other) = (tenant(), tenant());
    let _held = asks(&queue, greedy, Urgency::Turn).await.unwrap();
    let mut waiting: Vec<_> = (0..4).map(|_| (Urgency::Save, asks(&queue, greedy, Urgency::Save))).collect();
    for left_of_greedy in [3, 2, 2, 2] {
        waiting.push((Urgency::Save, asks(&queue, other, Urgency::Save)));
        assert_eq!(look(&mut waiting).len(), 1, "somebody is refused");
        let of_greedy = queue.lock().waiting.iter().filter(|waiter| waiter.asked.tenant == greedy).count();
        assert_eq!(of_greedy, left_of_greedy);
    }
}

#[tokio::test]
async fn a_request_that_has_begun_is_not_rejected_and_is_admitted_first() {
    // The steps are so short that the turn below is due before the other request starts.
    let queue = ConnectionQueue::new(Bounds { length: 1, longest: Duration::from_nanos(10) }, [1, 1, 1]);
    let begun = queue.clone();
    let trail = Trail { request: new_id(), address: None, urgency: Urgency::Exchange };
    let mut held = Some(asks(&queue, tenant(), Urgency::Turn).await.unwrap());
    let mut waiting = vec![(Urgency::Turn, asks(&queue, tenant(), Urgency::Turn))];
    let mut twice = follow(trail, async move {
        drop(begun.enter(Kind::Reads, TenantId(new_id()), LONG).await?);
        begun.enter(Kind::Changes, TenantId(new_id()), LONG).await
    })
    .boxed();
    assert!((&mut twice).now_or_never().is_none());
    assert!(look(&mut waiting).is_empty(), "the one place of the room is still the turn's");
    held.take();
    let place = twice.now_or_never().unwrap().unwrap();
    assert!(look(&mut waiting).is_empty());
    drop(place);
    assert_eq!(look(&mut waiting).len(), 1);
}

#[tokio::test]
async fn a_request_that_waits_too_long_is_rejected_and_leaves_the_queue() {
    let queue = ConnectionQueue::new(Bounds { length: 8, longest: Duration::from_millis(1) }, [1, 1, 1]);
    let _held = asks(&queue, tenant(), Urgency::Turn).await.unwrap();
    assert!(matches!(asks(&queue, tenant(), Urgency::Turn).await, Err(Error::Unavailable(_))));
    drop(asks(&queue, tenant(), Urgency::Turn));
    assert!(queue.lock().waiting.is_empty());
}
