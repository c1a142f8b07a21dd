//! Connections to the database: few, shared, cut off, and never a way from one user to another.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;

use crate::callers::{Caller, World, skill};
use crate::service::{Service, login_url, poll, poll_async};

/// A way to the database that can be cut.
pub struct Wire {
    /// The database's URL by this way.
    pub url: String,
    listens: Arc<AtomicBool>,
    is_cut: Arc<AtomicBool>,
    is_stalled: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    /// Opens one.
    pub fn start() -> Self {
        Self::to(&login_url())
    }

    /// Opens one to that database.
    pub fn to(url: &str) -> Self {
        let mut url: url::Url = url.parse().unwrap();
        let target = (url.host_str().unwrap().to_owned(), url.port().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        url.set_host(Some("127.0.0.1")).unwrap();
        url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
        let listens = Arc::new(AtomicBool::new(true));
        let (is_cut, is_stalled, open) = (Arc::default(), Arc::default(), Arc::default());
        let wire = Self { url: url.into(), listens, is_cut, is_stalled, open };
        let (listens, is_cut, open) = (wire.listens.clone(), wire.is_cut.clone(), wire.open.clone());
        let is_stalled = wire.is_stalled.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !listens.load(Ordering::SeqCst) {
                    break;
                }
                if is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = TcpStream::connect((target.0.as_str(), target.1)).unwrap();
                open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                relay(client.try_clone().unwrap(), server.try_clone().unwrap(), is_stalled.clone());
                relay(server, client, is_stalled.clone());
            }
        });
        wire
    }

    /// Cuts it.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets nothing through, and says so to nobody.
    pub fn stall(&self) {
        self.is_stalled.store(true, Ordering::SeqCst);
    }

    /// Lets through what has come meanwhile, and all that comes.
    pub fn flow(&self) {
        self.is_stalled.store(false, Ordering::SeqCst);
    }

    /// Takes it away: from now on connections are refused, as where Postgres is not running.
    pub fn remove(&self) {
        self.listens.store(false, Ordering::SeqCst);
        self.cut();
        let url: url::Url = self.url.parse().unwrap();
        let address = (url.host_str().unwrap(), url.port().unwrap());
        // The first connection wakes the listener, which is gone then.
        poll("the listener to be gone", || TcpStream::connect(address).is_err().then_some(()));
    }

    /// A service that has its database behind it.
    pub fn service(&self) -> Service {
        Service::start(&[
            ("KNOWHOW_DATABASE_URL", &self.url),
            ("KNOWHOW_WORKERS", "1"),
            ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1000"),
        ])
    }

    /// Mends it.
    pub fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn relay(mut from: TcpStream, mut to: TcpStream, is_stalled: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            while is_stalled.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
            }
            if to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// Without its database the service says so and asks to come again; when it is back, so is the service.
#[tokio::test]
async fn a_cut_wire_is_told_and_heals() {
    let world = World::new().await;
    let wire = Wire::start();
    let service = wire.service();
    let alice = world.alice.at(&service);
    alice.create_all(&["before"]).await;
    for round in 0..3 {
        wire.cut();
        for answer in [alice.get("/v1/skills").await, alice.post("/v1/skills", skill("meanwhile")).await] {
            answer.refused(503, "unavailable");
            assert!(answer.header("retry-after").parse::<u32>().is_ok());
        }
        alice.get("/readyz").await.refused(503, "unavailable");
        alice.get("/healthz").await.ok(200);
        wire.mend();
        poll_async("the service to be ready", async || (alice.get("/readyz").await.status == 200).then_some(())).await;
        poll_async("reads to heal", async || (alice.get("/v1/skills").await.status == 200).then_some(())).await;
        alice.replace("before", "then", &format!("and {round} then")).await.ok(200);
    }
    assert_eq!(world.alice.names().await, ["before"]);
    assert_eq!(world.alice.peek("before").await["version"], 4);
}

/// Where nobody listens, readiness and writes do not wait for as long as they would for a connection that others use.
#[tokio::test]
async fn a_database_that_is_gone_is_told_before_a_probe_gives_up() {
    let world = World::new().await;
    let wire = Wire::start();
    let service = Service::start(&[
        ("KNOWHOW_DATABASE_URL", &wire.url),
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "600000"),
        ("KNOWHOW_STATEMENT_TIMEOUT_MS", "600000"),
    ]);
    let alice = world.alice.at(&service);
    alice.create_all(&["before"]).await;
    wire.remove();
    // Each within the test's own patience, which is far below the ten minutes of a busy pool.
    alice.get("/readyz").await.refused(503, "unavailable");
    for answer in [alice.post("/v1/skills", skill("meanwhile")).await, alice.get("/v1/skills").await] {
        answer.refused(503, "unavailable");
        assert!(answer.header("retry-after").parse::<u32>().is_ok());
    }
}

/// More writers than connections: each is served or told to come again, and none is half served.
#[tokio::test]
async fn a_crowd_is_served_or_told_to_come_again() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_WRITE_CONNECTIONS", "1"),
        ("KNOWHOW_READ_CONNECTIONS", "1"),
        ("KNOWHOW_ACQUIRE_TIMEOUT_MS", "500"),
    ]);
    let alice = &world.alice.at(&service);
    alice.create_all(&["first"]).await;
    let saves = (0..190).map(|n| async move {
        let name = format!("s{n:03}");
        (alice.post("/v1/skills", skill(&name)).await, name)
    });
    let mut served = vec!["first".to_owned()];
    for (answer, name) in join_all(saves).await {
        match answer.status {
            201 => served.push(name),
            _ => drop(answer.refused(503, "unavailable")),
        }
    }
    served.sort();
    assert_eq!(world.alice.names().await, served);
    alice.create_all(&["last"]).await;
}

/// One connection for two users who take turns, fail, and hang up: neither ever sees what is the other's.
#[tokio::test]
async fn one_connection_never_mixes_users_up() {
    let world = World::new().await;
    let service = Service::start(&[
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_WRITE_CONNECTIONS", "1"),
        ("KNOWHOW_READ_CONNECTIONS", "1"),
    ]);
    let (alice, bob) = (world.alice.at(&service), world.bob.at(&service));
    for (caller, whose) in [(&alice, "alice"), (&bob, "bob")] {
        let mut body = skill("diary");
        body["content"] = json!(format!("# Of {whose}\n"));
        caller.create(body).await;
    }
    let lanes = (0..10).map(|lane| {
        let (caller, whose) = if lane % 2 == 0 { (&alice, "alice") } else { (&bob, "bob") };
        take_turns(caller, whose, lane)
    });
    join_all(lanes).await;
    assert_eq!((alice.names().await, bob.names().await), (vec!["diary".to_owned()], vec!["diary".to_owned()]));
    assert_eq!(alice.peek("diary").await["content"], "# Of alice\n");
    assert_eq!(bob.peek("diary").await["content"], "# Of bob\n");
}

async fn take_turns(caller: &Caller, whose: &str, lane: u64) {
    for round in 0..100_u64 {
        match round % 5 {
            0 => drop(caller.get("/v1/skills/none").await.refused(404, "not-found")),
            1 => drop(caller.replace("diary", "no such words", "x").await.refused(422, "patch-no-match")),
            2 => hang_up(caller, lane * 131 + round * 37).await,
            _ => {
                let loaded = caller.get("/v1/skills/diary").await.ok(200);
                assert_eq!(loaded["content"], format!("# Of {whose}\n"));
            }
        }
    }
}

/// Sends a write that would change nothing, and is gone at some moment before the answer.
async fn hang_up(caller: &Caller, moment: u64) {
    let write = caller.post("/v1/skills/diary/rollback", json!({"version": 1})).attempt();
    drop(tokio::time::timeout(Duration::from_micros(moment % 4000), write).await);
}
