//! Extracts relations that a skill's body states by a cue directly before skill names. Cues that are only near a name
//! are ignored, because half of them do not state a relation.

use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use super::cue::{Cue, cues, may_be_cue, subject};
use super::markdown::{BlockKind, TextBlock, blocks};
use super::names::{clean, names_at_start};
use crate::inert_line;
use crate::kernel::pattern::pattern;
use crate::skills::name::last_segment;

/// Maximum number of relations extracted from a skill.
pub const MOST_EXTRACTED: usize = 50;

/// Maximum number of characters in stored evidence.
const EVIDENCE_CHARS: usize = 200;

/// A relation stated in a skill's text. A skill with the target name need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// Type of the relation from this skill to the other.
    pub kind: RelationType,
    /// Look-up key of the other skill's name.
    pub name: String,
    /// Apparent subject of the sentence if it is not this skill. If the subject is another skill, the relation does not
    /// belong to this skill.
    pub subject: Option<String>,
    /// Evidence from the text, at most 200 characters.
    pub evidence: String,
    /// Number of times that the text states the relation.
    pub mentions: i32,
}

static RELATED_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\W*(?:see\s+also|related(?:\s+(?:skills?|resources))?)\W*$"));

static RELATED_LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^[\s*_>]*(?:see\s+also|related(?:\s+skills?)?)\s*(?:\*\*|__)?\s*:(?:\*\*|__)?\s*"));

/// A heading or frontmatter key that states a relation without a cue.
static LISTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)see.also|related|prerequisites|depends.on|enables"));

/// Checks quickly whether a SKILL.md may state relations; only false positives are possible.
pub fn may_say_relations(document: &str) -> bool {
    may_be_cue(document) || LISTS.is_match(document)
}

/// Extracts the relations of the skill `own` from its body, at most [`MOST_EXTRACTED`], in order.
pub fn extract_relations(own: &str, body: &str) -> Vec<Extracted> {
    let mut found = FoundRelations { own, relations: Vec::new() };
    let (mut related_level, mut announced) = (None, None);
    for block in blocks(body) {
        if let BlockKind::Heading(level) = block.kind {
            related_level = if RELATED_HEADING.is_match(&block.text) {
                Some(level)
            } else {
                related_level.filter(|open| level > *open)
            };
            announced = None;
            continue;
        }
        let opens = related_level.map(|_| RelationType::SeeAlso);
        let announcement = if block.kind == BlockKind::Item { announced } else { None };
        found.read(&block, announcement.or(opens));
        announced = announcement.or_else(|| announces(&block));
    }
    found.relations
}

/// Returns the type of relation that a block announces for the items after it, as "Requires:" does.
fn announces(block: &TextBlock) -> Option<RelationType> {
    let last = cues(&block.text).into_iter().next_back()?;
    (block.text.ends_with(':') && last.end == block.text.len()).then_some(last.kind)
}

/// A relation that a cue, a heading or a "see also" line states.
struct CueStatement<'a> {
    kind: RelationType,
    /// Names of the other skills.
    names: Vec<String>,
    /// Apparent subject of the sentence if it is not this skill.
    subject: Option<&'a str>,
    /// Evidence from the text.
    evidence: &'a str,
}

struct FoundRelations<'a> {
    own: &'a str,
    relations: Vec<Extracted>,
}

impl FoundRelations<'_> {
    /// Reads a block. If `opening` is set, the names at the start of the block are related to the skill in this way.
    fn read(&mut self, block: &TextBlock, opening: Option<RelationType>) {
        let text = block.text.as_str();
        if let Some(kind) = opening {
            self.add(CueStatement { kind, names: names_at_start(text), subject: None, evidence: text });
        } else if let Some(line) = RELATED_LINE.find(text) {
            let names = names_at_start(&text[line.end()..]);
            self.add(CueStatement { kind: RelationType::SeeAlso, names, subject: None, evidence: text });
        }
        for cue in cues(text) {
            let of = subject(text, cue).and_then(clean).filter(|of| !self.is_own(of));
            let names = names_at_start(&text[cue.end..]);
            self.add(CueStatement { kind: cue.kind, names, subject: of.as_deref(), evidence: sentence(text, cue) });
        }
    }

    fn is_own(&self, name: &str) -> bool {
        name == self.own || name == last_segment(self.own)
    }

    fn add(&mut self, statement: CueStatement<'_>) {
        let CueStatement { kind, names, subject, evidence } = statement;
        for name in names {
            if self.is_own(&name) {
                continue;
            }
            let known = self.relations.iter_mut().find(|known| known.kind == kind && known.name == name);
            if let Some(known) = known {
                known.mentions += 1;
                // A single sentence about this skill is enough, so the other subject is dropped.
                known.subject = known.subject.take().filter(|_| subject.is_some());
            } else if self.relations.len() < MOST_EXTRACTED {
                let evidence = inert_line(evidence).chars().take(EVIDENCE_CHARS).collect();
                let subject = subject.map(str::to_owned);
                self.relations.push(Extracted { kind, name, subject, evidence, mentions: 1 });
            }
        }
    }
}

/// Returns the sentence around a cue.
fn sentence(text: &str, cue: Cue) -> &str {
    let start = text[..cue.start].rfind(". ").map_or(0, |at| at + 2);
    let end = text[cue.end..].find(". ").map_or(text.len(), |at| cue.end + at + 1);
    &text[start..end]
}

#[cfg(test)]
mod tests;
