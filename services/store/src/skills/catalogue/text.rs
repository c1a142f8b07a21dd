//! A skill's text: as recall reads it to find it by, and its body as a turn brings it.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::{Offset, Utf8};

/// A skill to read, and the parts of it.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub id: SkillId,
    /// Whether its body is wanted.
    pub body: bool,
    /// Whether its vector is wanted.
    pub vector: bool,
}

/// A skill as recall reads it.
#[derive(Debug, Clone, Default)]
pub struct CatalogueRow {
    pub id: SkillId,
    /// The skill's full name, with its namespaces.
    pub name: String,
    pub summary: Option<String>,
    /// What it does and when, with what was made for it to be found by.
    pub description: String,
    /// Phrases that call for it, those that were made included.
    pub triggers: Vec<String>,
    /// Names of its neighbours.
    pub see_also: Vec<String>,
    /// Whether its author wants it recalled by name alone.
    pub reserved: bool,
    /// The markdown body; `None` where it was not wanted.
    pub body: Option<String>,
    /// The vector of name, description and triggers by the model asked for, where it was wanted and there is one.
    pub embedding: Option<Vec<f32>>,
}

row! {
    struct TextRow {
        skill_id: Uuid, name: String, summary: Option<String>, description: String, triggers: Vec<String>,
        see_also: Vec<String>, reserved: bool, body: Option<Utf8>, embedding: Option<Vec<f32>>,
    }
}

row! {
    Body {
        skill: Uuid = skill_id, version: i32, content: Utf8, files: Vec<String>, document: String,
        from: Offset = content_at_byte, tainted: bool,
    }
}

impl From<TextRow> for CatalogueRow {
    fn from(row: TextRow) -> Self {
        Self {
            id: SkillId(row.skill_id),
            name: row.name,
            summary: row.summary,
            description: row.description,
            triggers: row.triggers,
            see_also: row.see_also,
            reserved: row.reserved,
            body: row.body.map(String::from),
            embedding: row.embedding,
        }
    }
}

/// A skill's body as a turn brings it.
#[derive(Debug, Clone)]
pub struct Body {
    pub skill: SkillId,
    /// The version it is of.
    pub version: i32,
    pub content: String,
    /// Paths of the skill's other files, in order.
    pub files: Vec<String>,
    /// SHA-256 of the SKILL.md it is in, hex,
    pub document: String,
    /// and the byte at which it begins there.
    pub from: usize,
    /// Whether text of that version came from what is not to be trusted, and no person has approved it.
    pub tainted: bool,
}
