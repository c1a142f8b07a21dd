//! Counter-examples of skills: the last report wins, they have a separate limit, and they belong to one user.

use chrono::TimeDelta;
use knowhow_domain::learning::lesson::EXAMPLES_PER_SKILL;
use knowhow_domain::recall::EmbeddedKind;
use knowhow_store::WriteTx;
use knowhow_store::learning::examples;
use knowhow_store::skills::embeddings::{self, Page, Vectors};
use knowhow_store::skills::offer_counts;
use uuid::Uuid;

use crate::harness::{House, now};
use crate::learning::examples::{Heard, Learner, MODEL, at};

/// Returns the messages of a skill, the newest first, and whether each is a counter-example.
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
    // The first of the next two messages equals an earlier one. The second has nearly the same meaning.
    assert!(learner.learn_as(true, heard("first", Some(&at(0.0)), 2)).await);
    assert_eq!(learned(&learner).await, [("first".into(), true), ("another".into(), false)]);
    assert!(learner.learn(heard("as the first", Some(&at(5.0)), 3)).await);
    assert_eq!(learned(&learner).await, [("as the first".into(), false), ("another".into(), false)]);
    // Without a vector only an equal text is the same message.
    assert!(learner.learn_as(true, heard("another", None, 3)).await);
    assert!(!learner.learn_as(true, heard("another", None, 3)).await, "it confirms itself");
    assert_eq!(learned(&learner).await, [("another".into(), true), ("as the first".into(), false)]);
    let vectors = examples::list_vectors(&house.db, &learner.who, MODEL).await.unwrap();
    assert_eq!((vectors.examples.len(), vectors.counter_examples.len()), (1, 0));
    assert_eq!(vectors.revision, before + 5, "each time that a vector came or went");
}

#[tokio::test]
async fn the_last_of_two_reports_stays_when_vectors_come_later() {
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
async fn counter_examples_have_the_same_limit_as_examples() {
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
async fn an_inapplicable_report_blocks_examples_of_its_turn_until_a_success() {
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
    // A failure is not reverted, and counter-examples stay.
    assert!(learner.learn_as(true, heard("third", None, turn)).await);
    change(&|tx| examples::fail(tx, learner.skill, &session.to_string())).await;
    change(&|tx| examples::unmark_inapplicable(tx, learner.skill, session, 1)).await;
    assert!(!learner.learn(heard("fourth", None, turn)).await);
    assert_eq!(learned(&learner).await, [("third".into(), true), ("second".into(), false)]);
    // Taint removes the examples and the counter-examples of the session.
    change(&|tx| examples::remove_of_session(tx, session)).await;
    assert!(learned(&learner).await.is_empty());
}

#[tokio::test]
async fn a_success_reverts_an_inapplicable_report_but_no_failure() {
    let house = House::open().await;
    let learner = Learner::new(&house, house.tenant().await.user("alice").await).await;
    let (session, turn) = (learner.session, 3);
    let named = session.to_string();
    let change = async |change: &dyn Fn(&mut WriteTx)| {
        let mut tx = WriteTx::begin(&house.db, &learner.who, "test").await.unwrap();
        change(&mut tx);
        tx.commit().await.unwrap();
    };
    let fail = |tx: &mut WriteTx| examples::fail(tx, learner.skill, &named);
    let report = |tx: &mut WriteTx| examples::mark_inapplicable(tx, learner.skill, &named);
    let succeed = |tx: &mut WriteTx| examples::unmark_inapplicable(tx, learner.skill, session, turn);
    change(&report).await;
    change(&succeed).await;
    assert!(learner.learn(heard("first", None, turn)).await);
    // The reports are sent in both orders, and repeatedly.
    for reports in [[&fail as &dyn Fn(&mut WriteTx), &report], [&report, &fail]] {
        for made in reports {
            change(made).await;
        }
        assert!(learner.learn_as(true, heard("second", None, turn)).await);
        change(&succeed).await;
        assert!(!learner.learn(heard("third", None, turn)).await, "it failed in that turn");
        assert!(learned(&learner).await.is_empty(), "the counter-example goes with the report");
    }
}

#[tokio::test]
async fn an_inapplicable_report_counts_once_per_turn_and_user() {
    let house = House::open().await;
    let tenancy = house.tenant().await;
    let alice = Learner::new(&house, tenancy.user("alice").await).await;
    let bob = Learner::new(&house, tenancy.user("bob").await).await;
    let report = async |who: &Learner<'_>, session: Option<&str>| {
        let mut tx = WriteTx::begin(&house.db, &who.who, "test").await.unwrap();
        let counted = offer_counts::count_inapplicable(&mut tx, who.skill, session, now()).await.unwrap();
        tx.commit().await.unwrap();
        counted
    };
    let session = alice.session.to_string();
    assert_eq!(report(&alice, Some(&session)).await, (true, 0));
    assert_eq!(report(&alice, Some(&session)).await, (false, 0));
    assert_eq!(report(&alice, None).await, (true, 0));
    // Bob's report names a session of alice, which is unknown to him, so the report is counted without a session.
    assert_eq!(report(&bob, Some(&session)).await, (true, 0));
    let since = now().date_naive();
    let of = async |who: &Learner<'_>| {
        let skills = [alice.skill, bob.skill];
        offer_counts::list(&house.db, &who.who, &skills, since).await.unwrap()
    };
    let counts = of(&alice).await;
    assert_eq!((counts.len(), counts[0].0, counts[0].1.inapplicable), (1, alice.skill, 2));
    let counts = of(&bob).await;
    assert_eq!((counts.len(), counts[0].0, counts[0].1.inapplicable), (1, bob.skill, 1));
}
