//! The service is killed, terminated or configured wrongly.

use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::{join, join_all};
use knowhow_testing::until;
use serde_json::json;

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::raw::{self, JSON, Post};
use crate::service::{Service, knowhow, login_url, owner_url, poll};

const SMALL: [(&str, &str); 2] = [("KNOWHOW_WORKERS", "1"), ("KNOWHOW_WRITE_CONNECTIONS", "4")];
const ROUNDS: usize = 15;
const WRITERS: usize = 4;

/// A writer's skill, with the last save that was sent and the last one that was acknowledged.
struct Writer {
    name: String,
    sent: usize,
    acknowledged: Option<(usize, i64)>,
}

impl Writer {
    fn text(&self, n: usize) -> String {
        format!("# {} holds {n}\n", self.name)
    }

    fn save(&self, caller: &Caller) -> crate::callers::Sending {
        let mut body = skill(&self.name);
        body["content"] = json!(self.text(self.sent));
        caller.post("/v1/skills", body).header("Idempotency-Key", &format!("{}-{}", self.name, self.sent))
    }

    /// Saves skills until the service has stopped.
    async fn write(&mut self, caller: &Caller, done: &AtomicUsize) {
        loop {
            self.sent += 1;
            let Some(answer) = self.save(caller).attempt().await else { return };
            assert!([200, 201].contains(&answer.status), "{answer}");
            let version = answer.json()["version"].as_i64().unwrap();
            assert!(self.acknowledged.is_none_or(|(_, before)| version == before + 1), "{answer}");
            self.acknowledged = Some((self.sent, version));
            done.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Repeats the last save. Asserts that it has one effect and that no acknowledged save is lost.
    async fn check(&mut self, caller: &Caller) {
        let retried = self.save(caller).await;
        assert!([200, 201].contains(&retried.status), "{retried}");
        let version = retried.json()["version"].as_i64().unwrap();
        assert_eq!(version, self.acknowledged.map_or(0, |(_, before)| before) + 1, "{retried}");
        self.acknowledged = Some((self.sent, version));
        let loaded = caller.peek(&self.name).await;
        assert_eq!((&loaded["content"], &loaded["version"]), (&json!(self.text(self.sent)), &json!(version)));
    }
}

#[tokio::test]
async fn acknowledged_writes_survive_a_kill() {
    let world = World::new().await;
    let mut writers: Vec<Writer> =
        (0..WRITERS).map(|n| Writer { name: format!("w{n}"), sent: 0, acknowledged: None }).collect();
    for round in 0..ROUNDS {
        let mut service = Service::start(&SMALL);
        let caller = world.alice.at(&service);
        let done = AtomicUsize::new(0);
        let writing = join_all(writers.iter_mut().map(|writer| writer.write(&caller, &done)));
        let killing = async {
            let wanted = 3 + (round * 7) % 23;
            until("the writes before it is killed", || done.load(Ordering::SeqCst) >= wanted).await;
            service.kill();
        };
        join(writing, killing).await;
        for writer in &mut writers {
            writer.check(&world.alice).await;
        }
    }
    let names: Vec<String> = writers.iter().map(|writer| writer.name.clone()).collect();
    assert_eq!(world.alice.names().await, names);
    for writer in &writers {
        let (_, version) = writer.acknowledged.unwrap();
        assert_eq!(all_versions(&world.alice, &writer.name).await, (1..=version).rev().collect::<Vec<i64>>());
    }
    assert_eq!(world.admin.get("/v1/admin/users/alice").await.ok(200)["skill_count"], json!(WRITERS));
}

async fn all_versions(alice: &Caller, name: &str) -> Vec<i64> {
    let mut versions = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = alice.get(&format!("/v1/skills/{name}/versions?limit=200{cursor}")).await.ok(200);
        versions.extend(pluck(&page["items"], "version").iter().map(|v| v.parse::<i64>().unwrap()));
        let Some(next) = page["next_cursor"].as_str() else { return versions };
        cursor = format!("&cursor={next}");
    }
}

#[tokio::test]
async fn requests_in_progress_are_answered_before_the_stop() {
    let world = World::new().await;
    let mut service = Service::start(&[("KNOWHOW_WORKERS", "2")]);
    let token = world.alice.token.as_deref().unwrap();
    let bodies: Vec<String> = (0..20).map(|n| skill(&format!("s{n}")).to_string()).collect();
    let posts: Vec<Post<'_>> =
        bodies.iter().map(|body| Post { path: "/v1/skills", media_type: JSON, body: body.as_str() }).collect();
    let in_flight: Vec<TcpStream> = posts.iter().map(|post| raw::begin_post(&service.address, token, post)).collect();
    service.terminate();
    poll("the service to stop listening", || TcpStream::connect(&service.address).is_err().then_some(()));
    for (stream, post) in in_flight.into_iter().zip(&posts) {
        let answer = raw::finish_post(stream, post);
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    }
    assert!(service.wait(Duration::from_secs(10)).success());
    assert_eq!(world.alice.names().await.len(), 20);
}

fn refuses_to_serve(database: &str) -> String {
    let output = knowhow(&["serve"]).env("KNOWHOW_DATABASE_URL", database).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn it_refuses_a_role_that_bypasses_row_level_security() {
    let said = refuses_to_serve(owner_url().as_str());
    assert!(said.contains("refusing to serve") && said.contains("is a superuser; connect as knowhow_login"), "{said}");
}

#[test]
fn it_refuses_a_database_without_its_schema() {
    drop(crate::service::run(&["doctor"]));
    let mut other: url::Url = login_url().parse().unwrap();
    other.set_path("/postgres");
    let said = refuses_to_serve(other.as_str());
    assert!(said.contains("knowhow migrate"), "{said}");
}

#[test]
fn it_names_the_wrong_setting() {
    let wrong = |name: &str, value: &str| {
        let output = knowhow(&["serve"]).env(name, value).output().unwrap();
        assert!(!output.status.success(), "{name}={value}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(wrong("KNOWHOW_SECRET_KEY", "short").contains("KNOWHOW_SECRET_KEY"));
    assert!(wrong("KNOWHOW_PORT", "many").contains("KNOWHOW_PORT"));
    assert!(wrong("KNOWHOW_PROT", "8080").contains("KNOWHOW_PROT"));
    assert!(wrong("KNOWHOW_LOG_FORMAT", "xml").contains("KNOWHOW_LOG_FORMAT"));
    assert!(wrong("KNOWHOW_BIND", "203.0.113.7").contains("cannot listen"));
    let said = wrong("KNOWHOW_DATABASE_URL", "postgres://knowhow_login:wrong-word@127.0.0.1:1/none");
    assert!(said.contains("database") && !said.contains("wrong-word"), "{said}");
}
