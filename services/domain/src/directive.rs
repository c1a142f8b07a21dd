//! Directives: the part of a prompt that says how to do the work well, and that a tenant can replace.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::invisible::is_invisible;
use crate::{Error, Result, manifest};

/// Most characters of a directive.
pub const DIRECTIVE_CHARS: usize = 16_000;
/// Most versions of one directive that are kept; the oldest leaves.
pub const DIRECTIVE_VERSIONS: i32 = 50;

/// Which prompt a directive is part of.
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
    /// The line of a skill in the index.
    Summary,
    /// Words by which a skill is found that says little of itself.
    Enrich,
    /// The summary of a conversation, for the next one.
    Conversation,
    /// What a model looks for in a change of a skill.
    Review,
    /// How skills are written for what users ask again and again.
    DreamGaps,
    /// How skills that say the same become one.
    DreamConsolidate,
    /// How skills that led to corrections are mended.
    DreamOptimize,
    /// What is told of a day.
    ReflectDaily,
    /// What is told of a week.
    ReflectWeekly,
    /// What is told of a month.
    ReflectMonthly,
}

impl DirectiveName {
    /// All of them, in the order in which they are listed.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The word that is served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The directive of that name.
    ///
    /// # Errors
    /// `NotFound`, which lists the names.
    pub fn find(name: &str) -> Result<Self> {
        let all = || Self::VARIANTS.iter().map(|name| name.as_str().to_owned()).collect();
        name.parse().map_err(|_| Error::NotFound { what: "directive", candidates: all() })
    }
}

/// A directive: the tenant's own, or the built-in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Directive {
    /// The prompt that it is part of.
    pub name: DirectiveName,
    /// How the work is to be done.
    pub text: String,
    /// Counts the tenant's texts from 1; 0 for the built-in one.
    #[schema(minimum = 0)]
    pub version: i32,
    /// SHA-256 of the text, hex.
    pub digest: String,
    /// Whether it is the text that comes with the service.
    pub is_builtin: bool,
    /// Who wrote it; of the tenant's own alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "user:anna")]
    pub updated_by: Option<String>,
    /// When it was written; of the tenant's own alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

impl Directive {
    /// The directive that comes with the service.
    pub fn builtin(name: DirectiveName, text: &str) -> Self {
        let digest = manifest::hex(&manifest::digest(text.as_bytes()));
        let text = text.to_owned();
        Self { name, text, version: 0, digest, is_builtin: true, updated_by: None, updated_at: None }
    }

    /// The same as lists show it, in force.
    pub fn without_text(self) -> DirectiveVersion {
        let Self { name, text: _, version, digest, is_builtin, updated_by, updated_at } = self;
        DirectiveVersion { name, version, digest, is_builtin, in_force: true, updated_by, updated_at }
    }
}

/// A version of a directive without its text, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DirectiveVersion {
    /// The prompt that it is part of.
    pub name: DirectiveName,
    /// Counts the tenant's texts from 1; 0 for the built-in one.
    #[schema(minimum = 0)]
    pub version: i32,
    /// SHA-256 of the text, hex.
    pub digest: String,
    /// Whether it is the text that comes with the service.
    pub is_builtin: bool,
    /// Whether prompts have it now.
    pub in_force: bool,
    /// Who wrote it; of the tenant's own alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "user:anna")]
    pub updated_by: Option<String>,
    /// When it was written; of the tenant's own alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
}

/// Refuses a text that no directive can have.
///
/// # Errors
/// `Invalid`, with the rule.
pub fn check_directive(text: &str) -> Result<()> {
    if text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c)) {
        let detail = format!(
            "is blank; say in 1 to {DIRECTIVE_CHARS} characters how the work is to be done, or delete the directive to have the \
             built-in text again"
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
