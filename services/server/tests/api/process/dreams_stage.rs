//! A service whose models answer each user as a test has told them to, with the users of one tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use knowhow_testing::{FakeServer, Reply};
use serde_json::{Value, json};

use super::background::chat;
use crate::callers::{Caller, World};
use crate::service::{Service, poll_async};
use crate::sql::{column_at, execute_at};
use crate::talk::Talk;
use crate::worker::Ground;

/// Numbers of a vector.
const DIMENSIONS: usize = 32;
/// What the name of the skill begins with by which a question is known to be about a user.
const MARK: &str = "mark-of-";

/// What a chat model says to a question.
type Says = Box<dyn FnMut(&Value) -> Reply + Send>;
type Script = Arc<Mutex<HashMap<String, Says>>>;

/// A service on a database of its own, with faked models.
pub struct Stage {
    // Gone before its database is.
    pub service: Service,
    pub ground: Ground,
    pub models: FakeServer,
    pub world: World,
    key: Caller,
    script: Script,
}

/// A user whose skills are dreamt about.
#[derive(Clone)]
pub struct Dreamer {
    pub name: String,
    /// The user, who decides.
    pub who: Caller,
    /// An agent of the user's: what it writes is open to learning.
    pub agent: Caller,
}

/// The settings of a process with the faked models.
fn with<'a>(login: &'a str, models: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut with = vec![
        ("KNOWHOW_DATABASE_URL", login),
        ("KNOWHOW_WORKERS", "1"),
        ("KNOWHOW_EMBEDDINGS_URL", models),
        ("KNOWHOW_EMBEDDINGS_MODEL", "fake"),
        ("KNOWHOW_EMBEDDINGS_DIMENSIONS", "32"),
        ("KNOWHOW_CHAT_TIMEOUT_MS", "3000"),
        ("KNOWHOW_WORKER_RECOVERY_S", "1"),
        // It logs errors where the database is lost.
        ("KNOWHOW_LOG", "info,graphile_worker_crontab_runner=off"),
    ];
    with.extend(chat(models));
    with
}

impl Stage {
    /// One where everything is applied that may be.
    pub async fn new() -> Self {
        Self::by_itself(&[]).await
    }

    /// The same with these settings more.
    pub async fn by_itself(more: &[(&str, &str)]) -> Self {
        let ground = Ground::new();
        let login = ground.login();
        Self::by(ground, &login, more).await
    }

    /// The same, whose server reaches the database by `login` and has these settings more.
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

    /// A worker with the same models, which reaches the database by `login`.
    pub fn work(&self, login: &str) -> Service {
        Service::work(&with(login, &self.models.url()))
    }

    /// A user without skills but the one by which questions are known.
    pub async fn user(&self, name: &str) -> Dreamer {
        let who = self.world.scoped(name, "skills:read skills:write sessions memories review");
        let dreamer = Dreamer { name: name.to_owned(), who, agent: self.key.acting_for(name) };
        let mark =
            json!({"name": format!("{MARK}{name}"), "description": "Marks.", "content": "Do nothing with it.\n"});
        dreamer.who.create(mark).await;
        dreamer
    }

    /// What the model says from now on to a question about the user's skills.
    pub fn says(&self, user: &Dreamer, says: impl FnMut(&Value) -> Reply + Send + 'static) {
        self.script.lock().unwrap().insert(user.name.clone(), Box::new(says));
    }

    /// A statement about the rows of a user's in a table that is called `t`.
    pub fn set(&self, user: &Dreamer, table: &str, set: &str) -> u64 {
        execute_at(&self.ground.owner, &format!("update {table} t set {set} where {}", self.of(user)))
    }

    /// The condition that a row of the table `t` is the user's.
    pub fn of(&self, user: &Dreamer) -> String {
        let Dreamer { name, .. } = user;
        let slug = &self.world.slug;
        format!(
            "(t.tenant_id, t.user_id) in (select u.tenant_id, u.user_id from users u join tenants n using (tenant_id) \
             where u.external_id = '{name}' and n.slug = '{slug}')"
        )
    }

    /// Makes what the user's skills and conversations are dreamt of again, also where nothing has changed or enough was asked.
    pub fn forget_runs(&self, user: &Dreamer) {
        self.set(user, "dream_passes", "fingerprint = null");
        self.set(user, "dream_runs", "created_at = t.created_at - interval '1 day'");
        execute_at(&self.ground.owner, &format!("delete from dream_rests t where {}", self.of(user)));
    }

    /// Has a pass happen now; the run as it came to an end.
    pub async fn dream(&self, user: &Dreamer, pass: &str) -> Value {
        let started = user.who.post("/v1/dreams", json!({"passes": [pass]})).await.ok(202);
        self.ended(user, started["items"][0]["id"].as_str().unwrap()).await
    }

    /// A run, once it is done.
    pub async fn ended(&self, user: &Dreamer, id: &str) -> Value {
        poll_async("the dream to end", async || {
            let run = user.who.get(&format!("/v1/dreams/{id}")).await.ok(200);
            (run["state"] != "queued").then_some(run)
        })
        .await
    }

    /// Waits until no job of the user's is left.
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

    /// A conversation that began with this message so many days ago, which is over.
    pub async fn talked(&self, user: &Dreamer, days: u32, message: &str) -> Talk {
        let talk = Talk::long(&user.who).await;
        talk.say(message).await;
        self.age(&talk, days);
        talk
    }

    /// Has a conversation have been so many days ago.
    pub fn age(&self, talk: &Talk, days: u32) {
        let since = format!("now() - interval '{days} days'");
        let of = format!("where session_id = '{}'", talk.id);
        let set = format!("update sessions set started_at = {since}, last_message_at = {since} {of}");
        assert_eq!(execute_at(&self.ground.owner, &set), 1);
    }
}

impl Dreamer {
    /// A skill's whole text.
    pub async fn raw(&self, name: &str) -> String {
        let answer = self.who.get(&format!("/v1/skills/{}/SKILL.md", name.replace('/', "%2F"))).await;
        assert_eq!(answer.status, 200, "{answer}");
        answer.text()
    }

    /// Takes a run back; the run.
    pub async fn undo(&self, id: &str) -> Value {
        self.who.post(&format!("/v1/dreams/{id}/undo"), json!({})).await.ok(200)
    }
}

/// A chat model that says this plan.
pub fn plan(ops: &Value) -> Reply {
    Reply::says(&json!({ "ops": ops }).to_string())
}

/// The chat model's answer: to a text to be reviewed, that it is well unless it says of itself that it is doubtful; about a user's skills, what the script has.
fn said(script: &Script, asked: &Value) -> Reply {
    let text = asked["messages"][1]["content"].as_str().unwrap_or_default();
    let question: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(key) = question["key"].as_str() {
        let verdict = if text.contains("this is doubtful") { "doubt" } else { "ok" };
        return Reply::says(&json!({"key": key, "verdict": verdict, "reasons": ["so it reads"]}).to_string());
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

/// A vector that is near to those of texts with the same word that begins with `kin`, and to no other one.
fn vector(text: &str) -> Vec<f32> {
    let own = noise(text);
    match text.split(|c: char| !c.is_alphanumeric()).find(|word| word.starts_with("kin")) {
        Some(kin) => noise(kin).iter().zip(own).map(|(one, other)| one + 0.3 * other).collect(),
        None => own,
    }
}

/// Numbers between -1 and 1 that are always the same for a text (FNV-1a, then xorshift64).
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
