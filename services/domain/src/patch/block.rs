//! Tolerant search for several lines, which match whole lines of the file.

use std::collections::HashMap;

use super::closest::likeness;
use super::fold::line_key;
use super::rewrite::{Block, texts};
use super::{Change, Found, MATCHES, Strategy, within_budget};
use crate::lines::{self, Line};

/// Fewest lines that may match by similarity.
const SIMILAR_LINES: usize = 3;
/// How alike the lines between the first and the last must be, 0 to 1.
const SIMILAR_ENOUGH: f64 = 0.65;
/// Most blocks whose middles are compared, and most lines compared in all.
const CANDIDATES: usize = 200;
const CANDIDATE_LINES: usize = 20_000;

/// All places where the strategy finds `change.old`, with what takes their place.
pub(super) fn find(text: &str, change: Change<'_>, strategy: Strategy) -> Vec<Found> {
    let all = lines::split(text);
    let old = texts(change.old);
    if old.len() > all.len() {
        return Vec::new();
    }
    let starts = if strategy == Strategy::Similarity {
        similar_places(text, &all, &old)
    } else {
        equal_places(text, &all, change, strategy)
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
    };
    let most = if change.replace_all { usize::MAX } else { MATCHES };
    within_budget(starts.take(most).map(|start| block(start).rewritten()))
}

/// First lines of all blocks whose lines have the keys of `old`'s lines.
fn equal_places(text: &str, all: &[Line], change: Change<'_>, strategy: Strategy) -> Vec<usize> {
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
    let full: Vec<Option<usize>> = all.iter().map(|line| id(&text[line.end..line.next], line)).collect();
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
fn occurrences(all: &[Option<usize>], wanted: &[usize]) -> Vec<usize> {
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
        while matched > 0 && *id != Some(wanted[matched]) {
            matched = fallback[matched - 1];
        }
        matched += usize::from(*id == Some(wanted[matched]));
        if matched == wanted.len() {
            places.push(at + 1 - matched);
            matched = fallback[matched - 1];
        }
    }
    places
}

/// First lines of all blocks of `old`'s height whose first and last line match and whose middle is alike.
fn similar_places(text: &str, all: &[Line], old: &[&str]) -> Vec<usize> {
    let height = old.len();
    if height < SIMILAR_LINES {
        return Vec::new();
    }
    let keys: Vec<String> = all.iter().map(|line| line_key(&text[line.text()], Strategy::Unicode)).collect();
    let old: Vec<String> = old.iter().map(|line| line_key(line, Strategy::Unicode)).collect();
    if old[0].is_empty() || old[height - 1].is_empty() {
        return Vec::new();
    }
    let most = CANDIDATES.min(CANDIDATE_LINES / height + 1);
    (0..=keys.len() - height)
        .filter(|&start| keys[start] == old[0] && keys[start + height - 1] == old[height - 1])
        .take(most)
        .filter(|&start| alike(&old[1..height - 1], &keys[start + 1..start + height - 1]))
        .collect()
}

/// Whether lines are alike one by one, long ones counting for more.
fn alike(old: &[String], lines: &[String]) -> bool {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (old, line) in old.iter().zip(lines) {
        let weight = old.len().max(line.len()) as f64;
        sum += weight * if old == line { 1.0 } else { likeness(old, line) };
        weights += weight;
    }
    weights == 0.0 || sum / weights >= SIMILAR_ENOUGH
}
