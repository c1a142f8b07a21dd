//! Conversations that are over, and what is left of them.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::message::Speaker;
use crate::prompt::{PreviousParts, Said, render_previous};
use crate::{Channel, SessionId};

/// Who wrote a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum MadeBy {
    /// A chat model.
    Model,
    /// Nobody: these are words of the text itself.
    Extract,
}

impl MadeBy {
    /// The name in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A conversation that is over.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Conversation {
    /// The session it was.
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// How it was held.
    pub channel: Channel,
    /// When the session was opened.
    pub started_at: DateTime<Utc>,
    /// When the session ended.
    pub ended_at: DateTime<Utc>,
    /// Whether it had read what is not to be trusted; then its title is in no snapshot.
    pub tainted: bool,
    /// What it came to.
    pub summary: ConversationSummary,
}

/// A conversation that is over, in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationSummary {
    /// What it was about, at most 80 characters.
    pub title: String,
    /// At most 8, like all the lists, of at most 200 characters each.
    pub topics: Vec<String>,
    /// What was decided.
    pub decisions: Vec<String>,
    /// How the user likes things done.
    pub preferences: Vec<String>,
    /// What is still open, or was promised.
    pub pending: Vec<String>,
    /// Numbers, dates, names: what was said that only this conversation knows.
    #[serde(default)]
    #[schema(required = false)]
    pub facts: Vec<String>,
    /// The last messages of both sides, in order, at most 6 and 1,200 characters together.
    #[serde(default)]
    #[schema(required = false)]
    pub last_messages: Vec<LastMessage>,
    /// Whether a model wrote it or it is an extract.
    pub made_by: MadeBy,
}

/// One of the last messages of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastMessage {
    /// Which side said it.
    pub speaker: Speaker,
    /// A single line; of a long message the beginning.
    pub text: String,
}

impl ConversationSummary {
    /// The summary as a block for the prompt of the next conversation.
    pub fn as_block(&self, day: NaiveDate, tainted: bool) -> String {
        let said = |message: &'_ LastMessage| match message.speaker {
            Speaker::User => "User",
            Speaker::Agent => "Agent",
        };
        let last: Vec<Said<'_>> = self.last_messages.iter().map(|m| Said { speaker: said(m), text: &m.text }).collect();
        let lists: [(&str, &[String]); 5] = [
            ("Topics", &self.topics),
            ("Decided", &self.decisions),
            ("The user prefers", &self.preferences),
            ("Still open", &self.pending),
            ("To remember", &self.facts),
        ];
        render_previous(&PreviousParts { day, title: &self.title, lists: &lists, last: &last, tainted })
    }

    /// What is worth remembering of it: its title, then decisions, preferences, what is open and facts, a line each.
    pub fn as_memory(&self) -> String {
        let lists = [&self.decisions, &self.preferences, &self.pending, &self.facts];
        let lines: Vec<&str> =
            std::iter::once(&self.title).chain(lists.into_iter().flatten()).map(String::as_str).collect();
        lines.join("\n")
    }
}
