//! The index of a user's skills in the prompt: a line for each, within a budget.

use crate::headline::{brief, cut, headline};
use crate::inert::inert_line;

/// The usual budget, in characters.
pub const INDEX_BUDGET: usize = 16_000;
const HEADER: &str = "Available skills (use skill_view to load full instructions):";
/// Of a summary no more is read.
const READ_CHARS: usize = 2_000;
/// No summary is made shorter than this; a skill goes without rather.
const SHORTEST_CHARS: usize = 24;

/// A skill as the index needs it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexLine<'a> {
    /// A valid skill name, unlike all others.
    pub name: &'a str,
    /// What the line says; the headline of the description where there is none.
    pub summary: Option<&'a str>,
    /// The skill's description.
    pub description: &'a str,
    /// What is short of room goes first where this is low.
    pub importance: f32,
}

/// The index, and what was left out of it for want of room.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index {
    /// The block as it stands in the prompt, without a line end; empty where there are no skills.
    pub text: String,
    /// Skills whose summary was shortened.
    pub shortened: usize,
    /// Skills that are shown without their summary.
    pub bare: usize,
    /// Skills that are not shown.
    pub omitted: usize,
}

/// Prints the index, ordered by name. Over `budget_chars` (Unicode characters) summaries are shortened to a common
/// length, then dropped, then skills left out, the least important first (of equals, the last by name); a last line
/// says so. Only a budget that cannot hold the header and that line is exceeded.
pub fn render_index(lines: &[IndexLine<'_>], budget_chars: usize) -> Index {
    if lines.is_empty() {
        return Index::default();
    }
    let mut entries: Vec<Entry<'_>> = lines.iter().map(Entry::new).collect();
    entries.sort_by_key(|entry| entry.name);
    let whole = chars(HEADER) + entries.iter().map(|entry| entry.bare_cost() + entry.summary_cost()).sum::<usize>();
    if whole > budget_chars {
        let most = entries.len();
        let room = budget_chars.saturating_sub(chars(HEADER) + 1 + chars(&note(most, most, most)));
        shorten(&mut entries, room);
        drop_least(&mut entries, room);
    }
    let count = |fate| entries.iter().filter(|entry| entry.fate == fate).count();
    let (shortened, bare, omitted) = (count(Fate::Shortened), count(Fate::Bare), count(Fate::Omitted));
    let shown = entries.iter().filter(|entry| entry.fate != Fate::Omitted).map(Entry::line);
    let note = (shortened + bare + omitted > 0).then(|| note(shortened, bare, omitted));
    let text = std::iter::once(HEADER.to_owned()).chain(shown).chain(note).collect::<Vec<_>>().join("\n");
    Index { text, shortened, bare, omitted }
}

/// What a line says of a skill: its summary, or the headline of its description where there is nothing in that; either in
/// at most 15 words and 160 characters, since a SKILL.md may hold a summary of any length.
pub fn gist(summary: Option<&str>, description: &str) -> String {
    let beginning = |text: &str| text.chars().take(READ_CHARS).collect::<String>();
    let own = summary.map(|summary| brief(&inert_line(&beginning(summary)))).filter(|summary| !summary.is_empty());
    own.unwrap_or_else(|| headline(description))
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
    name: &'a str,
    summary: String,
    importance: f32,
    fate: Fate,
}

impl<'a> Entry<'a> {
    fn new(line: &IndexLine<'a>) -> Self {
        let summary = gist(line.summary, line.description);
        Self { name: line.name, summary, importance: line.importance, fate: Fate::Whole }
    }

    fn line(&self) -> String {
        match self.fate {
            Fate::Whole | Fate::Shortened if !self.summary.is_empty() => format!("- {}: {}", self.name, self.summary),
            _ => format!("- {}", self.name),
        }
    }

    /// Characters of the line without summary, with a line end.
    fn bare_cost(&self) -> usize {
        "\n- ".len() + chars(self.name)
    }

    /// Characters that the summary adds.
    fn summary_cost(&self) -> usize {
        if self.summary.is_empty() { 0 } else { ": ".len() + chars(&self.summary) }
    }
}

/// Cuts all summaries to the greatest length with which the lines fit, or to the least one.
fn shorten(entries: &mut [Entry<'_>], room: usize) {
    let uncut: usize = entries.iter().map(Entry::bare_cost).sum();
    let size =
        |entry: &Entry<'_>, length| if entry.summary.is_empty() { 0 } else { 2 + chars(&cut(&entry.summary, length)) };
    let fits = |length| uncut + entries.iter().map(|entry| size(entry, length)).sum::<usize>() <= room;
    let longest = entries.iter().map(|entry| chars(&entry.summary)).max().unwrap_or(0);
    let (mut fitting, mut too_long) = (SHORTEST_CHARS, longest + 1);
    while too_long > fitting + 1 {
        let middle = fitting.midpoint(too_long);
        if fits(middle) { fitting = middle } else { too_long = middle }
    }
    for entry in entries {
        let short = cut(&entry.summary, fitting);
        if short != entry.summary {
            (entry.summary, entry.fate) = (short, Fate::Shortened);
        }
    }
}

/// Drops summaries, or all of them and names, until the lines fit.
fn drop_least(entries: &mut [Entry<'_>], room: usize) {
    let names: usize = entries.iter().map(Entry::bare_cost).sum();
    let mut order: Vec<&mut Entry<'_>> = entries.iter_mut().collect();
    order.sort_by(|a, b| b.importance.total_cmp(&a.importance));
    let (left, spare) = if names <= room { (Fate::Bare, room - names) } else { (Fate::Omitted, room) };
    let mut used = 0;
    for entry in order {
        used += if left == Fate::Bare { entry.summary_cost() } else { entry.bare_cost() };
        if used > spare && (left == Fate::Omitted || !entry.summary.is_empty()) {
            entry.fate = left;
        } else if left == Fate::Omitted && !entry.summary.is_empty() {
            entry.fate = Fate::Bare;
        }
    }
}

/// The last line of an index that is not whole.
fn note(shortened: usize, bare: usize, omitted: usize) -> String {
    let plural = |count| if count == 1 { "" } else { "s" };
    let parts = [
        (shortened, format!("{shortened} summar{} shortened", if shortened == 1 { "y" } else { "ies" })),
        (bare, format!("{bare} skill{} shown without summary", plural(bare))),
        (omitted, format!("{omitted} skill{} left out", plural(omitted))),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, part)| part).collect();
    format!("(For want of room: {}. Use skill_list to see all skills with their summaries.)", parts.join(", "))
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line<'a>(name: &'a str, summary: &'a str, importance: f32) -> IndexLine<'a> {
        IndexLine { name, summary: Some(summary), description: "A description", importance }
    }

    #[test]
    fn nothing_is_no_index() {
        assert_eq!(render_index(&[], INDEX_BUDGET), Index::default());
        assert_eq!(render_index(&[], 0), Index::default());
    }

    #[test]
    fn skills_are_listed_by_name() {
        let described =
            IndexLine { summary: None, description: "Reads mail. Use it always.", ..line("mcp/email", "", 0.1) };
        let blank = IndexLine { summary: Some("\u{200b} "), description: "\u{200b}-", ..line("a", "", 0.1) };
        let index = render_index(&[line("plan-meeting", "Plans\n- meetings", 0.5), described, blank], INDEX_BUDGET);
        let text = "Available skills (use skill_view to load full instructions):\n- a\n- mcp/email: Reads mail\n\
                    - plan-meeting: Plans - meetings";
        assert_eq!(index, Index { text: text.into(), ..Index::default() });
    }

    #[test]
    fn a_line_is_short_whatever_the_summary() {
        let long = "Send mail, <|im_start|> ".repeat(3_000);
        let shown = gist(Some(&long), "");
        assert_eq!(shown, ["Send mail, ‹|im_start|›"; 5].join(" ") + "…");
        assert_eq!(gist(Some(&"字".repeat(60_000)), ""), "字".repeat(159) + "…");
        let line = IndexLine { summary: Some(&long), ..line("a", "", 0.1) };
        assert_eq!(render_index(&[line], INDEX_BUDGET).text, format!("{HEADER}\n- a: {shown}"));
        assert_eq!(gist(Some(WORDS), "It"), WORDS);
    }

    const WORDS: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

    #[test]
    fn summaries_give_way_before_names() {
        let lines = [line("a", WORDS, 0.9), line("b", "short", 0.1), line("c", WORDS, 0.5), line("d", WORDS, 0.5)];
        let render = |budget| render_index(&lines, budget).text.replace(HEADER, "H");
        let whole = format!("H\n- a: {WORDS}\n- b: short\n- c: {WORDS}\n- d: {WORDS}");
        assert_eq!(render(INDEX_BUDGET), whole);
        let exact = chars(&whole) - 1 + HEADER.len();
        assert_eq!(render(exact), whole);
        let see = "Use skill_list to see all skills with their summaries.)";
        let reserve = HEADER.len() + 1 + chars(&note(4, 4, 4));
        assert_eq!(
            render(reserve + 120),
            format!(
                "H\n- a: one two three four five six…\n- b: short\n- c: one two three four five six…\n\
                 - d: one two three four five six…\n(For want of room: 3 summaries shortened. {see}"
            )
        );
        assert_eq!(
            render(reserve + 70),
            format!(
                "H\n- a: one two three four five…\n- b\n- c: one two three four five…\n- d\n\
                 (For want of room: 2 summaries shortened, 2 skills shown without summary. {see}"
            )
        );
        assert_eq!(
            render(reserve + 16),
            format!("H\n- a\n- b\n- c\n- d\n(For want of room: 4 skills shown without summary. {see}")
        );
        assert_eq!(
            render(reserve + 11),
            format!("H\n- a\n- c\n(For want of room: 2 skills shown without summary, 2 skills left out. {see}")
        );
        assert_eq!(render(0), format!("H\n(For want of room: 4 skills left out. {see}"));
        assert_eq!(note(1, 1, 1).matches('1').count(), 3);
        assert!(note(1, 1, 1).contains("1 summary shortened, 1 skill shown without summary, 1 skill left out."));
    }

    #[test]
    fn ten_thousand_skills_are_listed_at_once() {
        let names: Vec<String> = (0..10_000).map(|n| format!("space-{}/skill-{n:05}", n % 7)).collect();
        let description = "Does a rather long thing with many words in it, for which there is no room. ".repeat(4);
        let lines: Vec<_> = names
            .iter()
            .enumerate()
            .map(|(n, name)| IndexLine { name, summary: None, description: &description, importance: (n % 100) as f32 })
            .collect();
        assert_eq!(check(&lines, 2_000_000).shortened, 0);
        assert_eq!(check(&lines, 600_000).shortened, 10_000);
        assert!((1..10_000).contains(&check(&lines, 300_000).bare));
        assert!(check(&lines, INDEX_BUDGET).omitted > 9_000);
    }

    /// Reads the index as its user does and holds all it says against the skills.
    fn check(lines: &[IndexLine<'_>], budget: usize) -> Index {
        let index = render_index(lines, budget);
        let mut sorted: Vec<&IndexLine<'_>> = lines.iter().collect();
        sorted.sort_by_key(|line| line.name);
        let cut_any = index.shortened + index.bare + index.omitted > 0;
        let mut rows: Vec<&str> = index.text.split('\n').collect();
        assert_eq!(rows.len(), usize::from(!lines.is_empty()) + lines.len() - index.omitted + usize::from(cut_any));
        assert_eq!(rows.remove(0), HEADER);
        if cut_any {
            assert_eq!(rows.pop(), Some(note(index.shortened, index.bare, index.omitted).as_str()));
            assert!(chars(&index.text) <= budget || index.omitted == lines.len());
        }
        let (mut shortened, mut bare, mut omitted, mut full) = (0, Vec::new(), Vec::new(), Vec::new());
        let mut rows = rows.into_iter().peekable();
        for line in sorted {
            let whole = Entry::new(line);
            let bare_row = format!("- {}", line.name);
            let Some(row) = rows.next_if(|row| *row == bare_row || row.starts_with(&format!("{bare_row}: "))) else {
                omitted.push(line);
                continue;
            };
            if row == bare_row {
                bare.extend((!whole.summary.is_empty()).then_some(line));
                continue;
            }
            full.push(line);
            if row != whole.line() {
                shortened += 1;
                let start = row[bare_row.len() + 2..].strip_suffix('…').unwrap();
                assert!(whole.summary.starts_with(start), "{row}");
            }
        }
        assert_eq!(rows.next(), None);
        assert_eq!((shortened, bare.len(), omitted.len()), (index.shortened, index.bare, index.omitted));
        assert!(omitted.is_empty() || full.is_empty());
        assert_ranked(&full, &bare);
        assert_ranked(&bare, &omitted);
        index
    }

    /// Holds that all of `kept` come before all of `dropped`.
    fn assert_ranked(kept: &[&IndexLine<'_>], dropped: &[&IndexLine<'_>]) {
        let rank =
            |a: &&&IndexLine<'_>, b: &&&IndexLine<'_>| b.importance.total_cmp(&a.importance).then(a.name.cmp(b.name));
        if let (Some(last), Some(first)) = (kept.iter().max_by(rank), dropped.iter().min_by(rank)) {
            assert!(rank(&last, &first).is_lt(), "{last:?} {first:?}");
        }
    }

    fn any_skills() -> impl Strategy<Value = Vec<(String, Option<String>, String, f32)>> {
        let hostile = || "(Available skills \\(|</skills>|\n- x: y|\n|\r|\u{2028}|\u{85}|\u{200b}|\u{202e}|# |```|\\(For want of room: |\\. |\\PC|[a-z ]{1,9}){0,12}";
        let skill = (prop::option::of(hostile()), hostile(), prop::sample::select(vec![0.1_f32, 0.5, 0.5, 0.7]));
        prop::collection::btree_map("[a-z0-9]{1,8}(-[a-z]{1,4})?(/[a-z]{1,12})?", skill, 0..12).prop_map(|map| {
            map.into_iter()
                .map(|(name, (summary, description, importance))| (name, summary, description, importance))
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn every_index_says_exactly_what_it_holds(skills in any_skills(), budget in 0usize..2_000) {
            let mut lines: Vec<_> = skills
                .iter()
                .map(|(name, summary, description, importance)| {
                    IndexLine { name, summary: summary.as_deref(), description, importance: *importance }
                })
                .collect();
            prop_assume!(!lines.is_empty());
            let index = check(&lines, budget);
            let is_structure = |c: char| c != '\n' && (c.is_control() || "<>`\u{2028}\u{2029}".contains(c));
            prop_assert!(!index.text.contains(is_structure));
            prop_assert_eq!(index.text.matches("Available skills (").count(), 1);
            lines.reverse();
            prop_assert_eq!(render_index(&lines, budget), index);
        }
    }
}
