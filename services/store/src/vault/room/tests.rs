use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use knowhow_domain::new_id;

use super::*;
use crate::trail::{Trail, Urgency, follow};

const LONG: Duration = Duration::from_secs(600);

fn room(length: usize, all: [usize; 3]) -> Arc<Room> {
    Room::new(Bounds { length, longest: LONG }, all)
}

fn tenant() -> TenantId {
    TenantId(new_id())
}

type Asking = BoxFuture<'static, Result<Place>>;

/// A request of that urgency that asks for a connection for changes.
fn asks(room: &Arc<Room>, tenant: TenantId, urgency: Urgency) -> Asking {
    let room = room.clone();
    let trail = Trail { request: new_id(), address: None, urgency };
    let mut asking = follow(trail, async move { room.enter(Kind::Changes, tenant, LONG).await }).boxed();
    match asking.as_mut().now_or_never() {
        Some(outcome) => std::future::ready(outcome).boxed(),
        None => asking,
    }
}

/// How those that wait are answered; `None` while they wait.
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
async fn what_matters_least_is_refused_first_and_turns_last() {
    let room = room(2, [1, 1, 1]);
    let mut held = vec![asks(&room, tenant(), Urgency::Turn).await.unwrap()];
    let order = [Urgency::Exchange, Urgency::Admin, Urgency::Search, Urgency::Save, Urgency::Turn];
    let (mut waiting, mut refused) = (Vec::new(), Vec::new());
    for urgency in order.into_iter().flat_map(|urgency| [urgency; 3]) {
        waiting.push((urgency, asks(&room, tenant(), urgency)));
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
    assert!(room.lock().waiting.is_empty() && room.lock().connections.iter().all(|c| c.held.is_empty()));
}

#[tokio::test]
async fn a_room_is_crowded_where_half_of_it_is_taken() {
    let room = room(4, [1, 1, 1]);
    let held = asks(&room, tenant(), Urgency::Turn).await.unwrap();
    let job = asks(&room, tenant(), Urgency::Work);
    let first = asks(&room, tenant(), Urgency::Turn);
    assert!(!room.is_crowded(), "one of four waits, and what is never turned away");
    let second = asks(&room, tenant(), Urgency::Save);
    assert!(room.is_crowded());
    drop((job, first, second, held));
    assert!(!room.is_crowded());
}

#[tokio::test]
async fn the_most_urgent_is_called_first_and_of_the_like_who_came_first() {
    let room = room(8, [1, 1, 1]);
    let mut held = Some(asks(&room, tenant(), Urgency::Save).await.unwrap());
    let (first, second) = (tenant(), tenant());
    let mut waiting = vec![
        (Urgency::Search, asks(&room, first, Urgency::Search)),
        (Urgency::Turn, asks(&room, first, Urgency::Turn)),
        (Urgency::Turn, asks(&room, second, Urgency::Turn)),
        (Urgency::Save, asks(&room, second, Urgency::Save)),
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
async fn who_has_waited_goes_before_a_newcomer_that_is_more_urgent() {
    // A step is a nanosecond here, and more than three pass between two that ask.
    let room = Room::new(Bounds { length: 8, longest: Duration::from_nanos(10) }, [1, 1, 1]);
    let held = asks(&room, tenant(), Urgency::Save).await.unwrap();
    let mut waiting = vec![
        (Urgency::Search, asks(&room, tenant(), Urgency::Search)),
        (Urgency::Turn, asks(&room, tenant(), Urgency::Turn)),
    ];
    drop(held);
    let (urgency, place) = look(&mut waiting).pop().unwrap();
    assert_eq!(urgency, Urgency::Search);
    drop(place);
    assert_eq!(look(&mut waiting).pop().unwrap().0, Urgency::Turn);
}

#[tokio::test]
async fn while_others_wait_no_tenant_has_more_than_its_part() {
    let room = room(8, [1, 5, 1]);
    let (greedy, other) = (tenant(), tenant());
    let mut held = Vec::new();
    for _ in 0..5 {
        held.push(asks(&room, greedy, Urgency::Turn).await.unwrap());
    }
    let mut waiting: Vec<_> = (0..3).map(|_| (Urgency::Turn, asks(&room, greedy, Urgency::Turn))).collect();
    waiting.push((Urgency::Search, asks(&room, other, Urgency::Search)));
    // Of five it may have three: two go to the other one, although that came later and asks for less urgent things.
    held.pop();
    held.push(look(&mut waiting).pop().unwrap().1.unwrap());
    assert_eq!(held[4].tenant, other);
    // Nobody else waits now.
    held.remove(0);
    held.push(look(&mut waiting).pop().unwrap().1.unwrap());
    assert_eq!(held.iter().filter(|place| place.tenant == greedy).count(), 4);
}

#[tokio::test]
async fn a_tenant_that_fills_the_room_makes_room_for_others() {
    let room = room(4, [1, 1, 1]);
    let (greedy, other) = (tenant(), tenant());
    let _held = asks(&room, greedy, Urgency::Turn).await.unwrap();
    let mut waiting: Vec<_> = (0..4).map(|_| (Urgency::Save, asks(&room, greedy, Urgency::Save))).collect();
    for left_of_greedy in [3, 2, 2, 2] {
        waiting.push((Urgency::Save, asks(&room, other, Urgency::Save)));
        assert_eq!(look(&mut waiting).len(), 1, "somebody is refused");
        let of_greedy = room.lock().waiting.iter().filter(|waiter| waiter.asked.tenant == greedy).count();
        assert_eq!(of_greedy, left_of_greedy);
    }
}

#[tokio::test]
async fn what_has_begun_is_not_refused_by_the_room_and_goes_first() {
    // So short that the turn below is due before the other one asks.
    let room = Room::new(Bounds { length: 1, longest: Duration::from_nanos(10) }, [1, 1, 1]);
    let begun = room.clone();
    let trail = Trail { request: new_id(), address: None, urgency: Urgency::Exchange };
    let mut held = Some(asks(&room, tenant(), Urgency::Turn).await.unwrap());
    let mut waiting = vec![(Urgency::Turn, asks(&room, tenant(), Urgency::Turn))];
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
async fn who_waits_for_too_long_is_refused_and_leaves() {
    let room = Room::new(Bounds { length: 8, longest: Duration::from_millis(1) }, [1, 1, 1]);
    let _held = asks(&room, tenant(), Urgency::Turn).await.unwrap();
    assert!(matches!(asks(&room, tenant(), Urgency::Turn).await, Err(Error::Unavailable(_))));
    drop(asks(&room, tenant(), Urgency::Turn));
    assert!(room.lock().waiting.is_empty());
}
