//! A session under test: opening, turns, and changes of its age.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, Sending};
use crate::sql;

/// An open session of a caller.
#[derive(Clone)]
pub struct Talk {
    pub who: Caller,
    pub id: String,
    /// The answer to the request that opened the session.
    pub opened: Value,
}

impl Talk {
    /// Opens a new session.
    pub async fn open(who: &Caller, terms: Value) -> Self {
        let opened = who.post("/v1/sessions", terms).await.ok(201);
        Self { who: who.clone(), id: opened["id"].as_str().unwrap().to_owned(), opened }
    }

    /// Opens a session of an agent with all tools.
    pub async fn long(who: &Caller) -> Self {
        Self::open(who, json!({"tools": "full"})).await
    }

    /// Opens a session that is tainted by a mail.
    pub async fn tainted(who: &Caller) -> Self {
        let talk = Self::long(who).await;
        talk.tell("/taint", json!({"source": "a mail"})).await;
        talk
    }

    /// Returns the path of the session, followed by `rest`.
    pub fn path(&self, rest: &str) -> String {
        format!("/v1/sessions/{}{rest}", self.id)
    }

    /// Starts a turn.
    pub fn turn(&self, body: Value) -> Sending {
        self.who.post(&self.path("/turns"), body)
    }

    /// Takes a turn with this message. The deadline of 30 s is enough for a busy machine.
    pub async fn say(&self, message: &str) -> Value {
        self.turn(json!({"message": message, "deadline_ms": 30_000})).await.ok(200)
    }

    /// Posts to a path below the session and asserts status 200.
    pub async fn tell(&self, rest: &str, body: Value) -> Value {
        self.who.post(&self.path(rest), body).await.ok(200)
    }

    /// Loads the session.
    pub async fn read(&self) -> Value {
        self.who.get(&self.path("")).await.ok(200)
    }

    /// Moves the last message into the past by `interval`.
    pub fn silent_for(&self, interval: &str) {
        silent_for(&self.id, interval);
    }
}

/// Moves the last message of a session into the past by `interval`. The row is changed and not the clock, because the
/// tested binary uses the clock of the machine, and other tests use the same process.
pub fn silent_for(session: &str, interval: &str) {
    let statement =
        format!("update sessions set last_message_at = now() - interval '{interval}' where session_id = '{session}'");
    assert_eq!(sql::execute(&statement), 1);
}

/// Returns the names in one list of a turn.
pub fn names(turn: &Value, list: &str) -> Vec<String> {
    pluck(&turn[list], "name")
}

/// Returns the names of the skills in a turn, named or found.
pub fn brought(turn: &Value) -> Vec<String> {
    [names(turn, "active"), names(turn, "relevant")].concat()
}

/// Returns a skill with this description and a neutral body.
pub fn described(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "content": "## Procedure\n\n1. Begin.\n2. End.\n"})
}

/// Names and descriptions of a mail agent's skills.
pub const MAIL: [(&str, &str); 5] = [
    ("mcp/email", "Send email via an MCP-connected mail server"),
    ("mcp/calendar", "Read and write calendar events over MCP"),
    ("plan-meeting", "Schedule meetings and invite attendees"),
    ("research/summarize-paper", "Summarize an academic paper into key points"),
    ("mcp/guide", "When to use which MCP server"),
];

/// Creates skills with these names and descriptions.
pub async fn create_described(who: &Caller, skills: &[(&str, &str)]) {
    for (name, description) in skills {
        who.create(described(name, description)).await;
    }
}
