//! Permissions that credentials have.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::{Error, Result};

/// A permission that a credential can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
pub enum Scope {
    /// Read skills, their history and files.
    #[serde(rename = "skills:read")]
    #[strum(serialize = "skills:read")]
    SkillsRead,
    /// Save, patch, delete, import skills.
    #[serde(rename = "skills:write")]
    #[strum(serialize = "skills:write")]
    SkillsWrite,
    /// Open sessions and turns.
    #[serde(rename = "sessions")]
    #[strum(serialize = "sessions")]
    Sessions,
    /// Read and write memories and the soul.
    #[serde(rename = "memories")]
    #[strum(serialize = "memories")]
    Memories,
    /// Decide submissions.
    #[serde(rename = "review")]
    #[strum(serialize = "review")]
    Review,
    /// Administer the tenant.
    #[serde(rename = "admin")]
    #[strum(serialize = "admin")]
    Admin,
}

impl Scope {
    /// All scopes, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::SkillsRead, Self::SkillsWrite, Self::Sessions, Self::Memories, Self::Review, Self::Admin];

    /// Returns the name, e.g. `skills:read`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The permissions of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u8);

impl Scopes {
    /// Returns the scopes of a credential with the role `user` and no explicit scopes.
    pub fn of_user() -> Self {
        [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories].into_iter().collect()
    }

    /// Returns all scopes.
    pub fn all() -> Self {
        Scope::ALL.into_iter().collect()
    }

    /// Checks whether `scope` is included.
    pub fn contains(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// Returns the scopes of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the other scopes.
    #[must_use]
    pub fn without(self, scope: Scope) -> Self {
        Self(self.0 & !(1 << scope as u8))
    }

    /// Checks that `scope` is included.
    ///
    /// # Errors
    /// `Forbidden` with the name of the scope, if `scope` is not included.
    pub fn require(self, scope: Scope) -> Result<()> {
        if self.contains(scope) { Ok(()) } else { Err(Error::Forbidden(scope.as_str())) }
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().fold(0, |bits, s| bits | (1 << s as u8)))
    }
}
