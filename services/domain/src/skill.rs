//! Skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::enrich::Discovery;
use crate::{ArchiveId, headline, inert_line};

/// Who first wrote a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Source {
    /// An agent, within a session or through a tenant's backend.
    Agent,
    /// The user, by themselves.
    User,
    /// An import.
    Import,
    /// The built-in library.
    Starter,
    /// A folder that is kept the same as the user's skills.
    Sync,
    /// A dream, of what happened in conversations.
    Dream,
    /// A reflection, of what happened in a day, week or month.
    Reflection,
}

impl Source {
    /// Whether a background process may change what was written by it: agents' own skills, and its own.
    pub fn is_open_to_learning(self) -> bool {
        matches!(self, Self::Agent | Self::Dream | Self::Reflection)
    }

    /// The stored and served form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Who wrote an index line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SummaryBy {
    /// The skill's author.
    Author,
    /// A model, in the background.
    Model,
    /// Nobody: it is the first sentence of the description, cut at 15 words.
    Extract,
}

impl SummaryBy {
    /// The line to show of these, and whose it is.
    pub fn choose(author: Option<String>, model: Option<String>, description: &str) -> (String, Self) {
        match (author.filter(|summary| !inert_line(summary).is_empty()), model) {
            (Some(summary), _) => (summary, Self::Author),
            (None, Some(summary)) => (summary, Self::Model),
            (None, None) => (headline(description), Self::Extract),
        }
    }
}

/// One line of the index.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct IndexItem {
    /// The skill's full name, with its namespaces.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Index line, at most 15 words.
    pub summary: String,
    /// Who wrote the summary.
    pub summary_by: SummaryBy,
    /// What it does and when.
    pub description: String,
    /// One word of order.
    pub category: Option<String>,
    /// Labels by which skills can be listed.
    pub tags: Vec<String>,
    /// Counts the changes of the skill, from 1.
    pub version: i32,
    /// How often it was used.
    pub times_used: i64,
    /// When it was used last.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it changed last: its text, its files or a flag.
    pub updated_at: DateTime<Utc>,
    /// Whether it is protected from deletion and background changes.
    pub pinned: bool,
    /// 0 to 1; what a ranked list is ordered by.
    #[serde(skip)]
    pub importance: f32,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    pub tainted: bool,
    /// What was made for it to be found by, where its author gave little.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub discovery: Option<Discovery>,
    /// With `ranked` or `q`: what the order is by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// With `ranked` or `q`: why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A deleted skill, as the archive has it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ArchivedSkill {
    /// The entry's id, by which the skill can be restored.
    #[schema(value_type = uuid::Uuid)]
    pub id: ArchiveId,
    /// Its tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// Whose it was, by external id.
    #[schema(example = "alice")]
    pub user: String,
    /// The skill's name.
    pub name: String,
    /// How many versions it had.
    pub versions: i32,
    /// The skill that absorbed it, by name.
    pub absorbed_into: Option<String>,
    /// Who deleted it.
    pub deleted_by: String,
    /// When it was deleted.
    pub deleted_at: DateTime<Utc>,
    /// When it is destroyed.
    pub purge_at: DateTime<Utc>,
}
