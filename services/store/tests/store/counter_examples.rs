//! Counter-examples of skills: the last report wins, within bounds of their own, and of one owner alone.

use chrono::TimeDelta;
use knowhow_domain::lesson::EXAMPLES_PER_SKILL;
use knowhow_domain::recall::EmbeddedKind;
use knowhow_store::embeddings::{self, Page, Vectors};
use knowhow_store::{WriteTx, examples, offered};
use uuid::Uuid;

use crate::examples::{Heard, Learner, MODEL, at};
use crate::harness::{House, now};

/// The messages of a skill with whether each is a counter-example, the newest first.
async fn learned(learner: &Learner<'_>) -> Vec<(String, bool)> {
    let all = learner.list_of(learner.skill).await;
    all.into_iter().map(|example| (example.message, example.counter_example)).collect()
}

fn heard<'a>(message: &'a str, vector: Option<&'a [f32]>, turn: i32) -> Heard<'a> {
    Heard { message, vector, turn, at: now() }
}

#[tokio::test]
async fn the_last_report_about_a_message_wins() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let before = learner.revisions().await.examples;
    assert!(learner.learn(heard("first", Some(&at(0.0)), 1)).await);
    assert!(learner.learn(heard("another", Some(&at(90.0)), 1)).await);
    // The same message, and one that says the same.
    assert!(learner.learn_as(true, heard("first", Some(&at(0.0)), 2)).await);
    assert_eq!(learned(&learner).await, [("first".into(), true), ("another".into(), false)]);
    assert!(learner.learn(heard("as the first", Some(&at(5.0)), 3)).await);
    assert_eq!(learned(&learner).await, [("as the first".into(), false), ("another".into(), false)]);
    // Without a vector the same text is the same message.
    assert!(learner.learn_as(true, heard("another", None, 3)).await);
    assert!(!learner.learn_as(true, heard("another", None, 3)).await, "it confirms itself");
    assert_eq!(learned(&learner).await, [("another".into(), true), ("as the first".into(), false)]);
    let vectors = examples::list_vectors(&house.db, &learner.who, MODEL).await.unwrap();
    assert_eq!((vectors.examples.len(), vectors.counter_examples.len()), (1, 0));
    assert_eq!(vectors.revision, before + 5, "each time that a vector came or went");
}

#[tokio::test]
async fn of_two_reports_whose_vectors_come_later_the_last_stays() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let begin = now();
    let later = |n: i64| begin + TimeDelta::seconds(n);
    for (n, (message, is_counter)) in
        [("go north", false), ("northwards", true), ("to the west", true), ("west", false)].into_iter().enumerate()
    {
        let heard = Heard { message, vector: None, turn: 1, at: later(n as i64) };
        assert!(learner.learn_as(is_counter, heard).await);
    }
    let page = Page { model: MODEL, after: Uuid::nil(), limit: 10 };
    let pending = embeddings::list_pending(&house.db, &learner.who, EmbeddedKind::Example, page).await.unwrap();
    for order in [[1, 0, 3, 2], [0, 1, 2, 3]] {
        let angles = [0.0, 3.0, 90.0, 93.0];
        let vectors: Vec<_> = order.iter().map(|n| (pending[*n].clone(), at(angles[*n]).to_vec())).collect();
        let made = Vectors { model: MODEL, vectors: &vectors, now: now() };
        embeddings::put(&house.db, &learner.who, EmbeddedKind::Example, made).await.unwrap();
        assert_eq!(learned(&learner).await, [("west".into(), false), ("northwards".into(), true)]);
    }
}

#[tokio::test]
async fn counter_examples_have_as_much_room_as_examples() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let begin = now();
    for n in 0..=EXAMPLES_PER_SKILL {
        for is_counter in [false, true] {
            let message = format!("message {n} {is_counter}");
            let at = begin + TimeDelta::seconds(n as i64);
            assert!(learner.learn_as(is_counter, Heard { message: &message, vector: None, turn: 1, at }).await);
        }
    }
    let kept = learned(&learner).await;
    for is_counter in [false, true] {
        assert_eq!(kept.iter().filter(|(_, counter)| *counter == is_counter).count(), EXAMPLES_PER_SKILL);
        assert!(!kept.contains(&(format!("message 0 {is_counter}"), is_counter)));
    }
}

#[tokio::test]
async fn a_turn_with_an_inapplicable_skill_teaches_no_example_until_a_success() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let (session, turn) = (learner.session, 3);
    let change = async |change: &dyn Fn(&mut WriteTx)| {
        let mut tx = WriteTx::begin(&house.db, &learner.who, "test").await.unwrap();
        change(&mut tx);
        tx.commit().await.unwrap();
    };
    assert!(learner.learn(heard("first", None, turn)).await);
    change(&|tx| examples::mark_inapplicable(tx, learner.skill, &session.to_string())).await;
    assert!(learner.learn_as(true, heard("first", None, turn)).await);
    assert!(!learner.learn(heard("first", None, turn)).await);
    assert!(learner.learn(heard("second", None, 2)).await, "another turn is another matter");
    assert_eq!(learned(&learner).await, [("second".into(), false), ("first".into(), true)]);
    change(&|tx| examples::unmark_inapplicable(tx, learner.skill, session, turn)).await;
    assert!(learner.learn(heard("first", None, turn)).await);
    assert_eq!(learned(&learner).await, [("first".into(), false), ("second".into(), false)]);
    // A failure is not taken back, and leaves counter-examples alone.
    assert!(learner.learn_as(true, heard("third", None, turn)).await);
    change(&|tx| examples::fail(tx, learner.skill, &session.to_string())).await;
    change(&|tx| examples::unmark_inapplicable(tx, learner.skill, session, 1)).await;
    assert!(!learner.learn(heard("fourth", None, turn)).await);
    assert_eq!(learned(&learner).await, [("third".into(), true), ("second".into(), false)]);
    // Taint takes both.
    change(&|tx| examples::remove_of_session(tx, session)).await;
    assert!(learned(&learner).await.is_empty());
}

#[tokio::test]
async fn that_a_skill_does_not_apply_counts_once_a_turn_and_for_its_user() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = Learner::new(&house, tenancy.user("alice").await).await;
    let bob = Learner::new(&house, tenancy.user("bob").await).await;
    let report = async |who: &Learner<'_>, session: Option<&str>| {
        let mut tx = WriteTx::begin(&house.db, &who.who, "test").await.unwrap();
        let counted = offered::count_inapplicable(&mut tx, who.skill, session, now()).await.unwrap();
        tx.commit().await.unwrap();
        counted
    };
    let session = alice.session.to_string();
    assert_eq!(report(&alice, Some(&session)).await, (true, 0));
    assert_eq!(report(&alice, Some(&session)).await, (false, 0));
    assert_eq!(report(&alice, None).await, (true, 0));
    // Of another user's session nothing is known.
    assert_eq!(report(&bob, Some(&session)).await, (true, 0));
    let since = now().date_naive();
    let of = async |who: &Learner<'_>| {
        let skills = [alice.skill, bob.skill];
        offered::list(&house.db, &who.who, &skills, since).await.unwrap()
    };
    let counts = of(&alice).await;
    assert_eq!((counts.len(), counts[0].0, counts[0].1.inapplicable), (1, alice.skill, 2));
    let counts = of(&bob).await;
    assert_eq!((counts.len(), counts[0].0, counts[0].1.inapplicable), (1, bob.skill, 1));
}
