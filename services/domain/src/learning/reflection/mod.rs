//! Reflections: summaries of a user's day, week and month. A weekly reflection is made from the daily ones, and a
//! monthly reflection from the weekly ones.

mod cadence;
mod read;

pub use cadence::Cadence;
pub use read::{ReadReflection, TEXT_CHARS, read_reflection};

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{DreamId, MemoryId, ReflectionId};

/// Maximum number of attempts to write the reflection on a period.
pub const TRIES: i32 = 3;
/// Maximum number of actions that a reflection may propose.
pub const ACTIONS: usize = 10;
/// Maximum number of actions that all reflections of a user may propose in a day.
pub const ACTIONS_A_DAY: usize = 50;

/// State of a reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ReflectionState {
    /// Waiting for a worker.
    Queued,
    /// Stored as a memory.
    Made,
    /// There was no conversation in the period.
    Quiet,
    /// The sources are incomplete; see `reason`.
    Skipped,
    /// The attempt failed; see `reason`. There are at most 3 attempts.
    Failed,
}

impl ReflectionState {
    /// Returns the name, e.g. `made`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Approval mode for a reflection's proposed actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReflectionActions {
    /// The checks, the scanner and the reviewing model approve. If one of them is in doubt or a conversation was
    /// untrusted, a person decides.
    Ai,
    /// A person approves.
    Human,
    /// Actions are neither requested nor read.
    #[default]
    None,
}

/// A text of a reflection. Untrusted conversations have a separate text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReflectionText {
    /// The memory with the text.
    #[schema(value_type = uuid::Uuid)]
    pub memory: MemoryId,
    /// The text.
    pub text: String,
    /// Whether the text is from untrusted conversations and no person has approved it.
    pub tainted: bool,
}

/// A reflection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reflection {
    /// Id; later reflections have larger ids.
    #[schema(value_type = uuid::Uuid)]
    pub id: ReflectionId,
    /// Length of the period: day, week or month.
    pub cadence: Cadence,
    /// First day of the period, in the user's time zone.
    pub period: NaiveDate,
    /// State of the reflection.
    pub state: ReflectionState,
    /// Reason for the state `quiet`, `skipped` or `failed`; in the state `made`, the omitted parts.
    pub reason: Option<String>,
    /// The texts, except those with a deleted memory.
    pub texts: Vec<ReflectionText>,
    /// Dream run with the proposed actions.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub run: Option<DreamId>,
    /// Number of attempts so far that gave an unusable answer.
    pub tries: i32,
    /// Number of tokens used by the chat model.
    pub tokens: i64,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change of state.
    pub finished_at: Option<DateTime<Utc>>,
}
