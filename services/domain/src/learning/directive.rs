//! Directives: instructions in a prompt that a tenant can replace.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::skills::manifest;
use crate::text::invisible::is_invisible;
use crate::{Error, Result};

/// Maximum number of characters in a directive.
pub const DIRECTIVE_CHARS: usize = 16_000;
/// Maximum number of stored versions of a directive; the oldest is removed.
pub const DIRECTIVE_VERSIONS: i32 = 50;

/// Prompt that a directive belongs to.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DirectiveName {
    /// Writing the index line of a skill.
    Summary,
    /// Writing discovery texts for a skill with a short description.
    Enrich,
    /// Summarising a conversation for the next one.
    Conversation,
    /// Reviewing a change to a skill.
    Review,
    /// Writing skills for recurring requests.
    DreamGaps,
    /// Merging duplicate skills.
    DreamConsolidate,
    /// Fixing skills that led to corrections.
    DreamOptimize,
    /// Writing the daily reflection.
    ReflectDaily,
    /// Writing the weekly reflection.
    ReflectWeekly,
    /// Writing the monthly reflection.
    ReflectMonthly,
    /// Choosing the skills that help with a message.
    Judge,
}

impl DirectiveName {
    /// All directives, in listing order.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the name used in the API and in the database, e.g. `dream-gaps`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the directive called `name`.
    ///
    /// # Errors
    /// `NotFound` if no directive has this name; the error lists all names.
    pub fn find(name: &str) -> Result<Self> {
        let all = || Self::VARIANTS.iter().map(|name| name.as_str().to_owned()).collect();
        name.parse().map_err(|_| Error::NotFound { what: "directive", candidates: all() })
    }
}

/// A directive: the tenant's own, or the built-in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Directive {
    /// Prompt that the directive belongs to.
    pub name: DirectiveName,
    /// Text of the directive.
    pub text: String,
    /// Version of the tenant's text, from 1; 0 for the built-in one.
    #[schema(minimum = 0)]
    pub version: i32,
    /// Hex SHA-256 of the text.
    pub digest: String,
    /// Whether this is the built-in text.
    pub is_builtin: bool,
    /// Author; only for a tenant's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "user:anna")]
    pub updated_by: Option<String>,
    /// Time of writing; only for a tenant's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

impl Directive {
    /// Makes a built-in directive.
    pub fn builtin(name: DirectiveName, text: &str) -> Self {
        let digest = manifest::hex(&manifest::digest(text.as_bytes()));
        let text = text.to_owned();
        Self { name, text, version: 0, digest, is_builtin: true, updated_by: None, updated_at: None }
    }

    /// Converts the directive in force to a list entry.
    pub fn without_text(self) -> DirectiveVersion {
        let Self { name, text: _, version, digest, is_builtin, updated_by, updated_at } = self;
        DirectiveVersion { name, version, digest, is_builtin, in_force: true, updated_by, updated_at }
    }
}

/// A version of a directive without its text, as in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DirectiveVersion {
    /// Prompt that the directive belongs to.
    pub name: DirectiveName,
    /// Version of the tenant's text, from 1; 0 for the built-in one.
    #[schema(minimum = 0)]
    pub version: i32,
    /// Hex SHA-256 of the text.
    pub digest: String,
    /// Whether this is the built-in text.
    pub is_builtin: bool,
    /// Whether this version is in force.
    pub in_force: bool,
    /// Author; only for a tenant's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "user:anna")]
    pub updated_by: Option<String>,
    /// Time of writing; only for a tenant's own text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// Validates the text of a directive.
///
/// # Errors
/// `Invalid` if the text is blank, too long or contains NUL.
pub fn check_directive(text: &str) -> Result<()> {
    if text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c)) {
        let detail = format!(
            "is blank; describe in 1 to {DIRECTIVE_CHARS} characters how to do the work, or delete the directive to restore the \
             built-in text"
        );
        return Err(Error::invalid("/text", detail));
    }
    let length = text.chars().count();
    if (1..=DIRECTIVE_CHARS).contains(&length) && !text.contains('\0') {
        return Ok(());
    }
    let detail = format!("must have 1 to {DIRECTIVE_CHARS} characters and no NUL, has {length}");
    Err(Error::invalid("/text", detail))
}

#[cfg(test)]
mod tests;
