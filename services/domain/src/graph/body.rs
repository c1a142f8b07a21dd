//! Relations that a skill's body says: the cue directly before the names. Merely near, half of what is found is wrong.

use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use super::cue::{Cue, cues, may_be_cue, subject};
use super::markdown::{Block, BlockKind, blocks};
use super::names::{clean, names_at_start};
use crate::inert_line;
use crate::name::last_segment;
use crate::pattern::pattern;

/// Most relations that are taken from one skill.
pub const MOST_EXTRACTED: usize = 50;

/// Longest evidence that is kept.
const EVIDENCE_CHARS: usize = 200;

/// A relation that a text says, to a name that may be a skill's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// What the skill is to the other one.
    pub kind: RelationType,
    /// The other one's name, as skills are looked up.
    pub name: String,
    /// Of whom the sentence seems to speak, where that is not the skill itself. If it is another skill, the sentence says
    /// nothing of this one.
    pub subject: Option<String>,
    /// The words that say it, at most 200 characters.
    pub evidence: String,
    /// How often the text says it.
    pub mentions: i32,
}

static RELATED_HEADING: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^\W*(?:see\s+also|related(?:\s+(?:skills?|resources))?)\W*$"));

static RELATED_LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^[\s*_>]*(?:see\s+also|related(?:\s+skills?)?)\s*(?:\*\*|__)?\s*:(?:\*\*|__)?\s*"));

/// What a text without a cue must have to say a relation all the same: a heading, or a key of the frontmatter.
static LISTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)see.also|related|prerequisites|depends.on|enables"));

/// Whether a SKILL.md may say a relation at all: quick, and wrong only in that it may say nothing.
pub fn may_say_relations(document: &str) -> bool {
    may_be_cue(document) || LISTS.is_match(document)
}

/// The relations that the body of the skill `own` says, at most [`MOST_EXTRACTED`], in their order.
pub fn extract_relations(own: &str, body: &str) -> Vec<Extracted> {
    let mut found = Found { own, relations: Vec::new() };
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
        let said_before = if block.kind == BlockKind::Item { announced } else { None };
        found.read(&block, said_before.or(opens));
        announced = said_before.or_else(|| announces(&block));
    }
    found.relations
}

/// What is said of the items that follow: "Requires:".
fn announces(block: &Block) -> Option<RelationType> {
    let last = cues(&block.text).into_iter().next_back()?;
    (block.text.ends_with(':') && last.end == block.text.len()).then_some(last.kind)
}

/// What one cue says.
struct Said<'a> {
    kind: RelationType,
    /// Of which skills, or things that may be.
    names: Vec<String>,
    /// Of whom the sentence seems to speak, where that is not the skill itself.
    subject: Option<&'a str>,
    /// The words that say it.
    evidence: &'a str,
}

struct Found<'a> {
    own: &'a str,
    relations: Vec<Extracted>,
}

impl Found<'_> {
    /// Takes what a block says; the names at its start are `opening` to the skill.
    fn read(&mut self, block: &Block, opening: Option<RelationType>) {
        let text = block.text.as_str();
        if let Some(kind) = opening {
            self.add(Said { kind, names: names_at_start(text), subject: None, evidence: text });
        } else if let Some(line) = RELATED_LINE.find(text) {
            let names = names_at_start(&text[line.end()..]);
            self.add(Said { kind: RelationType::SeeAlso, names, subject: None, evidence: text });
        }
        for cue in cues(text) {
            let of = subject(text, cue).and_then(clean).filter(|of| !self.is_own(of));
            let names = names_at_start(&text[cue.end..]);
            self.add(Said { kind: cue.kind, names, subject: of.as_deref(), evidence: sentence(text, cue) });
        }
    }

    fn is_own(&self, name: &str) -> bool {
        name == self.own || name == last_segment(self.own)
    }

    fn add(&mut self, said: Said<'_>) {
        let Said { kind, names, subject, evidence } = said;
        for name in names {
            if self.is_own(&name) {
                continue;
            }
            let known = self.relations.iter_mut().find(|known| known.kind == kind && known.name == name);
            if let Some(known) = known {
                known.mentions += 1;
                // One sentence that speaks of the skill itself is enough.
                known.subject = known.subject.take().filter(|_| subject.is_some());
            } else if self.relations.len() < MOST_EXTRACTED {
                let evidence = inert_line(evidence).chars().take(EVIDENCE_CHARS).collect();
                let subject = subject.map(str::to_owned);
                self.relations.push(Extracted { kind, name, subject, evidence, mentions: 1 });
            }
        }
    }
}

/// The sentence around a cue.
fn sentence(text: &str, cue: Cue) -> &str {
    let start = text[..cue.start].rfind(". ").map_or(0, |at| at + 2);
    let end = text[cue.end..].find(". ").map_or(text.len(), |at| cue.end + at + 1);
    &text[start..end]
}

#[cfg(test)]
mod tests;
