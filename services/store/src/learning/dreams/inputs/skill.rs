//! A skill as input of a dream: its text, outcomes, and merges.

use chrono::{DateTime, Utc};
use knowhow_domain::{SkillId, Source};
use uuid::Uuid;

use crate::vault::value::{Offset, Utf8};
use crate::vault::{Word, row};

/// A skill as input of a dream.
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
    /// Whether the skill has files other than SKILL.md.
    pub has_files: bool,
    pub document: String,
    /// Byte offset of the body in the SKILL.md.
    pub body_at: usize,
    /// Vector made by the requested model, if it exists.
    pub vector: Option<Vec<f32>>,
    /// Number of uses in the last 30 days, and of outcomes reported in that time.
    pub uses: i64,
    pub successes: i64,
    pub failures: i64,
    pub partials: i64,
    /// Number of these outcomes, and of the successes among them, that no patch by learning and no decision has
    /// answered yet.
    pub fresh_outcomes: i64,
    pub fresh_successes: i64,
    /// Time of learning's last patch for failures; `None` before the first one.
    pub patched_at: Option<DateTime<Utc>>,
    /// Time of that patch, or of the last rejection of one, whichever is later.
    pub answered_at: Option<DateTime<Utc>>,
    /// Number of bytes that learning has recently added to the text.
    pub grown: i64,
    /// Time of the last merge into this skill (`None` before the first merge), and number of merges.
    pub merged_at: Option<DateTime<Utc>>,
    pub merges: i64,
}

impl DreamSkill {
    /// Returns the markdown below the frontmatter.
    pub fn body(&self) -> &str {
        self.document.get(self.body_at..).unwrap_or_default()
    }
}

row! {
    DreamSkill {
        id: Uuid = skill_id, name: String, description: String, see_also: Vec<String>, source: Word<Source>,
        pinned: bool, version: i32, tainted: bool, created_at: DateTime<Utc>, has_files: bool, document: Utf8,
        body_at: Offset = content_at_byte, vector: Option<Vec<f32>>, uses: i64, successes: i64, failures: i64,
        partials: i64, fresh_outcomes: i64, fresh_successes: i64, patched_at: Option<DateTime<Utc>>,
        answered_at: Option<DateTime<Utc>>, grown: i64, merged_at: Option<DateTime<Utc>>, merges: i64,
    }
}
