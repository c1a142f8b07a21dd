//! How many round trips a change takes, and what is left where one breaks off between them: nothing.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use knowhow_domain::Result;
use knowhow_store::skills::{self, Written};
use knowhow_store::{Database, Principal, WriteTx, idempotency, memories};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use url::Url;

use crate::concurrency::assert_catalog;
use crate::harness::{House, now, open, with_role};
use crate::writer::{Draft, claim, named, peek, save, save_in};

/// What passes between the service and Postgres.
#[derive(Default)]
pub struct Wire {
    /// How often the service began to send after Postgres had.
    flights: AtomicUsize,
    postgres_spoke: AtomicBool,
    /// Transactions that looked for callers.
    lookups: AtomicUsize,
    cut: Notify,
}

impl Wire {
    /// A way to the database of `url` that counts, and can be cut.
    pub async fn to(url: &str) -> (Arc<Self>, String) {
        let mut through: Url = url.parse().unwrap();
        let target = (through.host_str().unwrap().to_owned(), through.port().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        through.set_host(Some("127.0.0.1")).unwrap();
        through.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let wire = Arc::new(Self::default());
        let counting = wire.clone();
        tokio::spawn(async move {
            loop {
                let (service, _) = listener.accept().await.unwrap();
                let postgres = TcpStream::connect((target.0.as_str(), target.1)).await.unwrap();
                tokio::spawn(counting.clone().carry(service, postgres));
            }
        });
        (wire, through.to_string())
    }

    async fn carry(self: Arc<Self>, service: TcpStream, postgres: TcpStream) {
        service.set_nodelay(true).unwrap();
        postgres.set_nodelay(true).unwrap();
        let ((from_service, to_service), (from_postgres, to_postgres)) = (service.into_split(), postgres.into_split());
        tokio::select! {
            () = copy(from_service, to_postgres, |sent| {
                if begins_lookup(sent) {
                    self.lookups.fetch_add(1, Ordering::SeqCst);
                }
                if self.postgres_spoke.swap(false, Ordering::SeqCst) {
                    self.flights.fetch_add(1, Ordering::SeqCst);
                }
            }) => {}
            () = copy(from_postgres, to_service, |_| self.postgres_spoke.store(true, Ordering::SeqCst)) => {}
            () = self.cut.notified() => {}
        }
    }

    /// How many transactions have looked for callers so far.
    pub fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }

    /// The round trips of some work.
    async fn count<T>(&self, work: impl Future<Output = T>) -> (usize, T) {
        let before = self.flights.load(Ordering::SeqCst);
        let done = work.await;
        (self.flights.load(Ordering::SeqCst) - before, done)
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, passed: impl Fn(&[u8])) {
    let mut bytes = vec![0; 65_536];
    loop {
        match from.read(&mut bytes).await {
            Ok(0) => return,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
            read => {
                let read = &bytes[..read.unwrap()];
                passed(read);
                to.write_all(read).await.unwrap();
            }
        }
    }
}

/// Who looks for a caller begins so, in a message of its own.
fn begins_lookup(sent: &[u8]) -> bool {
    String::from_utf8_lossy(sent).contains("SET LOCAL ROLE knowhow_system")
}

/// A save as it is done with an idempotency key.
async fn save_with_key(db: &Database, who: &Principal, draft: &Draft<'_>, key: &str) -> Result<Written> {
    let mut tx = WriteTx::begin(db, who, "test").await?;
    idempotency::claim(&mut tx, key, &[1; 32], now());
    let written = save_in(&mut tx, draft).await?;
    assert!(!tx.is_repeated().await?);
    idempotency::answer(&mut tx, key, json!({"kept": true}));
    tx.commit().await?;
    Ok(written)
}

#[tokio::test]
async fn a_change_takes_two_round_trips_and_none_at_release() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let (wire, url) = Wire::to(&house.place.login_url).await;
    let db = open(&url, 1, 1);
    // The first time, each statement is prepared.
    save_with_key(&db, &alice, &Draft::text("plan-meeting", "Meet."), "first").await.unwrap();
    save(&db, &alice, &Draft::text("plan-meeting", "Meet again.")).await.unwrap();

    let (flights, saved) = wire.count(save(&db, &alice, &Draft::text("plan-meeting", "Meet soon."))).await;
    assert_eq!((flights, saved.unwrap().version), (2, 3), "a save");
    let (flights, saved) =
        wire.count(save_with_key(&db, &alice, &Draft::text("plan-meeting", "Meet late."), "second")).await;
    assert_eq!((flights, saved.unwrap().version), (2, 4), "a save with a key");
    let (flights, saved) = wire.count(save(&db, &alice, &Draft::text("plan-dinner", "Eat."))).await;
    assert_eq!((flights, saved.unwrap().version), (2, 1), "a new skill");
    // Nothing was on its way when the connection was given back.
    let (flights, ()) = wire.count(tokio::time::sleep(std::time::Duration::from_millis(50))).await;
    assert_eq!(flights, 0, "at release");

    let memory = new_memory();
    let keep = async || {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        memories::add(&mut tx, &memory).await.unwrap().unwrap();
        tx.commit().await.unwrap();
    };
    keep().await;
    let (flights, ()) = wire.count(keep()).await;
    assert_eq!(flights, 2, "a memory");
    db.close().await;
}

fn new_memory() -> memories::NewMemory<'static> {
    memories::NewMemory {
        kind: knowhow_domain::MemoryKind::Semantic,
        content: "Prefers trains.",
        tags: &[],
        importance: 0.5,
        core: true,
        session: None,
        named: &[],
        embedding: None,
        now: now(),
    }
}

/// As where the process is killed: Postgres hears no more of it.
#[tokio::test]
async fn what_breaks_off_between_the_round_trips_leaves_nothing() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let (wire, url) = Wire::to(&house.place.login_url).await;
    let db = open(&url, 1, 1);
    save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    for keyed in [false, true] {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        if keyed {
            idempotency::claim(&mut tx, "key", &[1; 32], now());
        }
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
        wire.cut.notify_waiters();
        assert_eq!(tx.commit().await.unwrap_err().code(), "unavailable");
        // The lock is free again, and the pool has a connection.
        let written = save(&db, &alice, &Draft::text("plan-meeting", &format!("After {keyed}."))).await.unwrap();
        assert_eq!(written.version, if keyed { 3 } else { 2 });
    }
    let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
    assert_eq!(claim(&mut tx, "key", 2, now()).await.unwrap(), None, "the key is free");
    drop(tx);
    assert_catalog(&house, &alice).await;
    db.close().await;
}

#[tokio::test]
async fn a_write_that_fails_with_commit_behind_it_leaves_nothing_and_frees_its_connection() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    with_role(&house.place, "", async |role, url| {
        let db = open(url, 1, 1);
        let id = save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap().id;
        let backend = format!("select pid::bigint from pg_stat_activity where usename = '{role}'");
        let before = house.place.count(&backend).await;
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        idempotency::claim(&mut tx, "key", &[1; 32], now());
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
        // Nobody does so while the user's row is locked, but for somebody who does not ask for it.
        house.place.run(&format!("update skills set version = 7 where skill_id = '{}'", id.0)).await;
        idempotency::answer(&mut tx, "key", json!({"kept": true}));
        assert_eq!(tx.commit().await.unwrap_err().code(), "internal");
        let counts = format!(
            "select (select count(*) from skill_versions where skill_id = '{0}') * 100
                  + (select count(*) from idempotency_keys where user_id = '{1}') * 10
                  + (select count(*) from skills where skill_id = '{0}' and version = 7)",
            id.0,
            alice.user().unwrap().0
        );
        assert_eq!(house.place.count(&counts).await, 101);
        save(&db, &alice, &Draft::text("plan-dinner", "Eat.")).await.unwrap();
        assert_eq!(house.place.count(&backend).await, before, "the connection was closed");
        db.close().await;
    })
    .await;
}

/// A request that is refused has read something, and no more.
#[tokio::test]
async fn a_transaction_that_is_left_gives_its_connection_and_its_lock_back() {
    let house = House::open().await;
    let alice = house.tenant().await.user("alice").await;
    let db = open(&house.place.login_url, 1, 1);
    save(&db, &alice, &Draft::text("plan-meeting", "Meet.")).await.unwrap();
    for _ in 0..3 {
        let mut tx = WriteTx::begin(&db, &alice, "test").await.unwrap();
        skills::lock(&mut tx, &named("plan-meeting")).await.unwrap().unwrap();
        save_in(&mut tx, &Draft::text("plan-meeting", "Never.")).await.unwrap();
    }
    save(&db, &alice, &Draft::text("plan-meeting", "Meet again.")).await.unwrap();
    assert_eq!(peek(&db, &alice, "plan-meeting").await.unwrap().skill.version, 2);
    db.close().await;
}
