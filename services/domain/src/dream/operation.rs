//! What a plan is made of: small changes, each typed, checked, applied and undone by itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::patch::Edit;
use crate::{Error, Result};

/// A skill that is merged into another one, at the version that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Merged {
    /// The skill's full name.
    pub name: String,
    /// The version that was shown.
    pub version: i32,
}

/// One change. An unknown member refuses it: no proposal touches what is not named here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Make a skill for what was asked again and again.
    Create {
        name: String,
        description: String,
        #[serde(default)]
        triggers: Vec<String>,
        body: String,
        /// The conversations that asked for it, by the names they were shown under.
        #[serde(default)]
        evidence: Vec<String>,
        #[serde(default)]
        reason: String,
    },
    /// Join skills that say the same into one of them, or into a new one. The others are archived and lead to it.
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
    /// Make the guide of a family of skills.
    Parent { name: String, members: Vec<String>, description: String, body: String },
    /// Have a skill point at others.
    SeeAlso { name: String, add: Vec<String> },
    /// Archive a skill that another one has absorbed.
    Archive {
        name: String,
        version: i32,
        absorbed_into: String,
        #[serde(default)]
        reason: String,
    },
}

/// The kind of an operation.
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
    /// The kind, as it is stored and served.
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

    /// Reads an operation as it is stored.
    ///
    /// # Errors
    /// `Internal` for what is none, as what a model proposed that could not be read.
    pub fn read(stored: &Value) -> Result<Self> {
        Self::deserialize(stored).map_err(Error::internal)
    }

    /// All skills that it names.
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

    /// The skills that it archives.
    pub fn taken_away(&self) -> Vec<&str> {
        match self {
            Self::Merge { into, sources, .. } => {
                sources.iter().map(|source| source.name.as_str()).filter(|name| name != into).collect()
            }
            Self::Archive { name, .. } => vec![name],
            Self::Create { .. } | Self::Patch { .. } | Self::Parent { .. } | Self::SeeAlso { .. } => Vec::new(),
        }
    }

    /// The skill that it is about: the one that is made, changed or archived; of a merge, the one that stays.
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
    /// The wire form, e.g. `see_also`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
