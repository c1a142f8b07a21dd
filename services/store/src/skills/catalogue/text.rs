//! A skill's search data, and its body for a turn.

use knowhow_domain::SkillId;
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::{Offset, Utf8};

/// A skill to read, and the requested parts.
#[derive(Debug, Clone, Copy)]
pub struct CatalogueRequest {
    pub id: SkillId,
    pub body: bool,
    pub vector: bool,
}

/// Search data of a skill.
#[derive(Debug, Clone, Default)]
pub struct CatalogueRow {
    pub id: SkillId,
    /// Full name of the skill, with its namespaces.
    pub name: String,
    /// Name in the frontmatter, as a lookup key, if it differs from the skill's name.
    pub alias: Option<String>,
    pub summary: Option<String>,
    /// Purpose of the skill and when to use it, including generated discovery words.
    pub description: String,
    /// Phrases that trigger the skill, including generated ones.
    pub triggers: Vec<String>,
    /// Names of the skills that the author relates to this one.
    pub see_also: Vec<String>,
    /// Whether its author allows recall to find the skill only by its name.
    pub reserved: bool,
    /// The Markdown body; `None` if not requested.
    pub body: Option<String>,
    /// The vector of name, description and triggers by the requested model, if requested and available.
    pub embedding: Option<Vec<f32>>,
}

row! {
    struct CatalogueTextRow {
        skill_id: Uuid, name: String, summary: Option<String>, description: String, triggers: Vec<String>,
        see_also: Vec<String>, alias: Option<String>, reserved: bool, body: Option<Utf8>, embedding: Option<Vec<f32>>,
    }
}

row! {
    Body {
        skill: Uuid = skill_id, version: i32, content: Utf8, files: Vec<String>, document: String,
        from: Offset = content_at_byte, tainted: bool,
    }
}

impl From<CatalogueTextRow> for CatalogueRow {
    fn from(row: CatalogueTextRow) -> Self {
        Self {
            id: SkillId(row.skill_id),
            name: row.name,
            alias: row.alias,
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

/// A skill's body for a turn.
#[derive(Debug, Clone)]
pub struct Body {
    pub skill: SkillId,
    /// Version of the skill that has this body.
    pub version: i32,
    pub content: String,
    /// Paths of the skill's other files, sorted.
    pub files: Vec<String>,
    /// SHA-256 of the SKILL.md that contains the body, in hexadecimal.
    pub document: String,
    /// Byte offset of the body in the SKILL.md.
    pub from: usize,
    /// Whether a part of this version's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
}
