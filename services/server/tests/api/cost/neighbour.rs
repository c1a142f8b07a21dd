//! The neighbour: a user of another tenant who sends everyday requests while a test runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tokio::runtime::Builder;

use crate::callers::{Caller, Sending, World, skill};
use crate::service::{Service, keeper};
use crate::talk::Talk;

/// Number of connections of an attack.
pub const LANES: usize = 16;
/// Time between two requests of the neighbour.
const PAUSE: Duration = Duration::from_millis(100);
/// Duration of each measurement of the neighbour.
const WATCHED: Duration = Duration::from_secs(12);
const SKILLS: usize = 20;
/// Factors by which the neighbour's p99 latency may grow: the goal, and the limit for a failure on a shared machine.
const GOAL: f64 = 1.5;
const MOST: f64 = 3.0;
/// Latency that never counts as slow.
const UNFELT: Duration = Duration::from_millis(60);

/// Another tenant's user with some skills and a conversation.
pub struct Neighbour {
    who: Caller,
    talk: Talk,
    _world: World,
}

/// Latencies and failures of the neighbour's requests.
pub struct Felt {
    latencies: Vec<Duration>,
    pub failed: Vec<String>,
}

impl Neighbour {
    /// Creates a neighbour at this process.
    pub async fn at(service: &Service) -> Self {
        let world = World::at(service, keeper(), json!({"starter_skills": false})).await;
        let who = world.alice.clone();
        for n in 0..SKILLS {
            who.create(skill(&format!("chore-{n}"))).await;
        }
        let talk = Talk::long(&who).await;
        Self { who, talk, _world: world }
    }

    /// Returns the everyday request with this number.
    fn request(&self, n: usize) -> Sending {
        let chore = format!("chore-{}", n % SKILLS);
        match n % 5 {
            0 => self.who.get("/v1/skills?limit=50"),
            1 => self.who.get(&format!("/v1/skills/{chore}")),
            2 => self.talk.turn(json!({"message": format!("please do {chore}"), "deadline_ms": 2000})),
            3 => {
                let mut body = skill(&chore);
                body["content"] = json!(format!("# {chore}\n\nDone {n} times, {:?}.\n", Instant::now()));
                self.who.post("/v1/skills", body)
            }
            _ => self.who.post("/v1/skills/match", json!({"message": format!("who does {chore}?")})),
        }
    }

    /// Sends requests at a fixed pace, without waiting for earlier answers, and returns the measurements.
    pub async fn live(&self) -> Felt {
        let (mut felt, mut pending) = (Felt { latencies: Vec::new(), failed: Vec::new() }, FuturesUnordered::new());
        let mut clock = tokio::time::interval(PAUSE);
        let end = tokio::time::Instant::now() + WATCHED;
        let mut sent = 0;
        loop {
            tokio::select! {
                Some(one) = pending.next(), if !pending.is_empty() => felt.add(one),
                _ = clock.tick(), if tokio::time::Instant::now() < end => {
                    pending.push(timed(self.request(sent)));
                    sent += 1;
                }
                () = tokio::time::sleep_until(end), if pending.is_empty() => return felt,
            }
        }
    }
}

/// Latency and outcome of a request.
struct Timed {
    latency: Duration,
    /// The answer if it was not a success.
    failure: Option<String>,
}

async fn timed(request: Sending) -> Timed {
    let start = Instant::now();
    let answer = request.attempt().await;
    let failure = match answer {
        Some(answer) if answer.status < 400 => None,
        Some(answer) => Some(answer.to_string()),
        None => Some("no answer".to_owned()),
    };
    Timed { latency: start.elapsed(), failure }
}

impl Felt {
    fn add(&mut self, timed: Timed) {
        self.latencies.push(timed.latency);
        self.failed.extend(timed.failure);
    }

    /// Returns the latency that half of the requests do not exceed.
    pub fn p50(&self) -> Duration {
        self.percentile(50)
    }

    /// Returns the latency that 99 % of the requests do not exceed.
    pub fn p99(&self) -> Duration {
        self.percentile(99)
    }

    fn percentile(&self, percent: usize) -> Duration {
        let mut sorted = self.latencies.clone();
        sorted.sort_unstable();
        sorted[(sorted.len() * percent).div_ceil(100) - 1]
    }

    /// Returns whether these requests are slow compared with those of the neighbour alone.
    pub fn is_slow_beside(&self, alone: &Self) -> bool {
        self.p99().as_secs_f64() > MOST * alone.p99().as_secs_f64() && self.p99() > UNFELT
    }
}

/// An attack from a separate thread, on [`LANES`] connections, each of which sends a request as soon as the one
/// before is answered.
pub struct Attack {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Attack {
    /// Begins an attack. `request` returns the request with a number.
    pub fn begin(request: impl Fn(usize) -> Sending + Send + Sync + 'static) -> Self {
        let stop = Arc::<AtomicBool>::default();
        let told = stop.clone();
        let thread = std::thread::spawn(move || {
            let sent = AtomicUsize::new(0);
            let lane = async || {
                while !told.load(Ordering::Relaxed) {
                    drop(request(sent.fetch_add(1, Ordering::Relaxed)).attempt().await);
                }
            };
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(join_all((0..LANES).map(|_| lane())));
            sent.into_inner()
        });
        Self { stop, thread }
    }

    /// Ends the attack, and returns the number of requests sent.
    pub fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Measures a neighbour first alone and then during the attack. No request of the neighbour may fail, and none may
/// become slow if the service is optimised. Without optimisation, 16 connections always keep the machine busy.
pub async fn hold_beside(service: &Service, what: &str, request: impl Fn(usize) -> Sending + Send + Sync + 'static) {
    let neighbour = Neighbour::at(service).await;
    neighbour.live().await;
    let alone = neighbour.live().await;
    let attack = Attack::begin(request);
    let beside = neighbour.live().await;
    let answered = attack.end();
    let ratio = beside.p99().as_secs_f64() / alone.p99().as_secs_f64();
    println!(
        "{what}: the neighbour's p99 is {:?} alone, {:?} beside {LANES} connections ({answered} requests): x {ratio:.1} \
         (goal {GOAL})",
        alone.p99(),
        beside.p99()
    );
    assert!(beside.failed.is_empty(), "of the neighbour failed: {:#?}", beside.failed);
    assert!(cfg!(debug_assertions) || !beside.is_slow_beside(&alone), "x {ratio:.1}; at most {MOST}");
}
