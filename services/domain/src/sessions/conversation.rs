//! Finished conversations and their summaries.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::sessions::message::Speaker;
use crate::sessions::prompt::{PreviousMessage, PreviousParts, render_previous};
use crate::{Channel, SessionId};

/// Author of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum MadeBy {
    /// A chat model.
    Model,
    /// Extracted from the text itself.
    Extract,
}

impl MadeBy {
    /// Returns the name in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A finished conversation.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Conversation {
    /// Id of its session.
    #[schema(value_type = uuid::Uuid)]
    pub session: SessionId,
    /// Channel of the conversation.
    pub channel: Channel,
    /// Start time of the session.
    pub started_at: DateTime<Utc>,
    /// End time of the session.
    pub ended_at: DateTime<Utc>,
    /// Whether the conversation had read untrusted content. If so, snapshots omit its title.
    pub tainted: bool,
    /// Summary of the conversation.
    pub summary: ConversationSummary,
}

/// Summary of a finished conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConversationSummary {
    /// Topic, at most 80 characters.
    pub title: String,
    /// Topics. Each list has at most 8 entries of at most 200 characters.
    pub topics: Vec<String>,
    /// Decisions.
    pub decisions: Vec<String>,
    /// Preferences of the user.
    pub preferences: Vec<String>,
    /// Open points and promises.
    pub pending: Vec<String>,
    /// Facts that occur only in this conversation: numbers, dates, names.
    #[serde(default)]
    #[schema(required = false)]
    pub facts: Vec<String>,
    /// The last messages from both sides, in order: at most 6, with at most 1,200 characters together.
    #[serde(default)]
    #[schema(required = false)]
    pub last_messages: Vec<LastMessage>,
    /// Author of the summary.
    pub made_by: MadeBy,
}

/// A message near the end of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastMessage {
    /// Side that wrote the message.
    pub speaker: Speaker,
    /// Text on a single line; only the beginning of a long message.
    pub text: String,
}

impl ConversationSummary {
    /// Renders the summary as a block for the prompt of the next conversation.
    pub fn as_block(&self, day: NaiveDate, tainted: bool) -> String {
        let speaker_of = |message: &'_ LastMessage| match message.speaker {
            Speaker::User => "User",
            Speaker::Agent => "Agent",
        };
        let last: Vec<PreviousMessage<'_>> =
            self.last_messages.iter().map(|m| PreviousMessage { speaker: speaker_of(m), text: &m.text }).collect();
        let lists: [(&str, &[String]); 5] = [
            ("Topics", &self.topics),
            ("Decided", &self.decisions),
            ("The user prefers", &self.preferences),
            ("Still open", &self.pending),
            ("To remember", &self.facts),
        ];
        render_previous(&PreviousParts { day, title: &self.title, lists: &lists, last: &last, tainted })
    }

    /// Renders the summary as a memory: title, decisions, preferences, open points and facts, one per line.
    pub fn as_memory(&self) -> String {
        let lists = [&self.decisions, &self.preferences, &self.pending, &self.facts];
        let lines: Vec<&str> =
            std::iter::once(&self.title).chain(lists.into_iter().flatten()).map(String::as_str).collect();
        lines.join("\n")
    }
}
