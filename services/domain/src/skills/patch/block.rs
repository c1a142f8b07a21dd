//! Tolerant search for a text with several lines. Matches are whole lines in the file.

use std::collections::HashMap;
use std::ops::Range;

use super::fold::{have_same_dashes, line_key, word_key};
use super::forms::{Forms, KeyedLines};
use super::occurrences::occurrences;
use super::rewrite::{MatchedBlock, texts};
use super::work::PatchBudget;
use super::{MATCHES, Match, Replacement, Strategy, within_budget};
use crate::text::lines::{self, TextLine};

/// Minimum number of lines in a match by similarity.
const SIMILAR_LINES: usize = 3;
/// Maximum number of blocks compared.
const CANDIDATES: usize = 200;
/// Maximum number of lines in all compared blocks together.
const CANDIDATE_LINES: usize = 20_000;

/// Returns all matches for `change.old` that the strategy allows, with their replacements.
pub(super) fn find(forms: &Forms, change: Replacement<'_>, strategy: Strategy) -> Vec<Match> {
    let (text, keyed) = (forms.text.as_str(), forms.keyed(change.work));
    let (all, old) = (keyed.lines.as_slice(), texts(change.old));
    if old.len() > all.len() {
        return Vec::new();
    }
    let starts = if strategy == Strategy::Similarity {
        similar_places(keyed, &old, change.work)
    } else {
        equal_places(text, keyed, change, strategy)
    };
    let mut free = 0;
    let agrees = |start: &usize| {
        let block = &text[all[*start].start..all[start + old.len() - 1].end];
        strategy < Strategy::Unicode || have_same_dashes(change.old, block)
    };
    let starts = starts.into_iter().filter(agrees).filter(|&start| {
        let is_free = !change.replace_all || start >= free;
        free = if is_free { start + old.len() } else { free };
        is_free
    });
    let block = |start: usize| MatchedBlock {
        text,
        lines: &all[start..start + old.len()],
        old: change.old,
        new: change.new,
        strategy,
        work: change.work,
    };
    let most = if change.replace_all { usize::MAX } else { MATCHES };
    within_budget(starts.take(most).map(|start| block(start).rewritten()), change.work)
}

/// Returns the first line of each matching block. Equal lines have the same key in the loosest form, so only blocks
/// with equal keys are checked.
fn equal_places(text: &str, keyed: &KeyedLines, change: Replacement<'_>, strategy: Strategy) -> Vec<usize> {
    let old = texts(change.old);
    let places = keyed.places(&old, change.work);
    if strategy == Strategy::Unicode {
        return places;
    }
    let mut found = Vec::new();
    for covered in covered(&places, old.len()) {
        let lines = &keyed.lines[covered.clone()];
        change.work.spend(lines.last().map_or(0, |last| last.next - lines[0].start));
        found.extend(equal_within(text, lines, change, strategy).into_iter().map(|start| covered.start + start));
    }
    found
}

/// Merges overlapping blocks of `height` lines into line ranges.
fn covered(places: &[usize], height: usize) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for &start in places {
        match all.last_mut() {
            Some(last) if start < last.end => last.end = start + height,
            _ => all.push(start..start + height),
        }
    }
    all
}

/// Returns the first line of each block with the same line keys as `old`.
fn equal_within(text: &str, all: &[TextLine], change: Replacement<'_>, strategy: Strategy) -> Vec<usize> {
    let old = lines::split(change.old);
    let last = old.len() - 1;
    let mut ids = HashMap::new();
    let mut wanted = Vec::with_capacity(old.len());
    for (index, line) in old.iter().enumerate() {
        // The line end of the last line is not part of the search.
        let ending = if index == last { "" } else { &change.old[line.end..line.next] };
        let next = ids.len();
        wanted.push(*ids.entry(key(&change.old[line.text()], ending, strategy)).or_insert(next));
    }
    let id = |ending: &str, line: &TextLine| ids.get(&key(&text[line.text()], ending, strategy)).copied();
    let full: Vec<usize> = all.iter().map(|line| id(&text[line.end..line.next], line).unwrap_or(usize::MAX)).collect();
    let (Some(&closing), head) = (wanted.last(), &wanted[..last]) else { return Vec::new() };
    let ends_block = |at: usize| all.get(at).is_some_and(|line| id("", line) == Some(closing));
    occurrences(&full, head).into_iter().filter(|start| ends_block(start + last)).collect()
}

fn key(line: &str, ending: &str, strategy: Strategy) -> String {
    let mut key = line_key(line, strategy);
    if strategy == Strategy::TrailingWhitespace {
        key.push_str(ending);
    }
    key
}

/// Returns the first line of each block that is similar to `old`: equal height, equal first and last line, and the
/// same words in the lines between.
fn similar_places(keyed: &KeyedLines, old: &[&str], work: &PatchBudget) -> Vec<usize> {
    let height = old.len();
    if height < SIMILAR_LINES {
        return Vec::new();
    }
    let key = |line: &str| line_key(line, Strategy::Unicode);
    let (first, last) = (key(old[0]), key(old[height - 1]));
    if first.is_empty() || last.is_empty() {
        return Vec::new();
    }
    let (Some(first), Some(last)) = (keyed.number_of(&first), keyed.number_of(&last)) else { return Vec::new() };
    work.spend(keyed.numbers.len() / 4);
    let old: Vec<String> = old[1..height - 1].iter().map(|line| word_key(&key(line))).collect();
    let most = CANDIDATES.min(CANDIDATE_LINES / height + 1);
    (0..=keyed.numbers.len() - height)
        .filter(|&start| keyed.numbers[start] == first && keyed.numbers[start + height - 1] == last)
        .take(most)
        .take_while(|_| !work.is_spent())
        .filter(|&start| has_same_words(&old, keyed, start + 1, work))
        .collect()
}

/// Checks line by line whether the lines from `start` on have the same words as `old`.
fn has_same_words(old: &[String], keyed: &KeyedLines, start: usize, work: &PatchBudget) -> bool {
    old.iter().zip(&keyed.numbers[start..]).all(|(old, number)| {
        let line: &str = &keyed.keys[*number];
        work.spend(4 * (old.len() + line.len()));
        old == line || *old == word_key(line)
    })
}
