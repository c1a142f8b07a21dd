//! Enrichment: what a skill lacks to be found by, and the words that are offered for it. They are checked here, whoever offers
//! them; what its author has said stays.

mod extract;

pub use extract::extract;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::limits::DESCRIPTION_CHARS;
use crate::scanner::{self, Verdict};
use crate::{FieldEdits, Limits, MadeBy, SkillDocument, SkillName, inert_line};

/// A description of so many characters, or fewer, is thin. The column `skills.lacks` says the same.
pub const THIN_CHARS: usize = 30;
/// How often a model is asked for the same text in vain.
pub const MOST_TRIES: i32 = 3;

const TRIGGERS: std::ops::RangeInclusive<usize> = 3..=8;
const TRIGGER_CHARS: usize = 60;
const TRIGGER_WORDS: usize = 8;
const TAGS: usize = 8;
const TAG_CHARS: usize = 40;
const TAG_WORDS: usize = 3;

/// What a skill lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lacks {
    /// A description that says enough.
    pub description: bool,
    /// Any trigger.
    pub triggers: bool,
    /// Any tag. That alone is no reason to enrich it.
    pub tags: bool,
}

impl Lacks {
    /// What is lacking beside these.
    pub fn of(description: &str, triggers: &[String], tags: &[String]) -> Self {
        Self {
            description: description.chars().nth(THIN_CHARS).is_none(),
            triggers: triggers.is_empty(),
            tags: tags.is_empty(),
        }
    }
}

/// Words that were made for a skill to be found by, shown beside its author's own. They are no part of its SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Discovery {
    /// The author's description, which is too short, and what was added to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub description: Option<String>,
    /// Phrases that call for the skill, where its author gave none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub triggers: Vec<String>,
    /// Who made them; `extract`: they are words of the skill's own body.
    pub made_by: MadeBy,
}

/// What a model offers.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Offered {
    /// What the skill does and when to use it.
    pub description: Option<String>,
    /// Phrases that call for it.
    pub triggers: Option<Vec<String>>,
    /// Labels.
    pub tags: Option<Vec<String>>,
}

/// Words for all that a skill lacks, which can be added to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrichment {
    /// The author's words, and more.
    pub description: Option<String>,
    pub triggers: Vec<String>,
    pub tags: Vec<String>,
}

impl Enrichment {
    /// What is offered of the things that a skill lacks. `None` where any of it is not as asked for, or looks like an attack:
    /// from a model that is wrong in one thing nothing is taken.
    pub fn check(description: &str, lacks: Lacks, offered: Offered) -> Option<Self> {
        let made = Self {
            description: match lacks.description {
                true => Some(completed(description, &offered.description?)?),
                false => None,
            },
            triggers: match lacks.triggers {
                true => phrases(offered.triggers?, TRIGGER_CHARS, TRIGGER_WORDS)?,
                false => Vec::new(),
            },
            tags: match offered.tags {
                Some(tags) if lacks.tags => phrases(tags, TAG_CHARS, TAG_WORDS)?,
                _ => Vec::new(),
            },
        };
        let fits = (!lacks.triggers || TRIGGERS.contains(&made.triggers.len())) && made.tags.len() <= TAGS;
        (fits && is_harmless(&made.edits())).then_some(made)
    }

    /// The same as edits of a frontmatter.
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

/// The author's words, which stay, and then those that were made; `None` where they are not one plain line that says more.
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

/// Each phrase once; `None` where one of them is none.
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

/// Whether it is one line that is nothing but words, and leads nowhere.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && inert_line(text) == text && !text.contains("://")
}

/// Whether the scanner finds nothing at all in words by themselves.
fn is_harmless(edits: &FieldEdits) -> bool {
    let description = edits.description.clone().or_else(|| Some("Says when to use it.".to_owned()));
    let Ok(name) = SkillName::parse("enrichment") else { return false };
    let edits = FieldEdits { description, ..edits.clone() };
    SkillDocument::compose(&name, &edits, "These words describe a skill.\n", &Limits::default())
        .is_ok_and(|document| scanner::scan(document.raw(), &[]).verdict == Verdict::Ok)
}

#[cfg(test)]
mod tests;
