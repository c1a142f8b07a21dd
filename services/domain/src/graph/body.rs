//! Extracts relations that a skill's body states by a cue directly before skill names. Cues that are only near a name
//! are ignored, because half of them do not state a relation.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use super::cue::{cues, may_be_cue, subject};
use super::markdown::{BlockKind, TextBlock, blocks};
use super::names::{clean, names_at_start};
use crate::inert_line;
use crate::kernel::pattern::pattern;
use crate::skills::name::last_segment;

/// Maximum number of relations extracted from a skill.
pub const MOST_EXTRACTED: usize = 50;

/// Maximum number of characters in stored evidence.
const EVIDENCE_CHARS: usize = 200;

/// Maximum number of bytes that are read of a sentence, before and after a name.
const SENTENCE_BYTES: usize = 1000;

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

/// Headings above lists of skills, each with the relation that it states.
static HEADINGS: LazyLock<[(RelationType, Regex); 4]> = LazyLock::new(|| {
    let heading = |words: &str| pattern(&format!(r"(?i)^\W*(?:{words})\W*$"));
    [
        (
            RelationType::SeeAlso,
            heading(
                r"see\s+also|related(?:\s+(?:skills?|resources))?|siehe\s+auch|verwandte\s+skills?|v[ée]ase\s+tambi[ée]n|ver\s+tambi[ée]n|(?:skills?|habilidades)\s+relacionad[ao]s|voir\s+aussi|(?:skills?|comp[ée]tences)\s+(?:associ[ée]e?s|connexes)",
            ),
        ),
        (
            RelationType::Requires,
            heading(
                r"prerequisites?(?:\s+skills?)?|dependencies|depends\s+on|requires|required(?:\s+(?:sub-?)?skills?)?(?:\s+before\s+this(?:\s+skill)?)?|requirements|before\s+you\s+(?:start|begin)|voraussetzungen|abh[äa]ngigkeiten|requisitos(?:\s+previos)?|dependencias|pr[ée]requis|d[ée]pendances",
            ),
        ),
        (
            RelationType::Enables,
            heading(
                r"next(?:\s+(?:steps?|skills?))?|what\s+(?:comes\s+)?next|hand-?offs?(?:\s+to)?|hands\s+off\s+to|n[äa]chste\s+schritte|siguientes?\s+pasos?|pr[óo]ximos\s+pasos|[ée]tapes?\s+suivantes?|prochaines\s+[ée]tapes",
            ),
        ),
        (
            RelationType::Complements,
            heading(
                r"companions?(?:\s+skills?)?|complementary(?:\s+skills?)?|(?:works|pairs)\s+(?:well\s+)?with|erg[äa]nzende\s+skills|(?:skills?|habilidades)\s+complementari[ao]s|(?:skills?|comp[ée]tences)\s+compl[ée]mentaires",
            ),
        ),
    ]
});

static RELATED_LINE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^[\s*_>]*(?:see\s+also|related(?:\s+skills?)?)\s*(?:\*\*|__)?\s*:(?:\*\*|__)?\s*"));

static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]\n]+)\]\([^)\s]*\)"));

/// Marks of bold and code.
static MARKS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\*\*|__|`+"));

/// The beginning of a text with a name in backticks, bold or a link, or next to the word "skill".
static MARKED_NAME: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"(?i)^(?:the\s+)?(?:[`*\[/_"]|skills?:?\s|[a-z0-9/-]{1,255}\s+skills?\b)"#));

/// A heading or frontmatter key that states a relation without a cue.
static LISTS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)see.also|related|prerequisites|depends.on|enables"));

/// Checks quickly whether a SKILL.md may state relations; only false positives are possible.
pub fn may_say_relations(document: &str) -> bool {
    may_be_cue(document) || LISTS.is_match(document) || document.lines().any(|line| heading_kind(line).is_some())
}

/// Extracts the relations of the skill `own` from its body, at most [`MOST_EXTRACTED`], in order.
pub fn extract_relations(own: &str, body: &str) -> Vec<Extracted> {
    let mut found = FoundRelations { own, relations: Vec::new() };
    // The relation that a heading states, with the level of the heading.
    let (mut section, mut announced): (Option<(usize, RelationType)>, _) = (None, None);
    for block in blocks(body) {
        if let BlockKind::Heading(level) = block.kind {
            let opened = heading_kind(&block.text).map(|kind| (level, kind));
            section = opened.or(section.filter(|(open, _)| level > *open));
            announced = None;
            continue;
        }
        let opens = section.map(|(_, kind)| kind);
        let announcement = if block.kind == BlockKind::Item { announced } else { None };
        found.read(&block, announcement.or(opens));
        announced = announcement.or_else(|| announces(&block));
    }
    found.relations
}

/// Returns the relation that a heading states between this skill and the skills below it.
fn heading_kind(text: &str) -> Option<RelationType> {
    HEADINGS.iter().find(|(_, heading)| heading.is_match(text)).map(|(kind, _)| *kind)
}

/// Returns the type of relation that a block announces for the items after it, as "Requires:" does.
fn announces(block: &TextBlock) -> Option<RelationType> {
    let is_label = block.text.trim_end_matches(['*', '_']).ends_with(':');
    if let Some(kind) = heading_kind(&block.text).filter(|_| is_label) {
        return Some(kind);
    }
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
        // Items below "Requirements" or "Next steps" may be things that are no skills.
        let is_listed =
            |kind| matches!(kind, RelationType::SeeAlso | RelationType::Complements) || is_marked_name(text);
        if let Some(kind) = opening.filter(|kind| is_listed(*kind)) {
            self.add(CueStatement { kind, names: names_at_start(text), subject: None, evidence: text });
        } else if let Some(line) = RELATED_LINE.find(text) {
            let names = names_at_start(&text[line.end()..]);
            self.add(CueStatement { kind: RelationType::SeeAlso, names, subject: None, evidence: text });
        }
        for cue in cues(text) {
            let of = subject(text, cue).and_then(clean).filter(|of| !self.is_own(of));
            let names = names_at_start(&text[cue.end..]);
            self.add(CueStatement {
                kind: cue.kind,
                names,
                subject: of.as_deref(),
                evidence: sentence(text, cue.start..cue.end),
            });
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
                let evidence = shown(evidence);
                let subject = subject.map(str::to_owned);
                self.relations.push(Extracted { kind, name, subject, evidence, mentions: 1 });
            }
        }
    }
}

/// Checks whether a text begins with a marked name or with the word "skill", or is a name alone.
fn is_marked_name(text: &str) -> bool {
    MARKED_NAME.is_match(text) || clean(text).is_some()
}

/// Returns the sentence around a range of a text, as evidence.
pub(super) fn evidence_around(text: &str, at: Range<usize>) -> String {
    shown(sentence(text, at))
}

/// Returns a sentence without its markup, cut to the length of evidence.
fn shown(sentence: &str) -> String {
    let plain = LINK.replace_all(sentence, "$1");
    let plain = MARKS.replace_all(&plain, "");
    inert_line(plain.trim_matches(['|', ' '])).chars().take(EVIDENCE_CHARS).collect()
}

/// Returns the sentence around a range of a text, at most [`SENTENCE_BYTES`] to each side.
fn sentence(text: &str, at: Range<usize>) -> &str {
    let from = text.ceil_char_boundary(at.start.saturating_sub(SENTENCE_BYTES));
    let to = text.floor_char_boundary((at.end + SENTENCE_BYTES).min(text.len()));
    let (text, at) = (&text[from..to], at.start - from..at.end - from);
    let start = text[..at.start].rfind(". ").map_or(0, |end| end + 2);
    let end = text[at.end..].find(". ").map_or(text.len(), |end| at.end + end + 1);
    &text[start..end]
}

#[cfg(test)]
mod tests;
