//! Finds the passages that are most similar to a text that was not found.

use std::collections::HashMap;

use super::fold::line_key;
use super::rewrite::texts;
use super::{Miss, Strategy, shown};
use crate::kernel::error::{LineDifference, Passage};

const PASSAGES: usize = 3;
/// Maximum number of lines that are shown of one passage.
const SHOWN_LINES: usize = 12;
/// Minimum similarity of the second and third passage.
const WORTHWHILE: f64 = 0.3;

/// Number of characters shown before a difference in a long line.
const LEAD: usize = 60;

/// Returns the miss for a text that was not found, with the passages that are most similar to it.
pub(super) fn miss(text: &str, old: &str) -> Miss {
    let closest = passages(text, old);
    let difference = closest.first().and_then(|best| difference(text, old, best.line));
    Miss::NotFound { closest, difference }
}

/// Returns the first line of `old` that differs from the passage at `line`. A line that differs in its words is
/// preferred to a line that differs only in other characters.
fn difference(text: &str, old: &str, line: usize) -> Option<LineDifference> {
    let (old, file) = (texts(old), texts(text));
    let file = file.get(line - 1..)?;
    let key = |line: &str| line_key(line, Strategy::Unicode);
    let last = old.len().checked_sub(1)?;
    let is_other = |at: &usize| {
        let (old, file) = (key(old[*at]), key(file[*at]));
        match *at {
            0 if last == 0 => !file.contains(&old),
            0 => !file.ends_with(&old),
            at if at == last => !file.starts_with(&old),
            _ => file != old,
        }
    };
    let all = || 0..old.len().min(file.len());
    let at = all().find(is_other).or_else(|| all().find(|&at| old[at] != file[at]))?;
    let alike = old[at].trim().chars().zip(file[at].trim().chars()).take_while(|(a, b)| a == b).count();
    let excerpt = |line: &str| shown(&line.trim().chars().skip(alike.saturating_sub(LEAD)).collect::<String>());
    Some(LineDifference { line: line + at, text: excerpt(file[at]), old_string: excerpt(old[at]) })
}

/// Returns at most 3 passages with as many lines as `old`. Passages that have the most letter pairs in common with it
/// come first.
pub(super) fn passages(text: &str, old: &str) -> Vec<Passage> {
    let all = texts(text);
    let height = texts(old).len().clamp(1, all.len().max(1));
    let scores = window_scores(&all, old, height);
    let mut order: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] > 0.0).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut chosen: Vec<usize> = Vec::new();
    for at in order {
        let apart = chosen.iter().all(|other| at.abs_diff(*other) >= height.div_ceil(2));
        if apart && (chosen.is_empty() || scores[at] >= WORTHWHILE) {
            chosen.push(at);
        }
        if chosen.len() == PASSAGES {
            break;
        }
    }
    if chosen.is_empty() {
        chosen.extend(all.iter().position(|line| !line.trim().is_empty()));
    }
    chosen.into_iter().map(|at| passage(&all[at..(at + height).min(all.len())], at + 1)).collect()
}

fn passage(window: &[&str], line: usize) -> Passage {
    let text: Vec<String> = window.iter().take(SHOWN_LINES).map(|line| shown(line)).collect();
    Passage { line, text: text.join("\n") }
}

fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    let letters = || text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase());
    letters().zip(letters().skip(1))
}

/// Scores every window of lines. Counts are updated as the window moves down, so the time is linear in the length of
/// the text.
fn window_scores(all: &[&str], old: &str, height: usize) -> Vec<f64> {
    let mut wanted: HashMap<(char, char), i64> = HashMap::new();
    pairs(old).for_each(|pair| *wanted.entry(pair).or_insert(0) += 1);
    let needed: i64 = wanted.values().sum();
    let lines: Vec<Vec<(char, char)>> = all.iter().map(|line| pairs(line).collect()).collect();
    let mut common = 0_i64;
    let mut size = 0_i64;
    let mut scores = Vec::with_capacity(all.len());
    for (at, line) in lines.iter().enumerate() {
        for pair in line {
            if let Some(left) = wanted.get_mut(pair) {
                common += i64::from(*left > 0);
                *left -= 1;
            }
        }
        size += line.len() as i64;
        if at + 1 < height {
            continue;
        }
        let even = 2.0 * common as f64 / (needed + size).max(1) as f64;
        // A short text may be part of a long line.
        let inside = 0.75 * common as f64 / needed.max(1) as f64;
        scores.push(even.max(if height == 1 { inside } else { 0.0 }));
        let leaving = &lines[at + 1 - height];
        for pair in leaving {
            if let Some(left) = wanted.get_mut(pair) {
                *left += 1;
                common -= i64::from(*left > 0);
            }
        }
        size -= leaving.len() as i64;
    }
    scores
}
