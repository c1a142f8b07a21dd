//! Reflections: what is told of a user's day, week and month, each from what the one below told.

mod cadence;
mod read;

pub use cadence::Cadence;
pub use read::{ReadReflection, TEXT_CHARS, read_reflection};

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{DreamId, MemoryId, ReflectionId};

/// Most tries of a model for one period.
pub const TRIES: i32 = 3;
/// Most actions that are taken from one reflection.
pub const ACTIONS: usize = 10;
/// Most actions of reflections for one user and day.
pub const ACTIONS_A_DAY: usize = 50;

/// Where a reflection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ReflectionState {
    /// A worker will make it.
    Queued,
    /// It is kept as a memory.
    Made,
    /// There was no conversation to tell of.
    Quiet,
    /// What it would be made of is not complete; `reason` says what is missing.
    Skipped,
    /// It came to nothing; `reason` says why. It is tried again, at most 3 times.
    Failed,
}

impl ReflectionState {
    /// The wire form, e.g. `made`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Who decides on what a reflection proposes to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReflectionActions {
    /// The checks, the scanner and the model that reviews; a person where one of them is in doubt, or a conversation was not to be
    /// trusted.
    Ai,
    /// A person.
    Human,
    /// Nobody: actions are neither asked for nor read.
    #[default]
    None,
}

/// A text of a reflection. What conversations told that are not to be trusted is a text of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReflectionText {
    /// The memory that it is kept as.
    #[schema(value_type = uuid::Uuid)]
    pub memory: MemoryId,
    /// What it tells.
    pub text: String,
    /// Whether it tells of what is not to be trusted, and no person has approved it.
    pub tainted: bool,
}

/// A reflection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reflection {
    /// The id; later reflections have larger ones.
    #[schema(value_type = uuid::Uuid)]
    pub id: ReflectionId,
    /// Whether it is of a day, a week or a month.
    pub cadence: Cadence,
    /// The first day of what it tells of, where the user is.
    pub period: NaiveDate,
    /// Where it stands.
    pub state: ReflectionState,
    /// Why it is quiet, was skipped or has failed; of one that is made, what was left out.
    pub reason: Option<String>,
    /// What it tells, as far as those memories are still kept.
    pub texts: Vec<ReflectionText>,
    /// The run of what it proposes to do, among the dreams.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub run: Option<DreamId>,
    /// Answers of a model that were of no use.
    pub tries: i32,
    /// Tokens that the chat model took.
    pub tokens: i64,
    /// When it was begun.
    pub created_at: DateTime<Utc>,
    /// When it came to stand as it does.
    pub finished_at: Option<DateTime<Utc>>,
}
