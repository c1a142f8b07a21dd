//! The index of a user's skills in the prompt: a line for each, within a budget.

mod fit;
mod rank;
#[cfg(test)]
mod tests;

use crate::headline::{brief, headline};
use crate::inert::inert_line;
use crate::limits::DESCRIPTION_CHARS;
use crate::phrase::shorten;
use crate::sentence::beginning;
use crate::untrusted;
use fit::{drop_least, shorten_all};
pub use rank::{Standing, rank_skills};

/// The usual budget, in characters.
pub const INDEX_BUDGET: usize = 16_000;

/// The budgets that a session is given: each is a rendering of its own, so callers share a few.
pub const BUDGET_STEPS: [u32; 11] =
    [200, 500, 1_000, 2_000, 5_000, 10_000, INDEX_BUDGET as u32, 30_000, 50_000, 100_000, 200_000];

/// The largest step that is not above `budget`.
pub fn step_below(budget: u32) -> u32 {
    let [least, ..] = BUDGET_STEPS;
    BUDGET_STEPS.into_iter().rev().find(|step| *step <= budget).unwrap_or(least)
}
/// Characters that are read of a summary or description.
const READ_CHARS: usize = 2_000;

/// A skill as the index needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexLine<'a> {
    /// A valid skill name, unlike all others.
    pub name: &'a str,
    /// The summary that its author gave, which is shown as it is.
    pub summary: Option<&'a str>,
    /// A summary that was made for it, for indexes of summaries.
    pub made_summary: Option<&'a str>,
    pub description: &'a str,
    /// Skills with the lowest rank lose their text first where room is short; see [`rank_skills`].
    pub rank: f32,
    /// Whether it is not to be trusted, which its line then says.
    pub is_tainted: bool,
}

/// How much an index says of each skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The description, for agents that choose among the skills.
    Descriptions,
    /// A summary, where the prompt must be short or the agent has no choice.
    Summaries,
}

/// How an index is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexStyle {
    /// The first line.
    pub header: &'static str,
    /// What is said of each skill.
    pub detail: Detail,
    /// Whether the agent can search the skills that are not shown.
    pub can_search: bool,
}

/// The index, and counts of what did not fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index {
    /// The block as it stands in the prompt, without a line end; empty where there are no skills.
    pub text: String,
    /// Skills whose line was shortened.
    pub shortened: usize,
    /// Skills that are shown by name alone.
    pub bare: usize,
    /// Skills that are not shown.
    pub omitted: usize,
}

/// Prints the index, ordered by name, within `budget_chars` (Unicode characters).
///
/// Where that is too little, descriptions are shortened to a common length, by sentences and phrases. Where they cannot be
/// shorter, the skills that rank first keep theirs; the others come by name alone where all names take at most half of the
/// room, else not at all (of equals, the last by name goes first). A last line says what is missing. Only a budget that
/// cannot hold the header and that line is exceeded.
pub fn render_index(lines: &[IndexLine<'_>], budget_chars: usize, style: &IndexStyle) -> Index {
    if lines.is_empty() {
        return Index::default();
    }
    let mut entries: Vec<Entry<'_>> = lines.iter().map(|line| Entry::new(line, style.detail)).collect();
    entries.sort_by_key(|entry| entry.line.name);
    // What a mark means is said once, behind the lines.
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
    let count = |fate| entries.iter().filter(|entry| entry.fate == fate).count();
    let (shortened, bare, omitted) = (count(Fate::Shortened), count(Fate::Bare), count(Fate::Omitted));
    let shown = entries.iter().filter(|entry| entry.fate != Fate::Omitted).map(Entry::print);
    let note = (shortened + bare + omitted > 0).then(|| note(shortened, bare, omitted, style));
    let all = std::iter::once(style.header.to_owned()).chain(shown).chain(meaning).chain(note);
    let text = all.collect::<Vec<_>>().join("\n");
    Index { text, shortened, bare, omitted }
}

/// A skill in at most 15 words and 160 characters: its summary, or the headline of its description where there is nothing
/// in that. A SKILL.md may hold a summary of any length.
pub fn gist(summary: Option<&str>, description: &str) -> String {
    summary.and_then(own_summary).unwrap_or_else(|| headline(description))
}

fn own_summary(summary: &str) -> Option<String> {
    Some(brief(&inert_line(beginning(summary, READ_CHARS)))).filter(|summary| !summary.is_empty())
}

/// What becomes of a skill in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Whole,
    Shortened,
    Bare,
    Omitted,
}

/// A skill on its way into the index.
struct Entry<'a> {
    line: &'a IndexLine<'a>,
    detail: Detail,
    /// Found only for entries that have room: of thousands of skills most have none.
    text: Option<String>,
    mark: &'static str,
    fate: Fate,
}

impl<'a> Entry<'a> {
    fn new(line: &'a IndexLine<'a>, detail: Detail) -> Self {
        Self { line, detail, text: None, mark: untrusted::mark(line.is_tainted), fate: Fate::Whole }
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
            (self.text, self.fate) = (Some(short), Fate::Shortened);
        }
    }

    fn print(&self) -> String {
        let (name, mark) = (self.line.name, self.mark);
        match self.fate {
            Fate::Whole | Fate::Shortened if !self.text().is_empty() => format!("- {name}{mark}: {}", self.text()),
            _ => format!("- {name}{mark}"),
        }
    }

    /// Characters of the line without its text, with a line end.
    fn bare_cost(&self) -> usize {
        "\n- ".len() + chars(self.line.name) + self.mark.len()
    }

    /// Characters that the text adds.
    fn text_cost(&self) -> usize {
        cost(self.text())
    }
}

/// Characters that a text adds to its line.
fn cost(text: &str) -> usize {
    if text.is_empty() { 0 } else { ": ".len() + chars(text) }
}

/// The last line of an index that does not say all.
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
