//! Tolerant search for a text with one line, possibly inside a longer line.

use std::ops::Range;

use super::fold::{Folded, have_same_dashes};
use super::forms::Forms;
use super::indent::{Indents, indent_of};
use super::{MATCHES, Match, Replacement, Strategy, rewrite, tokens, within_budget};
use crate::text::lines;

/// Maximum number of failed candidates. Limits the time on repetitive texts.
const ATTEMPTS: usize = 500;
/// Maximum number of bytes in all failed candidates together.
const ATTEMPT_BYTES: usize = 8 * 1024 * 1024;

/// A text to search for, and its required position in the line.
struct InlinePattern<'a> {
    text: &'a str,
    at_line_start: bool,
    at_line_end: bool,
}

/// Returns all matches for `change.old` that the strategy allows, with their replacements.
pub(super) fn find(forms: &Forms, change: Replacement<'_>, strategy: Strategy) -> Vec<Match> {
    let (text, old) = (forms.text.as_str(), change.old);
    let (start, end) = (old.trim_start_matches([' ', '\t']), old.trim_end_matches([' ', '\t']));
    let bare = |text| InlinePattern { text, at_line_start: false, at_line_end: false };
    let unended = InlinePattern { at_line_end: true, ..bare(end) };
    let unindented = InlinePattern {
        at_line_start: true,
        at_line_end: end.len() < old.len(),
        ..bare(old.trim_matches([' ', '\t']))
    };
    let patterns = match strategy {
        Strategy::TrailingWhitespace if end.len() < old.len() => vec![unended],
        Strategy::Whitespace if end.len() < old.len() => vec![bare(old), unended],
        Strategy::Whitespace => vec![bare(old)],
        Strategy::Indentation if start.len() < old.len() => vec![unindented],
        Strategy::Unicode if start.len() < old.len() => vec![bare(old), unindented],
        Strategy::Unicode => vec![bare(old)],
        _ => return Vec::new(),
    };
    for pattern in patterns {
        let ranges = search(forms, &pattern, change, strategy);
        if !ranges.is_empty() {
            let rewritten = ranges.into_iter().map(|range| rewritten(text, change, range, strategy));
            return within_budget(rewritten, change.work);
        }
    }
    Vec::new()
}

fn search(
    forms: &Forms,
    pattern: &InlinePattern<'_>,
    change: Replacement<'_>,
    strategy: Strategy,
) -> Vec<Range<usize>> {
    let (text, folded) = (forms.text.as_str(), forms.folded(strategy, change.work));
    let Replacement { replace_all: all, work, .. } = change;
    let wanted = Folded::new(pattern.text, strategy).text;
    let Some(step) = wanted.chars().next().map(char::len_utf8) else { return Vec::new() };
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    work.spend(folded.text.len() / 16);
    let most = (ATTEMPT_BYTES / wanted.len()).min(ATTEMPTS);
    let mut places = Vec::new();
    let (mut from, mut attempts) = (0, 0);
    while let Some(at) = folded.text[from..].find(&wanted).map(|at| at + from) {
        let range = folded.original(at..at + wanted.len()).filter(|range| stands_right(text, range, pattern, change));
        work.spend(wanted.len() / 8 + 1);
        from = at + if all && range.is_some() { wanted.len() } else { step };
        match range {
            Some(range) => places.push(range),
            None => attempts += 1,
        }
        if attempts > most || (!all && places.len() == MATCHES) || work.is_spent() {
            break;
        }
    }
    places
}

fn stands_right(text: &str, range: &Range<usize>, pattern: &InlinePattern<'_>, change: Replacement<'_>) -> bool {
    let is_blank = |text: &str| {
        // The check reads the line to its end, so its cost is counted.
        change.work.spend(text.len() / 8);
        text.trim_matches([' ', '\t']).is_empty()
    };
    let starts = !pattern.at_line_start || is_blank(&text[lines::start_of(text, range.start)..range.start]);
    let ends = !pattern.at_line_end || is_blank(&text[lines::line_at(text, range.end).text()]);
    starts && ends && has_whole_words(text, range) && have_same_dashes(pattern.text, &text[range.clone()])
}

/// Checks whether a range neither begins nor ends inside a word. Words in scripts without blanks have no boundaries, so
/// the range may begin or end anywhere in them.
fn has_whole_words(text: &str, range: &Range<usize>) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_alphanumeric() && c < '\u{2e80}');
    let splits = |at: usize| is_word(text[..at].chars().next_back()) && is_word(text[at..].chars().next());
    !splits(range.start) && !splits(range.end)
}

fn rewritten(text: &str, change: Replacement<'_>, range: Range<usize>, strategy: Strategy) -> Match {
    let mut new = change.new.to_owned();
    if strategy >= Strategy::Unicode {
        new = tokens::merge(change.old, &new, &text[range.clone()], change.work);
    }
    let line = lines::start_of(text, range.start);
    let before = &text[line..range.start];
    if before.trim_matches([' ', '\t']).is_empty() {
        let indents = Indents::new([(indent_of(change.old), indent_of(&text[line..range.end]))]);
        new = reindented(&new, &indents);
        // The blanks before the match stay unchanged.
        new = match new.strip_prefix(before) {
            Some(rest) => rest.to_owned(),
            None => new.trim_start_matches([' ', '\t']).to_owned(),
        };
    }
    if change.old.ends_with([' ', '\t']) && !text[range.clone()].ends_with([' ', '\t']) {
        new.truncate(new.trim_end_matches([' ', '\t']).len());
    }
    Match { range, new: rewrite::with_line_ends_of(text, &new).into() }
}

fn reindented(new: &str, indents: &Indents) -> String {
    let all = lines::split(new);
    all.iter().map(|line| indents.apply(&new[line.text()]) + &new[line.end..line.next]).collect()
}
