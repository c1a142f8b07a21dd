//! Enrichment: adds missing discovery texts to a skill. The texts that a model offers are checked here. The author's
//! own texts are not changed.

mod extract;

pub use extract::extract;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::kernel::limits::DESCRIPTION_CHARS;
use crate::review::scanner::{self, Verdict};
use crate::{FieldEdits, Limits, MadeBy, SkillDocument, SkillName, inert_line};

/// Maximum number of characters in a description that enrichment extends. The column `skills.lacks` must use the same
/// number.
pub const THIN_CHARS: usize = 30;
/// Maximum number of failed attempts to enrich the same text.
pub const MOST_TRIES: i32 = 3;

const TRIGGERS: std::ops::RangeInclusive<usize> = 3..=8;
const TRIGGER_CHARS: usize = 60;
const TRIGGER_WORDS: usize = 8;
const TAGS: usize = 8;
const TAG_CHARS: usize = 40;
const TAG_WORDS: usize = 3;

/// Discovery texts that a skill lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingTexts {
    /// Whether the description has at most `THIN_CHARS` characters.
    pub description: bool,
    /// Whether the skill has no triggers.
    pub triggers: bool,
    /// Whether the skill has no tags. Missing tags alone do not cause enrichment.
    pub tags: bool,
}

impl MissingTexts {
    /// Returns which texts a skill lacks.
    pub fn of(description: &str, triggers: &[String], tags: &[String]) -> Self {
        Self {
            description: description.chars().nth(THIN_CHARS).is_none(),
            triggers: triggers.is_empty(),
            tags: tags.is_empty(),
        }
    }
}

/// Texts made for finding a skill, shown next to its author's own. They are not part of its SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Discovery {
    /// The author's short description and the addition.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub description: Option<String>,
    /// Phrases that trigger the skill, if its author did not write any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub triggers: Vec<String>,
    /// Origin of the texts; `extract` means that they are words from the skill's own body.
    pub made_by: MadeBy,
}

/// Texts offered by a model.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct OfferedTexts {
    /// Purpose of the skill and when to use it.
    pub description: Option<String>,
    /// Phrases that trigger the skill.
    pub triggers: Option<Vec<String>>,
    /// Tags of the skill.
    pub tags: Option<Vec<String>>,
}

/// Checked texts for all fields that a skill lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrichment {
    /// The author's description and the addition.
    pub description: Option<String>,
    pub triggers: Vec<String>,
    pub tags: Vec<String>,
}

impl Enrichment {
    /// Checks the offered texts and returns those that the skill lacks. Returns `None` if one of them breaks a rule
    /// or looks like an attack, because after one fault the other texts are not trusted either.
    pub fn check(description: &str, missing: MissingTexts, offered: OfferedTexts) -> Option<Self> {
        let made = Self {
            description: match missing.description {
                true => Some(completed(description, &offered.description?)?),
                false => None,
            },
            triggers: match missing.triggers {
                true => phrases(offered.triggers?, TRIGGER_CHARS, TRIGGER_WORDS)?,
                false => Vec::new(),
            },
            tags: match offered.tags {
                Some(tags) if missing.tags => phrases(tags, TAG_CHARS, TAG_WORDS)?,
                _ => Vec::new(),
            },
        };
        let fits = (!missing.triggers || TRIGGERS.contains(&made.triggers.len())) && made.tags.len() <= TAGS;
        (fits && is_harmless(&made.edits())).then_some(made)
    }

    /// Returns the texts as edits to a frontmatter.
    pub fn edits(&self) -> FieldEdits {
        let list = |items: &Vec<String>| (!items.is_empty()).then(|| items.clone());
        FieldEdits {
            description: self.description.clone(),
            triggers: list(&self.triggers),
            tags: list(&self.tags),
            ..FieldEdits::default()
        }
    }
}

/// Appends the generated description to the author's. Returns `None` if the generated text is not one plain line, or
/// if the result has at most `THIN_CHARS` characters or exceeds the limit.
fn completed(author: &str, made: &str) -> Option<String> {
    let (author, made) = (author.trim_end(), made.trim().replace('`', "'"));
    let goes_on = made.strip_prefix(author).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let text = match (goes_on, author.ends_with(['.', '!', '?', ':', '。', '！', '？'])) {
        (true, _) => made.clone(),
        (false, true) => format!("{author} {made}"),
        (false, false) => format!("{author}. {made}"),
    };
    let length = text.chars().count();
    (is_plain(&made) && length > THIN_CHARS && length <= DESCRIPTION_CHARS).then_some(text)
}

/// Returns the phrases without duplicates. Returns `None` if a phrase is too long or is not plain text.
fn phrases(offered: Vec<String>, chars: usize, words: usize) -> Option<Vec<String>> {
    let mut known = Vec::new();
    let mut kept = Vec::new();
    for phrase in offered {
        let phrase = phrase.trim();
        if !is_plain(phrase) || phrase.chars().count() > chars || phrase.split(' ').count() > words {
            return None;
        }
        let folded = phrase.to_lowercase();
        if !known.contains(&folded) {
            known.push(folded);
            kept.push(phrase.to_owned());
        }
    }
    Some(kept)
}

/// Returns whether a text is a single line of plain text without links.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && inert_line(text) == text && !text.contains("://")
}

/// Returns whether a scan of the texts has no findings.
fn is_harmless(edits: &FieldEdits) -> bool {
    let description = edits.description.clone().or_else(|| Some("Says when to use it.".to_owned()));
    let Ok(name) = SkillName::parse("enrichment") else { return false };
    let edits = FieldEdits { description, ..edits.clone() };
    SkillDocument::compose(&name, &edits, "These words describe a skill.\n", &Limits::default())
        .is_ok_and(|document| scanner::scan(document.raw(), &[]).verdict == Verdict::Ok)
}

#[cfg(test)]
mod tests;
