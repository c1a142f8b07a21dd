//! An abandoned request leaves neither an open transaction nor a context on its connection.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use knowhow_domain::Result;
use knowhow_store::{Principal, TenantTx, WriteTx, skills};
use knowhow_testing::poll_async;
use sqlx::PgConnection;

use crate::harness::{House, Place, now, open, with_database};
use crate::vault::concurrency::assert_counts;
use crate::writer::{Draft, claim, named, peek, save};

/// Polls a future at most `polls` times, then drops it.
async fn abandon_after_polls<T>(work: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut work = pin!(work);
    let mut left = polls;
    poll_fn(|cx| match (left, work.as_mut().poll(cx)) {
        (_, Poll::Ready(done)) => Poll::Ready(Some(done)),
        (0 | 1, Poll::Pending) => Poll::Ready(None),
        (_, Poll::Pending) => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Drops a future after `time`. Polls continuously, because timers are coarser than a round trip.
async fn abandon_after<T>(work: impl Future<Output = T>, time: Duration) -> Option<T> {
    let mut work = pin!(work);
    let end = Instant::now() + time;
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if Instant::now() >= end => Poll::Ready(None),
        Poll::Pending => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// Returns the number of the service's connections that stay in an open transaction. Connections that are being
/// returned to the pool get some time.
async fn poisoned(watcher: &mut PgConnection) -> i64 {
    let sql = "select count(*) from pg_stat_activity
        where datname = current_database() and usename = 'knowhow_login' and state <> 'idle'";
    let patience = Instant::now() + Duration::from_secs(5);
    loop {
        let busy = sqlx::query_scalar(sql).fetch_one(&mut *watcher).await.unwrap();
        if busy == 0 || Instant::now() > patience {
            return busy;
        }
    }
}

#[tokio::test]
async fn no_abandoned_begin_leaves_a_transaction_open() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let alice = house.tenant().await.user("alice").await;
        let mut watcher = place.owner().await;
        let mut abandoned = 0;
        for step in 0..400 {
            // Administration and jobs send BEGIN at once. A change sends it with its first statement.
            let begin = async {
                match step % 4 < 2 {
                    true => drop(TenantTx::begin(&house.db, &alice, "test").await.unwrap()),
                    false => drop(read_in_transaction(&house, &alice).await.unwrap()),
                }
            };
            let outcome = match step % 2 {
                0 => abandon_after(begin, Duration::from_micros(5 * step)).await,
                _ => abandon_after_polls(begin, usize::try_from(step / 2 % 8).unwrap()).await,
            };
            if outcome.is_none() {
                abandoned += 1;
                assert_eq!(poisoned(&mut watcher).await, 0, "step {step} left a transaction open");
            }
        }
        assert_ne!(abandoned, 0, "every begin came to its end: nothing was tried");

        // As many concurrent saves as there are connections, so that each connection is used.
        let drafts = ["a", "b"].map(|name| Draft::text(name, "Meet."));
        for written in join_all(drafts.iter().map(|draft| save(&house.db, &alice, draft))).await {
            written.unwrap();
        }
        let there = sqlx::query_scalar::<_, i64>("select count(*) from skills").fetch_one(&mut watcher).await;
        assert_eq!(there.unwrap(), 2, "acknowledged, but not there");
    })
    .await;
}

/// A needless rollback would cost a round trip and log a warning in Postgres.
#[tokio::test]
async fn a_committed_transaction_is_not_rolled_back_afterwards() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let alice = house.tenant().await.user("alice").await;
        house.db.close().await;
        let before = rolled_back(place).await;
        let db = open(&place.login_url, 2, 1);
        for _ in 0..5 {
            TenantTx::begin(&db, &alice, "test").await.unwrap().commit().await.unwrap();
        }
        db.close().await;
        assert_eq!(rolled_back(place).await, before);

        let db = open(&place.login_url, 2, 1);
        drop(TenantTx::begin(&db, &alice, "test").await.unwrap());
        db.close().await;
        assert_eq!(rolled_back(place).await, before + 1);
    })
    .await;
}

/// Returns the number of rolled-back transactions, once all connections of the service are closed. Postgres reports
/// the counts of a connection when it ends.
async fn rolled_back(place: &Place) -> i64 {
    let left = "select count(*) from pg_stat_activity where datname = current_database() and usename = 'knowhow_login'";
    poll_async("the connections to close", async || (place.count(left).await == 0).then_some(())).await;
    place.count("select xact_rollback from pg_stat_database where datname = current_database()").await
}

/// Does something on the only connection before the next caller uses it.
async fn disturb(house: &House, by: &Principal, turn: usize) {
    match turn % 6 {
        // A statement fails.
        0 => {
            let mut tx = WriteTx::begin(&house.db, by, "test").await.unwrap();
            let refusal = claim(&mut tx, "a\0b", 1, now()).await;
            assert!(refusal.is_err());
        }
        // A transaction is dropped without COMMIT or ROLLBACK.
        1 => {
            let mut tx = WriteTx::begin(&house.db, by, "test").await.unwrap();
            skills::lock(&mut tx, &named("marker")).await.unwrap();
        }
        2 => drop(abandon_after_polls(TenantTx::begin(&house.db, by, "test"), turn / 6 % 5).await),
        3 => drop(abandon_after_polls(read_in_transaction(house, by), turn / 6 % 9).await),
        4 => drop(abandon_after_polls(peek(&house.db, by, "marker"), turn / 6 % 5).await),
        _ => panic_in_transaction(house, by).await,
    }
}

async fn read_in_transaction(house: &House, who: &Principal) -> Result<String> {
    let mut tx = WriteTx::begin(&house.db, who, "test").await?;
    let document = skills::lock(&mut tx, &named("marker")).await?.map(|l| l.skill.document);
    tx.commit().await?;
    Ok(document.unwrap_or_default())
}

async fn panic_in_transaction(house: &House, who: &Principal) {
    let (db, who) = (house.db.clone(), who.clone());
    let outcome = tokio::spawn(async move {
        let mut tx = WriteTx::begin(&db, &who, "test").await.unwrap();
        skills::lock(&mut tx, &named("marker")).await.unwrap();
        // `panic!` would print its message a hundred times.
        std::panic::resume_unwind(Box::new("as meant"));
    });
    assert!(outcome.await.unwrap_err().is_panic());
}

#[tokio::test]
async fn a_thousand_turns_on_one_connection_never_mix_users() {
    let place = Place::shared().await;
    let house = House::at(&place, 1, 1);
    let (one, two) = (house.tenant().await, house.tenant().await);
    let mut users = Vec::new();
    for i in 0..20 {
        // The same user names in two tenants.
        let tenancy = if i % 2 == 0 { &one } else { &two };
        let user = tenancy.user(&format!("user-{}", i / 2)).await;
        let marker = format!("Marker of {} in {}.", user.external_id().unwrap(), user.tenant_slug());
        save(&house.db, &user, &Draft::text("marker", &marker)).await.unwrap();
        users.push((user, marker));
    }
    for turn in 0..1000 {
        let (stranger, _) = &users[(turn * 7 + 3) % users.len()];
        disturb(&house, stranger, turn).await;
        let (user, marker) = &users[turn % users.len()];
        let through_transaction = read_in_transaction(&house, user).await.unwrap();
        assert!(through_transaction.contains(marker), "turn {turn}: {through_transaction}");
        let through_door = peek(&house.db, user, "marker").await.unwrap().skill.document;
        assert!(through_door.contains(marker), "turn {turn}: {through_door}");
    }
}

#[tokio::test]
async fn abandoned_writes_happen_completely_or_not_at_all() {
    with_database(async |place| {
        let house = House::at(place, 2, 1);
        let alice = house.tenant().await.user("alice").await;
        let mut acknowledged = 0;
        for step in 0..200_usize {
            let name = format!("skill-{step}");
            let draft = Draft::text(&name, "Meet.");
            let outcome = abandon_after_polls(save(&house.db, &alice, &draft), step % 20).await;
            if outcome.is_some_and(|written| written.is_ok()) {
                acknowledged += 1;
                assert!(peek(&house.db, &alice, &name).await.is_some(), "{name} was acknowledged");
            }
        }
        assert!((1..200).contains(&acknowledged), "{acknowledged} of 200 were acknowledged");
        assert_eq!(poisoned(&mut place.owner().await).await, 0);
        assert_counts(&house, &alice).await;
    })
    .await;
}
