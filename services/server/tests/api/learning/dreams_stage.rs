//! A service with fake models. A test scripts the answers for each user of one tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use crate::background::chat;
use crate::callers::{Caller, World};
use crate::service::{Service, poll_async};
use crate::sql::{column_at, execute_at};
use crate::talk::Talk;
use crate::worker::Ground;

/// Dimensions of a vector.
const DIMENSIONS: usize = 32;
/// Prefix of the name of a skill that identifies the user in a question.
const MARK: &str = "mark-of-";

/// Returns the chat model's answer to a question.
type Says = Box<dyn FnMut(&Value) -> Reply + Send>;
type Script = Arc<Mutex<HashMap<String, Says>>>;

/// A service with a database of its own and fake models.
pub struct Stage {
    // Dropped before `ground`, which drops the database.
    pub service: Service,
    pub ground: Ground,
    pub models: FakeServer,
    pub world: World,
    key: Caller,
    script: Script,
}

/// A user with skills for dreams.
#[derive(Clone)]
pub struct Dreamer {
    pub name: String,
    /// The user, with the scope to review.
    pub who: Caller,
    /// An agent of the user. Dreams may change the skills that it writes.
    pub agent: Caller,
}

/// Returns the settings of a process that uses the fake models.
fn with<'a>(login: &'a str, models: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut with = vec![
        ("KNOWHOW_DATABASE_URL", login),
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_EMBEDDINGS_URL", models),
        ("KNOWHOW_EMBEDDINGS_MODEL", "fake"),
        ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "32"),
        ("KNOWHOW_CHAT_TIMEOUT_MS", "3000"),
        ("KNOWHOW_WORKER_RECOVERY_S", "1"),
        // The crontab runner logs errors when the database is lost.
        ("KNOWHOW_LOG", "info,graphile_worker_crontab_runner=off"),
    ];
    with.extend(chat(models));
    with
}

impl Stage {
    /// Starts a stage whose tenant applies every dream operation that passes its checks.
    pub async fn new() -> Self {
        Self::by_itself(&[]).await
    }

    /// Starts a stage with additional settings.
    pub async fn by_itself(more: &[(&str, &str)]) -> Self {
        let ground = Ground::new();
        let login = ground.login();
        Self::by(ground, &login, more).await
    }

    /// Starts a stage with additional settings, whose server connects to the database by `login`.
    pub async fn by(ground: Ground, login: &str, more: &[(&str, &str)]) -> Self {
        let script = Script::default();
        let shared = script.clone();
        let models = FakeServer::start([Reply::chosen(move |seen| match seen.line.contains("embeddings") {
            true => Reply::body(&vectors(&seen.body).to_string()),
            false => said(&shared, &seen.body),
        })]);
        let url = models.url();
        let service = Service::start(&[with(login, &url), more.to_vec()].concat());
        let settings = json!({
            "starter_skills": false, "enrich": false, "users_review": true, "dream_tokens_per_day": 100_000_000,
            "dreams": {"gaps": "apply", "consolidate": "apply", "optimize": "apply"},
        });
        let world = World::at(&service, &service, settings).await;
        let key = world.backend().await;
        Self { service, ground, models, world, key, script }
    }

    /// Starts a worker that uses the fake models and connects to the database by `login`.
    pub fn work(&self, login: &str) -> Service {
        Service::work(&with(login, &self.models.url()))
    }

    /// Creates a user whose only skill identifies the user in questions.
    pub async fn user(&self, name: &str) -> Dreamer {
        let who = self.world.scoped(name, "skills:read skills:write sessions memories review");
        let dreamer = Dreamer { name: name.to_owned(), who, agent: self.key.acting_for(name) };
        let mark =
            json!({"name": format!("{MARK}{name}"), "description": "Marks.", "content": "Do nothing with it.\n"});
        dreamer.who.create(mark).await;
        dreamer
    }

    /// Sets the model's answers to questions about the user's skills.
    pub fn says(&self, user: &Dreamer, says: impl FnMut(&Value) -> Reply + Send + 'static) {
        self.script.lock().unwrap().insert(user.name.clone(), Box::new(says));
    }

    /// Updates the user's rows of `table`, which has the alias `t`. Returns the number of rows.
    pub fn set(&self, user: &Dreamer, table: &str, set: &str) -> u64 {
        execute_at(&self.ground.owner, &format!("update {table} t set {set} where {}", self.of(user)))
    }

    /// Returns the SQL condition that a row of table `t` belongs to the user.
    pub fn of(&self, user: &Dreamer) -> String {
        let Dreamer { name, .. } = user;
        let slug = &self.world.slug;
        format!(
            "(t.tenant_id, t.user_id) in (select u.tenant_id, u.user_id from users u join tenants n using (tenant_id) \
             where u.external_id = '{name}' and n.slug = '{slug}')"
        )
    }

    /// Makes the next run ask the model even if the input is unchanged, operations rest or wait, or the daily limit is
    /// reached.
    pub fn forget_runs(&self, user: &Dreamer) {
        let decided = "outcome = case when t.outcome in ('proposed', 'waiting') then 'rejected' else t.outcome end";
        self.set(user, "dream_ops", decided);
        self.set(user, "dream_passes", "fingerprint = null");
        self.set(user, "dream_runs", "created_at = t.created_at - interval '1 day'");
        execute_at(&self.ground.owner, &format!("delete from dream_rests t where {}", self.of(user)));
    }

    /// Runs a pass now and returns its finished run.
    pub async fn dream(&self, user: &Dreamer, pass: &str) -> Value {
        let started = user.who.post("/v1/dreams", json!({"passes": [pass]})).await.ok(202);
        self.ended(user, started["items"][0]["id"].as_str().unwrap()).await
    }

    /// Waits until a run has ended and returns it.
    pub async fn ended(&self, user: &Dreamer, id: &str) -> Value {
        poll_async("the dream to end", async || {
            let run = user.who.get(&format!("/v1/dreams/{id}")).await.ok(200);
            (run["state"] != "queued").then_some(run)
        })
        .await
    }

    /// Waits until the user has no jobs left.
    pub async fn idle(&self, user: &Dreamer) {
        let jobs = format!(
            "select j.id::text from graphile_worker._private_jobs j join users t on j.payload ->> 'user_id' = t.user_id::text \
             where {}",
            self.of(user)
        );
        poll_async("the user's jobs to be done", async || {
            column_at(&self.ground.owner, &jobs).is_empty().then_some(())
        })
        .await;
    }

    /// Creates a conversation that began with this message `days` days ago.
    pub async fn talked(&self, user: &Dreamer, days: u32, message: &str) -> Talk {
        let talk = Talk::long(&user.who).await;
        talk.say(message).await;
        self.age(&talk, days);
        talk
    }

    /// Moves a conversation `days` days into the past.
    pub fn age(&self, talk: &Talk, days: u32) {
        let since = format!("now() - interval '{days} days'");
        let of = format!("where session_id = '{}'", talk.id);
        let set = format!("update sessions set started_at = {since}, last_message_at = {since} {of}");
        assert_eq!(execute_at(&self.ground.owner, &set), 1);
    }
}

impl Dreamer {
    /// Returns the whole SKILL.md of a skill.
    pub async fn raw(&self, name: &str) -> String {
        let answer = self.who.get(&format!("/v1/skills/{}/SKILL.md", name.replace('/', "%2F"))).await;
        assert_eq!(answer.status, 200, "{answer}");
        answer.text()
    }

    /// Undoes a run and returns it.
    pub async fn undo(&self, id: &str) -> Value {
        self.who.post(&format!("/v1/dreams/{id}/undo"), json!({})).await.ok(200)
    }
}

/// Returns the chat model's answer with a plan of these operations.
pub fn plan(ops: &Value) -> Reply {
    Reply::says(&json!({ "ops": ops }).to_string())
}

/// Returns the chat model's answer. A text to review is approved unless it contains "this is doubtful". Other
/// questions get the scripted answer of their user.
fn said(script: &Script, asked: &Value) -> Reply {
    let text = asked["messages"][1]["content"].as_str().unwrap_or_default();
    let question: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(key) = question["key"].as_str() {
        let verdict = if text.contains("this is doubtful") { "doubt" } else { "ok" };
        return Reply::says(&json!({"key": key, "verdict": verdict, "reasons": ["so it reads"]}).to_string());
    }
    // Enrichment asks about a new skill at any time, also while the script of a dream is in place.
    if question["content"].is_string() {
        return Reply::says(r#"{"ops": []}"#);
    }
    let mark = text.split(MARK).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    match script.lock().unwrap().get_mut(mark) {
        Some(says) => says(&question),
        None => Reply::says(r#"{"ops": []}"#),
    }
}

fn vectors(request: &Value) -> Value {
    let texts = request["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Value> = texts
        .map(
            |(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text.as_str().unwrap())}),
        )
        .collect();
    json!({"object": "list", "data": data, "model": request["model"], "usage": {}})
}

/// Returns a vector that is similar for texts with the same word starting with `kin`, and dissimilar for all other
/// texts. A text with `near` before such a word is less similar.
fn vector(text: &str) -> Vec<f32> {
    let own = noise(text);
    let with = |kin: &str, share: f32, rest: f32| -> Vec<f32> {
        noise(kin).iter().zip(&own).map(|(one, other)| share * one + rest * other).collect()
    };
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    match words.find(|word| word.starts_with("kin") || word.starts_with("nearkin")) {
        Some(word) => word.strip_prefix("near").map_or_else(|| with(word, 1.0, 0.3), |kin| with(kin, 0.5, 0.87)),
        None => own,
    }
}

/// Returns numbers between -1 and 1 that depend only on the text (FNV-1a, then xorshift64).
fn noise(text: &str) -> Vec<f32> {
    let mut state = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 2001) as f32 / 1000.0 - 1.0
    };
    (0..DIMENSIONS).map(|_| next()).collect()
}
