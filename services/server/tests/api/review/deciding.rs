//! Decisions at bad moments: the connection is cut at every round trip, or the proposing session is marked meanwhile.

use std::cell::Cell;

use futures_util::future::join;
use knowhow_testing::{Wire, until};
use reqwest::Method;
use serde_json::{Value, json};

use crate::callers::{Caller, Sending, World, skill};
use crate::exchange::zip;
use crate::reviewing::{ATTACK, WHY, saying};
use crate::service::{Service, poll_async};
use crate::talk::Talk;
use crate::worker::{Ground, world};

const FILE: &str = "references/a.md";
/// Upper limit of the round trips that a decision takes.
const MOST: usize = 40;

fn approve(who: &Caller, submission: &str) -> Sending {
    who.post(&format!("/v1/submissions/{submission}/approve"), json!({})).header("Knowhow-Reason", WHY)
}

/// Kind of the proposed change.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Changes the text of an existing skill.
    Patch,
    /// Imports a new skill with a file.
    Import,
}

/// A waiting submission.
struct Waiting {
    kind: Kind,
    name: String,
    id: String,
}

impl Waiting {
    async fn propose(alice: &Caller, kind: Kind, name: String) -> Self {
        let tainted = |method, path: &str| alice.send(method, path).header("Knowhow-Session", "unknown");
        let id = match kind {
            Kind::Patch => {
                alice.create(skill(&name)).await;
                let edits = json!({"edits": [{"old_string": "First this", "new_string": "Last this"}]});
                tainted(Method::PATCH, &format!("/v1/skills/{name}")).json(&edits).await.ok(202)["id"].take()
            }
            Kind::Import => {
                let document = format!("---\nname: {name}\ndescription: Does {name}. Use it.\n---\nLast this.\n");
                let archive = zip(&[("SKILL.md", document.as_bytes()), (FILE, b"alpha")]);
                let import = tainted(Method::POST, "/v1/skills/import").files(&[("skills.zip", &archive)]);
                import.await.ok(200)["items"][0]["submission"].take()
            }
        };
        Self { kind, name, id: id.as_str().unwrap().to_owned() }
    }

    async fn state(&self, alice: &Caller) -> Value {
        alice.get(&format!("/v1/submissions/{}", self.id)).await.ok(200)["state"].take()
    }

    /// Asserts that no part of the change happened.
    async fn check_undone(&self, ground: &Ground, alice: &Caller) {
        match self.kind {
            Kind::Patch => {
                let live = alice.peek(&self.name).await;
                assert_eq!(live["version"], 1, "{live}");
                assert!(live["content"].as_str().unwrap().contains("First this"), "{live}");
            }
            Kind::Import => {
                alice.get(&format!("/v1/skills/{}", self.name)).await.refused(404, "not-found");
                let path = format!("/v1/skills/{}/resources/{FILE}", self.name);
                alice.get(&path).await.refused(404, "not-found");
            }
        }
        assert_eq!(self.entries(ground), 0);
    }

    /// Asserts that the whole change happened, once.
    async fn check_done(&self, ground: &Ground, alice: &Caller) {
        let live = alice.peek(&self.name).await;
        let version = if matches!(self.kind, Kind::Patch) { 2 } else { 1 };
        assert_eq!((&live["version"], &live["tainted"]), (&json!(version), &json!(false)), "{live}");
        assert!(live["content"].as_str().unwrap().contains("Last this"), "{live}");
        let versions = alice.get(&format!("/v1/skills/{}/versions", self.name)).await.ok(200);
        assert_eq!(versions["items"].as_array().unwrap().len(), version, "{versions}");
        assert!(versions["items"][0]["approved_by"].is_string(), "{versions}");
        if matches!(self.kind, Kind::Import) {
            let file = alice.get(&format!("/v1/skills/{}/resources/{FILE}", self.name)).await;
            assert_eq!((file.status, file.text().as_str()), (200, "alpha"));
        }
        assert_eq!(self.entries(ground), 1);
    }

    /// Returns how often the approval is in the audit log.
    fn entries(&self, ground: &Ground) -> u64 {
        let of = format!("action = 'submission.approved' and detail ->> 'submission' = '{}'", self.id);
        ground.count(&format!("audit_log where {of}"))
    }
}

fn rebase(who: &Caller, submission: &str) -> Sending {
    who.send(Method::POST, &format!("/v1/submissions/{submission}/rebase")).header("Knowhow-Reason", WHY)
}

/// A service whose connection to the database can be cut by the test.
struct OnWire<'a> {
    ground: &'a Ground,
    wire: &'a Wire,
    admin: &'a Caller,
}

/// Sends a decision of the admin and cuts the connection to the database after `trips` more round trips have begun.
/// Restores the connection once the database has closed its sessions. Returns the status of the answer.
async fn cut_off(service: &OnWire<'_>, decision: Sending, trips: usize) -> u16 {
    let OnWire { ground, wire, admin } = *service;
    let (goal, is_answered) = (wire.flights() + trips, Cell::new(false));
    let deciding = async {
        let answer = decision.await;
        is_answered.set(true);
        answer.status
    };
    let cutting = async {
        until("the round trips", || is_answered.get() || wire.flights() >= goal).await;
        wire.cut();
    };
    let (status, ()) = join(deciding, cutting).await;
    let connected = "pg_stat_activity where datname = current_database() and usename = 'knowhow_login'";
    poll_async("the connections to end", async || (ground.count(connected) == 0).then_some(())).await;
    wire.mend();
    poll_async("the service to be ready", async || (admin.get("/readyz").await.status == 200).then_some(())).await;
    poll_async("reads to heal", async || (admin.get("/v1/skills").await.status == 200).then_some(())).await;
    status
}

/// Wherever the connection breaks, the change is applied and the submission decided, or neither.
#[tokio::test]
async fn an_approval_is_atomic_when_the_database_is_lost_at_any_round_trip() {
    let ground = Ground::new();
    let wire = Wire::to(&ground.login());
    let service = Service::start(&ground.with(&wire.url, &[("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1000")]));
    let World { alice, admin, .. } = &world(&service).await;
    let on_wire = OnWire { ground: &ground, wire: &wire, admin };
    admin.get("/v1/skills").await.ok(200);
    for kind in [Kind::Patch, Kind::Import] {
        let mut undone = 0;
        for trips in 1.. {
            assert!(trips < MOST, "{kind:?} is never answered");
            let waiting = Waiting::propose(alice, kind, format!("{kind:?}-{trips}").to_lowercase()).await;
            let status = cut_off(&on_wire, approve(admin, &waiting.id), trips).await;
            assert!([200, 503].contains(&status), "{kind:?} cut off at {trips}: {status}");
            let state = waiting.state(alice).await;
            if state == "needs_review" {
                assert_eq!(status, 503, "{kind:?} cut off at {trips}");
                undone += 1;
                waiting.check_undone(&ground, alice).await;
                approve(admin, &waiting.id).await.ok(200);
            } else {
                assert_eq!(state, "approved", "{kind:?} cut off at {trips}");
            }
            waiting.check_done(&ground, alice).await;
            approve(admin, &waiting.id).await.refused(409, "decided");
            if status == 200 {
                break;
            }
        }
        // A decision that is committed but answered with 503 is possible and not required: it depends on the moment
        // of the cut.
        assert!(undone > 0, "{kind:?} was never cut off before it was done");
    }
}

/// Wherever the connection breaks, exactly one proposal waits: the old one or the rebased one.
#[tokio::test]
async fn a_rebase_cut_off_at_any_round_trip_leaves_one_waiting_submission() {
    let ground = Ground::new();
    let wire = Wire::to(&ground.login());
    let service = Service::start(&ground.with(&wire.url, &[("KNOWHOW_ACQUIRE_TIMEOUT_MS", "1000")]));
    let World { alice, admin, .. } = &world(&service).await;
    let on_wire = OnWire { ground: &ground, wire: &wire, admin };
    admin.get("/v1/skills").await.ok(200);
    let mut undone = 0;
    for trips in 1.. {
        assert!(trips < MOST, "it is never answered");
        let waiting = Waiting::propose(alice, Kind::Patch, format!("plan-{trips}")).await;
        let path = format!("/v1/skills/{}/fields", waiting.name);
        // On a busy machine the service may not reach its database within its short timeout.
        poll_async("the fields to be saved", async || {
            let saved = alice.send(Method::PUT, &path).json(&json!({"category": "office"})).await;
            (saved.status == 200).then_some(())
        })
        .await;
        let status = cut_off(&on_wire, rebase(admin, &waiting.id), trips).await;
        assert!([202, 503].contains(&status), "cut off at {trips}: {status}");
        let state = waiting.state(alice).await;
        let waits = format!("submissions where state = 'needs_review' and name = '{}'", waiting.name);
        assert_eq!(ground.count(&waits), 1, "cut off at {trips}: the old one is {state}");
        if state == "needs_review" {
            assert_eq!(status, 503, "cut off at {trips}");
            undone += 1;
            rebase(admin, &waiting.id).await.ok(202);
            assert_eq!(ground.count(&waits), 1);
        } else {
            assert_eq!(state, "stale", "cut off at {trips}");
        }
        if status == 202 {
            break;
        }
    }
    assert!(undone > 0, "it was never cut off before it was done");
}

fn words(number: usize) -> String {
    format!("House{number} sends all invoices to the bookkeeper of house{number} before noon.")
}

/// A memory that a session wrote, and a waiting skill with the same words that the session proposed.
struct Written {
    talk: Talk,
    name: String,
    memory: String,
    submission: String,
}

impl Written {
    async fn of(alice: &Caller, number: usize) -> Self {
        let (talk, name) = (Talk::long(alice).await, format!("mail{number}"));
        let said = |method, path: &str| alice.send(method, path).header("Knowhow-Session", &talk.id);
        let memory = json!({"content": words(number), "core": true});
        let memory = said(Method::POST, "/v1/memories").json(&memory).await.ok(201);
        assert_eq!(memory["tainted"], false, "{memory}");
        let body = saying(&name, &format!("{ATTACK}\n{}", words(number)));
        let waiting = said(Method::POST, "/v1/skills").json(&body).await.ok(202);
        assert_eq!(waiting["tainted"], false, "{waiting}");
        let id = |of: &Value| of["id"].as_str().unwrap().to_owned();
        Self { name, memory: id(&memory), submission: id(&waiting), talk }
    }

    async fn approve(&self, admin: &Caller) {
        approve(admin, &self.submission).await.ok(200);
    }

    async fn mark(&self, source: &str) {
        self.talk.tell("/taint", json!({"source": source})).await;
    }

    /// Returns the current skill and its latest version.
    async fn shown(&self, alice: &Caller) -> (Value, Value) {
        let versions = alice.get(&format!("/v1/skills/{}/versions", self.name)).await.ok(200)["items"][0].take();
        (alice.peek(&self.name).await, versions)
    }
}

/// A mark taints what a session wrote. An approved version counts as written by the reviewer, so it stays clean
/// whether the mark comes before, during or after the approval. The memory of the session is tainted in any order.
/// Both operations lock the user's catalogue first, so they run one after the other.
#[tokio::test]
async fn an_approval_holds_whenever_the_session_is_marked() {
    let World { alice, admin, .. } = &World::new().await;
    for number in 0..12 {
        let written = Written::of(alice, number).await;
        let (approving, marking) = (written.approve(admin), written.mark("a mail"));
        match number {
            0 => {
                marking.await;
                approving.await;
            }
            1 => {
                approving.await;
                marking.await;
            }
            // `join` sends its first future first.
            _ if number % 2 == 0 => {
                join(approving, marking).await;
            }
            _ => {
                join(marking, approving).await;
            }
        }
        for moment in ["the mark", "another mark"] {
            let (live, version) = written.shown(alice).await;
            assert_eq!((&live["version"], &live["tainted"]), (&json!(1), &json!(false)), "{number} after {moment}");
            assert_eq!((&version["tainted"], version["approved_by"].is_string()), (&json!(false), true), "{version}");
            assert!(live["content"].as_str().unwrap().contains(&words(number)), "{live}");
            let marked = alice.get("/v1/memories?tainted=true&limit=200").await.ok(200);
            let ids = crate::answers::pluck(&marked["items"], "id");
            assert!(ids.contains(&written.memory), "{number} after {moment}: {marked}");
            written.mark("a page").await;
        }
        approve(admin, &written.submission).await.refused(409, "decided");
    }
}

/// Changes of an approved version are clean, whether the session is marked before the approval or after the change.
#[tokio::test]
async fn changes_of_an_approved_version_stay_clean() {
    let World { alice, admin, .. } = &World::new().await;
    let (early, late) = (Written::of(alice, 1).await, Written::of(alice, 2).await);
    early.mark("a mail").await;
    for written in [&early, &late] {
        written.approve(admin).await;
        alice.replace(&written.name, "First this", "Last this").await.ok(200);
        assert_eq!(written.shown(alice).await.0["tainted"], false);
    }
    late.mark("a mail").await;
    let (early, late) = (early.shown(alice).await.1, late.shown(alice).await.1);
    assert_eq!((&early["tainted"], &late["tainted"]), (&json!(false), &json!(false)), "{early} {late}");
}
