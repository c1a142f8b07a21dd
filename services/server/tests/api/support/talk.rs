//! A conversation under test: an open session, its turns, and how long it has been silent.

use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, Sending};
use crate::sql;

/// An open session of somebody's.
#[derive(Clone)]
pub struct Talk {
    pub who: Caller,
    pub id: String,
    /// What opening it answered.
    pub opened: Value,
}

impl Talk {
    /// Opens a session that is new.
    pub async fn open(who: &Caller, terms: Value) -> Self {
        let opened = who.post("/v1/sessions", terms).await.ok(201);
        Self { who: who.clone(), id: opened["id"].as_str().unwrap().to_owned(), opened }
    }

    /// One with an agent that can use all tools.
    pub async fn long(who: &Caller) -> Self {
        Self::open(who, json!({"tools": "full"})).await
    }

    /// The same, in which a mail was read.
    pub async fn tainted(who: &Caller) -> Self {
        let talk = Self::long(who).await;
        talk.tell("/taint", json!({"source": "a mail"})).await;
        talk
    }

    /// Its path, and what is below it.
    pub fn path(&self, rest: &str) -> String {
        format!("/v1/sessions/{}{rest}", self.id)
    }

    /// A turn on its way.
    pub fn turn(&self, body: Value) -> Sending {
        self.who.post(&self.path("/turns"), body)
    }

    /// A turn with this message, which takes as long as a busy machine needs.
    pub async fn say(&self, message: &str) -> Value {
        self.turn(json!({"message": message, "deadline_ms": 30_000})).await.ok(200)
    }

    /// Something told of it, answered with 200.
    pub async fn tell(&self, rest: &str, body: Value) -> Value {
        self.who.post(&self.path(rest), body).await.ok(200)
    }

    /// As it is now.
    pub async fn read(&self) -> Value {
        self.who.get(&self.path("")).await.ok(200)
    }

    /// The last message was so long ago.
    pub fn silent_for(&self, interval: &str) {
        silent_for(&self.id, interval);
    }
}

/// The last message of a session was so long ago. Its row is moved and not the service's clock: the service is the program as it is
/// shipped, which takes its time from the machine alone, and other tests hold conversations with the same process.
pub fn silent_for(session: &str, interval: &str) {
    let statement =
        format!("update sessions set last_message_at = now() - interval '{interval}' where session_id = '{session}'");
    assert_eq!(sql::execute(&statement), 1);
}

/// The names in one list of a turn.
pub fn names(turn: &Value, list: &str) -> Vec<String> {
    pluck(&turn[list], "name")
}

/// A skill with this description and a body about nothing else.
pub fn described(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "content": "## Procedure\n\n1. Begin.\n2. End.\n"})
}

/// The skills of a mail agent.
pub const MAIL: [(&str, &str); 5] = [
    ("mcp/email", "Send email via an MCP-connected mail server"),
    ("mcp/calendar", "Read and write calendar events over MCP"),
    ("plan-meeting", "Schedule meetings and invite attendees"),
    ("research/summarize-paper", "Summarize an academic paper into key points"),
    ("mcp/guide", "When to use which MCP server"),
];

/// Saves skills of these names and descriptions.
pub async fn create_described(who: &Caller, skills: &[(&str, &str)]) {
    for (name, description) in skills {
        who.create(described(name, description)).await;
    }
}
