//! The index of a user's skills in the prompt: one line for each skill, within a budget.

mod fit;
mod rank;
#[cfg(test)]
mod tests;

use crate::kernel::limits::DESCRIPTION_CHARS;
use crate::review::untrusted;
use crate::text::headline::{brief, headline};
use crate::text::phrase::shorten;
use crate::text::sanitize::inert_line;
use crate::text::sentence::beginning;
use fit::{drop_least, shorten_all};
pub use rank::{SkillUsage, rank_skills};

/// Default budget, in characters.
pub const INDEX_BUDGET: usize = 16_000;

/// The supported budgets in characters. Each budget is rendered separately, so there are only a few.
pub const BUDGET_STEPS: [u32; 11] =
    [200, 500, 1_000, 2_000, 5_000, 10_000, INDEX_BUDGET as u32, 30_000, 50_000, 100_000, 200_000];

/// Returns the largest supported budget that is at most `budget`, or the smallest one.
pub fn step_below(budget: u32) -> u32 {
    let [least, ..] = BUDGET_STEPS;
    BUDGET_STEPS.into_iter().rev().find(|step| *step <= budget).unwrap_or(least)
}
/// Maximum number of characters read from a summary or description.
const READ_CHARS: usize = 2_000;

/// A skill to show in the index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexLine<'a> {
    /// A valid skill name, unique in the index.
    pub name: &'a str,
    /// The author's summary, if there is one. It is shown unchanged.
    pub summary: Option<&'a str>,
    /// The generated summary, if there is one; used in indexes that show summaries.
    pub made_summary: Option<&'a str>,
    pub description: &'a str,
    /// Rank of the skill. Skills with the lowest rank lose their text first; see [`rank_skills`].
    pub rank: f32,
    /// Whether the skill is untrusted; its line then has a mark.
    pub is_tainted: bool,
}

/// Text shown for each skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The description, for agents that choose among the skills.
    Descriptions,
    /// A summary, for short prompts or agents that cannot choose.
    Summaries,
}

/// Style of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexStyle {
    /// The first line.
    pub header: &'static str,
    /// Text shown for each skill.
    pub detail: Detail,
    /// Whether the agent can search for omitted skills.
    pub can_search: bool,
}

/// A rendered index, with the numbers of shortened and omitted lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillIndex {
    /// The block for the prompt, without a line end; empty if there are no skills.
    pub text: String,
    /// Number of skills with a shortened line.
    pub shortened: usize,
    /// Number of skills shown only by name.
    pub bare: usize,
    /// Number of omitted skills.
    pub omitted: usize,
}

/// Renders the index, ordered by name, within `budget_chars` (Unicode characters).
///
/// If the budget is too small, descriptions are shortened to a common length, by sentences and phrases. If that is not
/// enough, only the skills with the highest rank keep their descriptions. The others are shown by name if all names
/// take at most half of the budget, and omitted otherwise. Among skills with equal rank, the last by name is dropped
/// first. A last line reports the omissions. The text exceeds the budget only if the header and this line do not fit.
pub fn render_index(lines: &[IndexLine<'_>], budget_chars: usize, style: &IndexStyle) -> SkillIndex {
    if lines.is_empty() {
        return SkillIndex::default();
    }
    let mut entries: Vec<Entry<'_>> = lines.iter().map(|line| Entry::new(line, style.detail)).collect();
    entries.sort_by_key(|entry| entry.line.name);
    // The meaning of the mark is explained once, after the lines.
    let meaning = lines.iter().any(|line| line.is_tainted).then(|| format!("({})", untrusted::MEANING));
    let header = chars(style.header) + meaning.as_ref().map_or(0, |meaning| 1 + chars(meaning));
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    if header + names <= budget_chars {
        entries.iter_mut().for_each(Entry::find_text);
    }
    let whole = header + names + entries.iter().map(Entry::text_cost).sum::<usize>();
    if whole > budget_chars {
        let most = entries.len();
        let room = budget_chars.saturating_sub(header + 1 + chars(&note(most, most, most, style)));
        if !shorten_all(&mut entries, room) {
            drop_least(&mut entries, room);
        }
    }
    let count = |treatment| entries.iter().filter(|entry| entry.treatment == treatment).count();
    let (shortened, bare, omitted) =
        (count(LineTreatment::Shortened), count(LineTreatment::Bare), count(LineTreatment::Omitted));
    let shown = entries.iter().filter(|entry| entry.treatment != LineTreatment::Omitted).map(Entry::print);
    let note = (shortened + bare + omitted > 0).then(|| note(shortened, bare, omitted, style));
    let all = std::iter::once(style.header.to_owned()).chain(shown).chain(meaning).chain(note);
    let text = all.collect::<Vec<_>>().join("\n");
    SkillIndex { text, shortened, bare, omitted }
}

/// Returns a line of at most 15 words and 160 characters: the summary, or the headline of the description if the
/// summary is empty. This is needed because a SKILL.md may have a summary of any length.
pub fn gist(summary: Option<&str>, description: &str) -> String {
    summary.and_then(own_summary).unwrap_or_else(|| headline(description))
}

fn own_summary(summary: &str) -> Option<String> {
    Some(brief(&inert_line(beginning(summary, READ_CHARS)))).filter(|summary| !summary.is_empty())
}

/// Treatment of a skill in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineTreatment {
    Whole,
    Shortened,
    Bare,
    Omitted,
}

/// A skill while the index is rendered.
struct Entry<'a> {
    line: &'a IndexLine<'a>,
    detail: Detail,
    /// The line's text. It is computed on demand, because most of thousands of skills are omitted without it.
    text: Option<String>,
    mark: &'static str,
    treatment: LineTreatment,
}

impl<'a> Entry<'a> {
    fn new(line: &'a IndexLine<'a>, detail: Detail) -> Self {
        Self { line, detail, text: None, mark: untrusted::mark(line.is_tainted), treatment: LineTreatment::Whole }
    }

    fn find_text(&mut self) {
        let Self { line, detail, .. } = *self;
        self.text.get_or_insert_with(|| match detail {
            Detail::Descriptions => line
                .summary
                .and_then(own_summary)
                .unwrap_or_else(|| shorten(&inert_line(beginning(line.description, READ_CHARS)), DESCRIPTION_CHARS)),
            Detail::Summaries => gist(line.summary.or(line.made_summary), line.description),
        });
    }

    fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    fn shorten(&mut self, most: usize) {
        let short = shorten(self.text(), most);
        if short != self.text() {
            (self.text, self.treatment) = (Some(short), LineTreatment::Shortened);
        }
    }

    fn print(&self) -> String {
        let (name, mark) = (self.line.name, self.mark);
        match self.treatment {
            LineTreatment::Whole | LineTreatment::Shortened if !self.text().is_empty() => {
                format!("- {name}{mark}: {}", self.text())
            }
            _ => format!("- {name}{mark}"),
        }
    }

    /// Returns the number of characters in the line without its text, but with a line end.
    fn bare_cost(&self) -> usize {
        "\n- ".len() + chars(self.line.name) + self.mark.len()
    }

    /// Returns the number of characters that the text adds to the line.
    fn text_cost(&self) -> usize {
        cost(self.text())
    }
}

/// Returns the number of characters that a text adds to its line.
fn cost(text: &str) -> usize {
    if text.is_empty() { 0 } else { ": ".len() + chars(text) }
}

/// Returns the last line of an incomplete index, which describes the omissions.
fn note(shortened: usize, bare: usize, omitted: usize, style: &IndexStyle) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let parts = [
        (shortened, format!("{shortened} summar{} shortened", if shortened == 1 { "y" } else { "ies" })),
        (bare, format!("{bare} skill{} shown without summary", plural(bare))),
        (omitted, format!("{omitted} skill{} left out", plural(omitted))),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
    let hint = if style.can_search { " Search them all with skill_list." } else { "" };
    format!("(To save space: {}.{hint})", parts.join(", "))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
