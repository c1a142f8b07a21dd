//! A new release is rolled out under load: no request fails, and no acknowledged write is lost.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use futures_util::future::{join, join_all};
use serde_json::json;
use tokio::task::spawn_blocking;

use super::worker::{Ground, world};
use crate::callers::{Caller, Sending, skill};
use crate::raw;
use crate::service::{PATIENCE, Service, poll};

const APIS: usize = 3;
const WORKERS: usize = 2;
const CLIENTS: usize = 8;

/// Minimum requests that are answered before the next process is replaced.
const BETWEEN: usize = 200;

/// A load balancer that sends each request to the next ready process. The client repeats only requests that were not
/// sent because their idle connection was closed.
#[derive(Clone, Default)]
struct Balancer {
    known: Arc<Mutex<Vec<Backend>>>,
    turn: Arc<AtomicUsize>,
    ends: Arc<AtomicBool>,
}

struct Backend {
    address: String,
    is_ready: bool,
}

impl Balancer {
    /// Starts a thread that asks the processes in turn for their readiness, without a pause.
    fn start() -> Self {
        let balancer = Self::default();
        let asking = balancer.clone();
        thread::spawn(move || {
            while !asking.ends.load(Ordering::SeqCst) {
                let known: Vec<String> =
                    asking.known.lock().unwrap().iter().map(|backend| backend.address.clone()).collect();
                for address in known {
                    let is_ready = raw::try_get(&address, "/readyz").is_some_and(|answer| answer.status == 200);
                    for backend in asking.known.lock().unwrap().iter_mut().filter(|b| b.address == address) {
                        backend.is_ready = is_ready;
                    }
                }
            }
        });
        balancer
    }

    fn add(&self, service: &Service) {
        self.known.lock().unwrap().push(Backend { address: service.address.clone(), is_ready: true });
    }

    fn remove(&self, service: &Service) {
        self.known.lock().unwrap().retain(|backend| backend.address != service.address);
    }

    fn choose(&self) -> String {
        let known = self.known.lock().unwrap();
        let ready: Vec<&Backend> = known.iter().filter(|backend| backend.is_ready).collect();
        format!("http://{}", ready[self.turn.fetch_add(1, Ordering::Relaxed) % ready.len()].address)
    }
}

/// Stops the clients when it is dropped.
struct Ends(Balancer);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ends.store(true, Ordering::SeqCst);
    }
}

/// Requests and failures of all clients.
#[derive(Default)]
struct Seen {
    answered: AtomicUsize,
    failed: Mutex<Vec<String>>,
}

/// Saves, loads, lists and opens sessions until the balancer ends. Returns the last acknowledged version.
async fn use_it(who: &Caller, balancer: &Balancer, seen: &Seen) -> i64 {
    let mut saved = 0;
    while !balancer.ends.load(Ordering::SeqCst) {
        let mut text = skill("kept");
        text["content"] = json!(format!("# Text {}\n\nDo it.\n", saved + 1));
        let requests: [&dyn Fn(&Caller) -> Sending; 4] = [
            &|at| at.post("/v1/skills", text.clone()),
            &|at| at.get("/v1/skills/kept"),
            &|at| at.get("/v1/skills"),
            &|at| at.post("/v1/sessions", json!({})),
        ];
        for request in requests {
            let answer = request(&who.at_url(&balancer.choose())).attempt().await;
            seen.answered.fetch_add(1, Ordering::SeqCst);
            match answer {
                None => seen.failed.lock().unwrap().push("no answer".to_owned()),
                Some(answer) if answer.status >= 300 => seen.failed.lock().unwrap().push(answer.to_string()),
                Some(answer) => saved = answer.json()["version"].as_i64().unwrap_or(saved),
            }
        }
    }
    saved
}

/// The processes of a deployment.
struct Deployment {
    settings: Vec<(&'static str, String)>,
    apis: Vec<Service>,
    workers: Vec<Service>,
}

impl Deployment {
    fn start(settings: Vec<(&'static str, String)>) -> Self {
        let mut deployment = Self { settings, apis: Vec::new(), workers: Vec::new() };
        deployment.apis = (0..APIS).map(|_| Service::start(&deployment.settings())).collect();
        deployment.workers = (0..WORKERS).map(|_| Service::work(&deployment.settings())).collect();
        deployment
    }

    fn settings(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// Replaces one process after the other. Each new process is ready before the old one stops.
    fn roll(mut self, balancer: &Balancer, seen: &Seen) -> Self {
        let more = || {
            let before = seen.answered.load(Ordering::SeqCst);
            poll("requests to be answered", || {
                (seen.answered.load(Ordering::SeqCst) >= before + BETWEEN).then_some(())
            });
        };
        for place in 0..APIS {
            more();
            let new = Service::start(&self.settings());
            balancer.add(&new);
            let mut old = std::mem::replace(&mut self.apis[place], new);
            old.terminate();
            assert!(old.wait(PATIENCE).success());
            balancer.remove(&old);
        }
        for place in 0..WORKERS {
            let new = Service::work(&self.settings());
            let mut old = std::mem::replace(&mut self.workers[place], new);
            old.terminate();
            assert!(old.wait(PATIENCE).success());
        }
        more();
        self
    }
}

#[tokio::test]
async fn a_release_is_rolled_out_without_a_failed_request() {
    let ground = Ground::new();
    let deployment = Deployment::start(vec![
        ("KNOWHOW_DATABASE_URL", ground.login()),
        ("KNOWHOW_WORKERS", "1".into()),
        ("KNOWHOW_WRITE_CONNECTIONS", "4".into()),
        ("KNOWHOW_DRAIN_S", "3".into()),
    ]);
    let world = world(&deployment.apis[0]).await;
    let scopes = "skills:read skills:write sessions";
    let users: Vec<Caller> = (0..CLIENTS).map(|n| world.scoped(&format!("user-{n}"), scopes)).collect();
    let (balancer, seen) = (Balancer::start(), Arc::<Seen>::default());
    deployment.apis.iter().for_each(|api| balancer.add(api));
    let rolling = {
        let (balancer, seen) = (balancer.clone(), seen.clone());
        spawn_blocking(move || {
            // The clients end even if the roll-out fails.
            let ends = Ends(balancer.clone());
            let deployment = deployment.roll(&balancer, &seen);
            drop(ends);
            deployment
        })
    };
    let (saved, deployment) = join(join_all(users.iter().map(|user| use_it(user, &balancer, &seen))), rolling).await;
    let deployment = deployment.unwrap();
    let failed = std::mem::take(&mut *seen.failed.lock().unwrap());
    let answered = seen.answered.load(Ordering::SeqCst);
    println!("{answered} requests while {APIS} APIs and {WORKERS} workers were replaced, {} failed", failed.len());
    assert!(failed.is_empty(), "{} of {answered}: {:?}", failed.len(), failed.first());
    for (user, saved) in users.iter().zip(saved) {
        let kept = user.at(&deployment.apis[0]).peek("kept").await;
        assert_eq!(kept["version"], saved);
    }
    ground.idle();
}
