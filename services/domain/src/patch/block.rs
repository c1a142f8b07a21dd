//! Tolerant search for several lines, which match whole lines of the file.

use std::collections::HashMap;
use std::ops::Range;

use super::closest::likeness;
use super::fold::line_key;
use super::forms::{Forms, Keyed};
use super::rewrite::{Block, texts};
use super::work::Work;
use super::{MATCHES, Match, Replacement, Strategy, within_budget};
use crate::lines::{self, Line};

/// Fewest lines that may match by similarity.
const SIMILAR_LINES: usize = 3;
/// How alike the lines between the first and the last must be, 0 to 1.
const SIMILAR_ENOUGH: f64 = 0.65;
/// Most blocks whose middles are compared, and most lines compared in all.
const CANDIDATES: usize = 200;
const CANDIDATE_LINES: usize = 20_000;

/// All places where the strategy finds `change.old`, with what takes their place.
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
    let starts = starts.into_iter().filter(|&start| {
        let is_free = !change.replace_all || start >= free;
        free = if is_free { start + old.len() } else { free };
        is_free
    });
    let block = |start: usize| Block {
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

/// First lines of all blocks that the strategy takes for `old`'s lines. Lines that are equal to it have the same key in the
/// loosest form, so only such places are looked at.
fn equal_places(text: &str, keyed: &Keyed, change: Replacement<'_>, strategy: Strategy) -> Vec<usize> {
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

/// The lines of blocks of one height, those that overlap together.
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

/// First lines of all blocks whose lines have the keys of `old`'s lines.
fn equal_within(text: &str, all: &[Line], change: Replacement<'_>, strategy: Strategy) -> Vec<usize> {
    let old = lines::split(change.old);
    let last = old.len() - 1;
    let mut ids = HashMap::new();
    let mut wanted = Vec::with_capacity(old.len());
    for (index, line) in old.iter().enumerate() {
        // What ends the last line is not searched for.
        let ending = if index == last { "" } else { &change.old[line.end..line.next] };
        let next = ids.len();
        wanted.push(*ids.entry(key(&change.old[line.text()], ending, strategy)).or_insert(next));
    }
    let id = |ending: &str, line: &Line| ids.get(&key(&text[line.text()], ending, strategy)).copied();
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

/// Where `wanted` occurs in `all`, overlaps included, in linear time (Knuth, Morris, Pratt).
pub(super) fn occurrences(all: &[usize], wanted: &[usize]) -> Vec<usize> {
    if wanted.is_empty() {
        return (0..all.len()).collect();
    }
    let mut fallback = vec![0; wanted.len()];
    let mut matched = 0;
    for at in 1..wanted.len() {
        while matched > 0 && wanted[at] != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(wanted[at] == wanted[matched]);
        fallback[at] = matched;
    }
    let mut places = Vec::new();
    matched = 0;
    for (at, id) in all.iter().enumerate() {
        while matched > 0 && *id != wanted[matched] {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*id == wanted[matched]);
        if matched == wanted.len() {
            places.push(at + 1 - matched);
            matched = fallback[matched - 1];
        }
    }
    places
}

/// First lines of all blocks of `old`'s height whose first and last line match and whose middle is alike.
fn similar_places(keyed: &Keyed, old: &[&str], work: &Work) -> Vec<usize> {
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
    let old: Vec<String> = old[1..height - 1].iter().map(|line| key(line)).collect();
    let most = CANDIDATES.min(CANDIDATE_LINES / height + 1);
    (0..=keyed.numbers.len() - height)
        .filter(|&start| keyed.numbers[start] == first && keyed.numbers[start + height - 1] == last)
        .take(most)
        .take_while(|_| !work.is_spent())
        .filter(|&start| alike(&old, keyed, start + 1, work))
        .collect()
}

/// Whether the lines from `start` on are alike one by one, long ones counting for more.
fn alike(old: &[String], keyed: &Keyed, start: usize, work: &Work) -> bool {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (old, number) in old.iter().zip(&keyed.numbers[start..]) {
        let line: &str = &keyed.keys[*number];
        let weight = old.len().max(line.len()) as f64;
        sum += weight * if old == line { 1.0 } else { compared(old, line, work) };
        weights += weight;
    }
    weights == 0.0 || sum / weights >= SIMILAR_ENOUGH
}

fn compared(old: &str, line: &str, work: &Work) -> f64 {
    work.spend(4 * (old.len() + line.len()));
    if work.is_spent() { 0.0 } else { likeness(old, line) }
}
