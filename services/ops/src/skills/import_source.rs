//! The kinds of import, and what each stores with a skill.

use knowhow_domain::{ChangeKind, Result, SkillName, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The kind of import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportSource {
    /// An import that is done once.
    #[default]
    Import,
    /// A sync of a folder. It changes only skills that a sync created.
    Sync,
}

impl ImportSource {
    /// Returns the source that is stored with a new skill.
    pub(super) fn source(self) -> Source {
        match self {
            Self::Import => Source::Import,
            Self::Sync => Source::Sync,
        }
    }

    /// Returns a new skill's name, and the reserved name that it replaces. A sync keeps a reserved name, which is
    /// rejected later, because a sync must use the folder's name.
    pub(super) fn unreserved(self, name: SkillName) -> Result<(SkillName, Option<SkillName>)> {
        match self {
            Self::Import if name.is_reserved() => Ok((name.unreserved()?, Some(name))),
            Self::Import | Self::Sync => Ok((name, None)),
        }
    }

    /// Returns the change kind that is stored with new versions.
    pub(super) fn change(self) -> ChangeKind {
        match self {
            Self::Import => ChangeKind::Import,
            Self::Sync => ChangeKind::Sync,
        }
    }
}
