//! Operations in a plan. Each is a small change that is checked, applied and undone separately.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::skills::patch::Edit;
use crate::{Error, Result};

/// A skill to be merged into another one, at the version that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Merged {
    /// Full name of the skill.
    pub name: String,
    /// The shown version.
    pub version: i32,
}

/// An operation. Unknown members are rejected, so that a proposal can only change the declared ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Create a skill for a recurring request.
    Create {
        name: String,
        description: String,
        #[serde(default)]
        triggers: Vec<String>,
        body: String,
        /// Conversations with this request, by their labels in the prompt.
        #[serde(default)]
        evidence: Vec<String>,
        #[serde(default)]
        reason: String,
    },
    /// Merge skills with the same content into one of them or a new one. The others are archived and redirect to it.
    Merge {
        into: String,
        sources: Vec<Merged>,
        description: String,
        body: String,
        #[serde(default)]
        reason: String,
    },
    /// Replace passages of a skill.
    Patch {
        name: String,
        version: i32,
        edits: Vec<Edit>,
        #[serde(default)]
        evidence: Vec<String>,
        #[serde(default)]
        reason: String,
    },
    /// Create the guide for a family of skills.
    Parent {
        name: String,
        members: Vec<String>,
        description: String,
        body: String,
        #[serde(default)]
        reason: String,
    },
    /// Add pointers from a skill to others.
    SeeAlso {
        name: String,
        add: Vec<String>,
        #[serde(default)]
        reason: String,
    },
    /// Archive a skill that another one has absorbed.
    Archive {
        name: String,
        version: i32,
        absorbed_into: String,
        #[serde(default)]
        reason: String,
    },
}

/// Kind of an operation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum OperationKind {
    Create,
    Merge,
    Patch,
    Parent,
    SeeAlso,
    Archive,
}

impl Operation {
    /// Returns the kind, as stored and served.
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Create { .. } => OperationKind::Create,
            Self::Merge { .. } => OperationKind::Merge,
            Self::Patch { .. } => OperationKind::Patch,
            Self::Parent { .. } => OperationKind::Parent,
            Self::SeeAlso { .. } => OperationKind::SeeAlso,
            Self::Archive { .. } => OperationKind::Archive,
        }
    }

    /// Parses a stored operation.
    ///
    /// # Errors
    /// `Internal` for invalid operations, e.g. a model's proposal that could not be parsed.
    pub fn read(stored: &Value) -> Result<Self> {
        Self::deserialize(stored).map_err(Error::internal)
    }

    /// Returns the names of all skills that the operation refers to, including its target.
    pub fn names(&self) -> Vec<&str> {
        let others: Vec<&str> = match self {
            Self::Create { .. } | Self::Patch { .. } => Vec::new(),
            Self::Merge { .. } => self.taken_away(),
            Self::Parent { members, .. } => members.iter().map(String::as_str).collect(),
            Self::SeeAlso { add, .. } => add.iter().map(String::as_str).collect(),
            Self::Archive { absorbed_into, .. } => vec![absorbed_into],
        };
        others.into_iter().chain([self.target()]).collect()
    }

    /// Returns the names of the skills that the operation archives.
    pub fn taken_away(&self) -> Vec<&str> {
        match self {
            Self::Merge { into, sources, .. } => {
                sources.iter().map(|source| source.name.as_str()).filter(|name| name != into).collect()
            }
            Self::Archive { name, .. } => vec![name],
            Self::Create { .. } | Self::Patch { .. } | Self::Parent { .. } | Self::SeeAlso { .. } => Vec::new(),
        }
    }

    /// Returns the name of the skill that the operation makes, changes or archives. For a merge this is the skill
    /// that stays.
    pub fn target(&self) -> &str {
        match self {
            Self::Merge { into, .. } => into,
            Self::Create { name, .. }
            | Self::Patch { name, .. }
            | Self::Parent { name, .. }
            | Self::SeeAlso { name, .. }
            | Self::Archive { name, .. } => name,
        }
    }
}

impl OperationKind {
    /// Returns the name, e.g. `see_also`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
