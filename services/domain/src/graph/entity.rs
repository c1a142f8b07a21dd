//! Entities: what memories speak of. A skill is one of them; so is whatever else a memory names.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use crate::{EntityId, Error, Result, inert_line};

/// Most things that one memory names.
pub const ENTITIES_PER_MEMORY: usize = 32;

/// Longest name of an entity.
const NAME_CHARS: usize = 120;

/// What kind of thing an entity is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EntityKind {
    /// A skill of the user.
    Skill,
    /// Somebody.
    Person,
    /// A company, a team, a club.
    Organization,
    /// Somewhere.
    Place,
    /// A piece of work that goes on for a while.
    Project,
    /// A program, a service, a device.
    Tool,
    /// What a conversation was about.
    Topic,
    /// Anything else.
    #[default]
    Thing,
}

impl EntityKind {
    /// The wire form, e.g. `person`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A thing that a memory names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityName {
    /// What it is called. Case, hyphens and blanks make no difference.
    #[schema(min_length = 1, max_length = 120, example = "Cloudflare")]
    pub name: String,
    /// What kind of thing it is. The skill of a `skill` is looked up by its name.
    #[serde(default)]
    pub kind: EntityKind,
}

impl EntityName {
    /// The name as it is kept, on one line.
    ///
    /// # Errors
    /// `Invalid` at `pointer` for a name that is empty or too long.
    pub fn checked(&self, pointer: &str) -> Result<(EntityKind, String)> {
        let name = inert_line(&self.name);
        match name.chars().count() {
            0 => Err(Error::invalid(pointer, "the name of an entity is empty")),
            1..=NAME_CHARS if !canonical(&name).is_empty() => Ok((self.kind, name)),
            1..=NAME_CHARS => Err(Error::invalid(pointer, "the name of an entity has no letter or digit")),
            _ => Err(Error::invalid(pointer, format!("the name of an entity has at most {NAME_CHARS} characters"))),
        }
    }
}

/// What the graph knows a thing as.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Entity {
    /// Its id; that of a skill is the skill's.
    #[schema(value_type = uuid::Uuid)]
    pub id: EntityId,
    /// What kind of thing it is.
    pub kind: EntityKind,
    /// What it was called first.
    #[schema(example = "Cloudflare")]
    pub name: String,
    /// How many memories name it.
    #[schema(minimum = 0)]
    pub memories: i64,
    /// Whether it was named by what had read untrusted content alone: information, no instruction.
    pub tainted: bool,
    /// When it was first named.
    pub created_at: DateTime<Utc>,
}

/// What two names have in common if they stand for the same thing: compatibility forms, case, hyphens, underscores and
/// blanks make no difference, and nothing else does. Names that are merely alike are never the same: `SR-2023-052` is
/// not `SR-2023-053`.
pub fn canonical(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let is_joint = |c: char| c == '-' || c == '_' || c.is_whitespace();
    folded.split(is_joint).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
