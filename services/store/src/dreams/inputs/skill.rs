//! A skill as a dream sees it: its whole text with how it fared, and what was merged into it.

use chrono::{DateTime, Utc};
use knowhow_domain::{SkillId, Source};
use uuid::Uuid;

use crate::vault::value::{Offset, Utf8};
use crate::vault::{Word, row};

/// A skill as a dream sees it.
#[derive(Debug, Clone)]
pub struct DreamSkill {
    pub id: SkillId,
    pub name: String,
    pub description: String,
    pub see_also: Vec<String>,
    pub source: Source,
    pub pinned: bool,
    pub version: i32,
    pub tainted: bool,
    pub created_at: DateTime<Utc>,
    /// Whether it has files beside SKILL.md.
    pub has_files: bool,
    /// The whole SKILL.md.
    pub document: String,
    /// Where the body begins in it, in bytes.
    pub body_at: usize,
    /// By the model asked for, where it has one.
    pub vector: Option<Vec<f32>>,
    /// Reported outcomes of 30 days.
    pub successes: i64,
    pub failures: i64,
    pub partials: i64,
    /// When another one was merged into it last, and how often one was.
    pub merged_at: Option<DateTime<Utc>>,
    pub merges: i64,
}

impl DreamSkill {
    /// The markdown below the frontmatter.
    pub fn body(&self) -> &str {
        self.document.get(self.body_at..).unwrap_or_default()
    }
}

row! {
    DreamSkill {
        id: Uuid = skill_id, name: String, description: String, see_also: Vec<String>, source: Word<Source>,
        pinned: bool, version: i32, tainted: bool, created_at: DateTime<Utc>, has_files: bool, document: Utf8,
        body_at: Offset = content_at_byte, vector: Option<Vec<f32>>, successes: i64, failures: i64, partials: i64,
        merged_at: Option<DateTime<Utc>>, merges: i64,
    }
}
