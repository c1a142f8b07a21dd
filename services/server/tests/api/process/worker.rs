//! The worker as a process: killed, stopped, disconnected, and several concurrently. Each test has a database of its
//! own, because a worker takes every job.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use knowhow_domain::recall::embedded_text;
use knowhow_domain::skills::manifest;
use knowhow_testing::Wire;
use reqwest::Method;
use serde_json::{Value, json};
use url::Url;

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::service::{Service, knowhow, login_url_of, migrated, owner_url, poll, poll_async};
use crate::signing;
use crate::sql::{execute, execute_at};

/// A fake embeddings server. It can delay all answers except those about texts with the word `urgent`. It can refuse
/// texts with the word `poison`.
struct Fake {
    url: String,
    asked: Arc<AtomicUsize>,
    thinks: Arc<AtomicBool>,
    refuses: Arc<AtomicBool>,
}

impl Fake {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let fake = Self {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            asked: Arc::default(),
            thinks: Arc::default(),
            refuses: Arc::new(AtomicBool::new(true)),
        };
        let (asked, thinks, refuses) = (fake.asked.clone(), fake.thinks.clone(), fake.refuses.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, thinks, refuses) = (asked.clone(), thinks.clone(), refuses.clone());
                std::thread::spawn(move || answer(stream, &asked, &thinks, &refuses));
            }
        });
        fake
    }
}

/// Answers one request. The client may be killed meanwhile, so errors are ignored.
fn answer(mut stream: TcpStream, asked: &AtomicUsize, thinks: &AtomicBool, refuses: &AtomicBool) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let question: Value = serde_json::from_slice(&body).ok()?;
    asked.fetch_add(1, Ordering::SeqCst);
    let is_urgent = question["input"].to_string().contains("urgent");
    poll("the model to have thought", || (is_urgent || !thinks.load(Ordering::SeqCst)).then_some(()));
    let texts = question["input"].as_array()?;
    let vectors = texts.iter().map(|text| json!({"embedding": [text.as_str().unwrap_or_default().len(), 1, 2]}));
    let poisoned = refuses.load(Ordering::SeqCst) && question["input"].to_string().contains("poison");
    let (status, answer) = match poisoned {
        true => ("400 Bad Request", json!({"error": {"message": "no"}})),
        false => ("200 OK", json!({"data": vectors.collect::<Vec<_>>()})),
    };
    let answer = answer.to_string();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{answer}", answer.len()).as_bytes()).ok()
}

/// Returns the owner's URL of a database.
fn database(name: &str) -> Url {
    let mut owner = owner_url();
    owner.set_path(name);
    owner
}

/// Returns the name of an empty, migrated database to copy. A database of an earlier run may have other migrations,
/// so it is replaced.
fn template() -> &'static str {
    static TEMPLATE: OnceLock<String> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        migrated();
        let name = format!("{}_template", owner_url().path().trim_start_matches('/'));
        execute(&format!("drop database if exists {name} with (force)"));
        execute(&format!("create database {name} template template0"));
        let made = knowhow(&["migrate"]).env("DATABASE_URL", database(&name).as_str()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        name
    })
}

/// A database of its own and a fake embeddings server.
pub struct Ground {
    /// The owner's URL of the database.
    pub owner: Url,
    fake: Fake,
}

impl Ground {
    /// Creates an empty database by copying the template, which takes a third of the time of the migrations.
    pub fn new() -> Self {
        let name = format!("knowhow_worker_{}", uuid::Uuid::now_v7().simple());
        execute(&format!("create database {name} template {}", template()));
        // A copy has neither the grants nor the settings of its template. Commits do not wait for the disk, because
        // no test crashes Postgres.
        execute(&format!(
            "grant create on database {name} to knowhow_owner; grant connect on database {name} to knowhow_login; \
             alter database {name} set synchronous_commit = off"
        ));
        Self { owner: database(&name), fake: Fake::start() }
    }

    /// Returns the settings of processes on this database, followed by `more`.
    pub fn with<'a>(&'a self, login: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        let ours = [
            ("KNOWHOW_DATABASE_URL", login),
            ("KNOWHOW_WORKERS", "1"),
            ("KNOWHOW_WRITE_CONNECTIONS", "3"),
            ("KNOWHOW_READ_CONNECTIONS", "1"),
            ("KNOWHOW_EMBEDDINGS_URL", &self.fake.url),
            ("KNOWHOW_EMBEDDINGS_MODEL", "fake"),
            ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "3"),
        ];
        ours.into_iter().chain(more.iter().copied()).collect()
    }

    /// Returns the URL with which the service logs in.
    pub fn login(&self) -> String {
        login_url_of(self.owner.clone())
    }

    /// Starts a server on this database.
    pub fn serve(&self, more: &[(&str, &str)]) -> Service {
        Service::start(&self.with(&self.login(), more))
    }

    /// Starts a server that reaches no embeddings server, so that jobs make the vectors.
    fn serve_without_vectors(&self) -> Service {
        self.serve(&[("KNOWHOW_EMBEDDINGS_URL", "http://127.0.0.1:1/v1")])
    }

    /// Starts a worker on this database.
    pub fn work(&self, more: &[(&str, &str)]) -> Service {
        Service::work(&self.with(&self.login(), more))
    }

    /// Sets whether the embeddings server delays its answers.
    pub fn think(&self, thinks: bool) {
        self.fake.thinks.store(thinks, Ordering::SeqCst);
    }

    /// Returns the number of requests to the embeddings server.
    pub fn asked(&self) -> usize {
        self.fake.asked.load(Ordering::SeqCst)
    }

    /// Returns the number of rows in `rows`, a table with an optional condition.
    pub fn count(&self, rows: &str) -> u64 {
        execute_at(&self.owner, &format!("select from {rows}"))
    }

    /// Waits until no job is left. Failed jobs are retried without delay.
    pub fn idle(&self) {
        poll("the jobs to be done", || {
            self.hurry();
            (self.count("graphile_worker._private_jobs") == 0).then_some(())
        });
    }

    /// Makes failed jobs due now.
    fn hurry(&self) {
        execute_at(&self.owner, "update graphile_worker._private_jobs set run_at = now() where locked_at is null");
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let drop_it = format!("drop database {} with (force)", self.owner.path().trim_start_matches('/'));
        // A panic that leaves `drop` during another panic would abort the process.
        let _ = std::panic::catch_unwind(|| execute(&drop_it));
    }
}

/// Creates a tenant without starter skills.
pub async fn world(service: &Service) -> World {
    World::at(service, service, json!({"starter_skills": false})).await
}

/// Returns another user of the world's tenant.
fn user(world: &World, name: &str) -> Caller {
    world.alice.with_token(signing::hs256(&world.secret, &signing::claims(&world.slug, name)))
}

const KILLS: usize = 20;

#[tokio::test]
async fn jobs_of_killed_workers_have_one_effect() {
    let ground = Ground::new();
    let service = ground.serve_without_vectors();
    let world = world(&service).await;
    let users: Vec<Caller> = (0..KILLS).map(|n| user(&world, &format!("u{n}"))).collect();
    for user in &users {
        user.create(skill("plan")).await;
    }
    assert_eq!(ground.count("graphile_worker._private_jobs where attempts = 0"), KILLS as u64);
    ground.fake.thinks.store(true, Ordering::SeqCst);
    let asked = ground.fake.asked.load(Ordering::SeqCst);
    for kill in 0..KILLS {
        // The recovery time is so long that no worker takes the job of a killed one.
        let mut worker = ground.work(&[("KNOWHOW_WORKER_CONCURRENCY", "1"), ("KNOWHOW_WORKER_RECOVERY_S", "600")]);
        poll("a job to be in hand", || (ground.fake.asked.load(Ordering::SeqCst) > asked + kill).then_some(()));
        worker.kill();
    }
    assert_eq!(ground.count("graphile_worker._private_jobs where locked_by is not null"), KILLS as u64);
    assert_eq!(ground.count("skill_embeddings"), 0);
    ground.fake.thinks.store(false, Ordering::SeqCst);
    let soon = [("KNOWHOW_WORKER_RECOVERY_S", "2")];
    let _workers = [ground.work(&soon), ground.work(&soon)];
    ground.idle();
    assert_eq!(ground.count("skill_embeddings where model = 'fake@3'"), KILLS as u64);
    // The save and the vector each increase the revision by one.
    assert_eq!(ground.count("user_catalogs where skill_count = 1 and revision = 2"), KILLS as u64);
}

#[tokio::test]
async fn two_workers_and_three_servers_run_each_job_once() {
    let ground = Ground::new();
    let services = [ground.serve(&[]), ground.serve(&[]), ground.serve(&[])];
    let _workers = [ground.work(&[]), ground.work(&[])];
    let world = world(&services[0]).await;
    let names: Vec<String> = (0..8).map(|n| format!("skill-{n}")).collect();
    let saving = (0..12).map(|n| {
        let (caller, names) = (user(&world, &format!("u{}", n % 4)).at(&services[n % 3]), &names);
        async move {
            for (at, name) in names.iter().enumerate() {
                let mut body = skill(name);
                body["description"] = json!(format!("Version {n} of {name}. Use it when asked, {at}."));
                let saved = caller.post("/v1/skills", body).await;
                assert!([200, 201].contains(&saved.status), "{saved}");
            }
        }
    });
    join_all(saving).await;
    ground.idle();
    assert_eq!(ground.count("skills"), 32);
    // Each vector is of the skill's current text.
    let mut digests = Vec::new();
    for n in 0..4 {
        let skills = user(&world, &format!("u{n}")).get("/v1/skills").await.ok(200)["items"].clone();
        digests.extend(skills.as_array().unwrap().iter().map(|skill| {
            let text = |member: &str| skill[member].as_str().unwrap().to_owned();
            let text = embedded_text(&text("name"), &text("description"), &[]);
            format!("'{}'", manifest::hex(&manifest::digest(text.as_bytes())))
        }));
    }
    let current = format!("skill_embeddings where encode(text_digest, 'hex') in ({})", digests.join(", "));
    assert_eq!(ground.count(&current), 32);
    assert_eq!(ground.count("skill_embeddings"), 32);
}

#[tokio::test]
async fn jobs_wait_for_a_worker_which_can_run_in_the_server() {
    let ground = Ground::new();
    let service = ground.serve(&[]);
    let world = world(&service).await;
    world.alice.create_all(&["plan"]).await;
    let jobs = world.admin.get("/v1/admin/jobs").await.ok(200)["items"].clone();
    assert_eq!((pluck(&jobs, "task"), pluck(&jobs, "state")), (vec!["embed_skill".into()], vec!["waiting".into()]));
    let mut second = ground.serve(&[("KNOWHOW_WITH_WORKER", "true")]);
    ground.idle();
    assert_eq!(ground.count("skill_embeddings"), 1);
    // A change of only the body makes no new vector.
    world.alice.replace("plan", "First", "Last").await.ok(200);
    assert_eq!(world.admin.get("/v1/admin/jobs").await.ok(200)["items"], json!([]));
    world.alice.at(&second).put("/v1/skills/plan/fields", json!({"triggers": ["make a plan"]})).await.ok(200);
    ground.idle();
    second.terminate();
    assert!(second.wait(Duration::from_secs(10)).success());
}

#[tokio::test]
async fn a_stopped_worker_finishes_its_job_or_returns_it() {
    let ground = Ground::new();
    let service = ground.serve_without_vectors();
    let world = world(&service).await;
    world.alice.create_all(&["plan"]).await;
    ground.fake.thinks.store(true, Ordering::SeqCst);
    let stopped = |grace: &str, meanwhile: &dyn Fn()| {
        let asked = ground.fake.asked.load(Ordering::SeqCst);
        let mut worker = ground.work(&[("KNOWHOW_SHUTDOWN_TIMEOUT_S", grace)]);
        poll("the job to be in hand", || (ground.fake.asked.load(Ordering::SeqCst) > asked).then_some(()));
        worker.terminate();
        meanwhile();
        assert!(worker.wait(Duration::from_secs(10)).success());
    };
    stopped("1", &|| {});
    // Periodic jobs may begin at any minute, so only jobs of this task are counted.
    let embedding = "graphile_worker.jobs where task_identifier = 'embed_skill'";
    let given_back = format!("{embedding} and locked_at is null and attempts = 0");
    assert_eq!((ground.count(&given_back), ground.count("graphile_worker._private_workers")), (1, 0));
    stopped("20", &|| ground.fake.thinks.store(false, Ordering::SeqCst));
    assert_eq!((ground.count(embedding), ground.count("skill_embeddings")), (0, 1));
}

#[tokio::test]
async fn a_job_that_always_fails_becomes_dead_while_others_run() {
    let ground = Ground::new();
    let service = ground.serve(&[("KNOWHOW_WITH_WORKER", "true")]);
    let world = world(&service).await;
    let mut poison = skill("bad");
    poison["description"] = json!("This is poison for the model. Use it never.");
    world.alice.create(poison).await;
    world.alice.create_all(&["good", "fine"]).await;
    poll("the others to be done", || (ground.count("skill_embeddings") == 2).then_some(()));
    let dead = poll_async("the job to be dead", async || {
        ground.hurry();
        let jobs = world.admin.get("/v1/admin/jobs?state=dead").await.ok(200)["items"].clone();
        jobs.as_array().unwrap().first().cloned()
    })
    .await;
    assert_eq!((&dead["attempts"], &dead["user"], &dead["task"]), (&json!(10), &json!("alice"), &json!("embed_skill")));
    assert_eq!(dead["last_error"], "embeddings are temporarily unavailable; try again later");
    let doctor = knowhow(&["doctor"]).env("KNOWHOW_DATABASE_URL", ground.login()).output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    assert!(said.contains("jobs: the queue exists, 1 dead"), "{said}");
    ground.fake.refuses.store(false, Ordering::SeqCst);
    world.admin.send(Method::POST, &format!("/v1/admin/jobs/{}/retry", dead["id"])).await.empty(204);
    ground.idle();
    assert_eq!(ground.count("skill_embeddings"), 3);
}

#[tokio::test]
async fn a_worker_survives_the_loss_of_its_database() {
    let ground = Ground::new();
    let service = ground.serve_without_vectors();
    let world = world(&service).await;
    let wire = Wire::to(&ground.login());
    let quiet = "info,graphile_worker_crontab_runner=off";
    let worker = Service::work(&ground.with(&wire.url, &[("KNOWHOW_LOG", quiet), ("KNOWHOW_WORKER_RECOVERY_S", "2")]));
    world.alice.create_all(&["before"]).await;
    ground.idle();
    wire.cut();
    world.alice.create_all(&["meanwhile"]).await;
    execute_at(&ground.owner, "delete from skill_embeddings");
    let again =
        "select app.enqueue_for(tenant_id, user_id, 'embed_skill', jsonb_build_object('skill_id', skill_id), 'again')";
    execute_at(&ground.owner, &format!("{again} from skills where name = 'before'"));
    poll("the loss to be noticed", || {
        worker.log().contains("the worker lost its connection to the queue").then_some(())
    });
    wire.mend();
    ground.idle();
    assert_eq!(ground.count("skill_embeddings"), 2);
}
