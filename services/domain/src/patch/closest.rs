//! The passages of a text that come closest to one that was not found.

use std::collections::HashMap;

use super::rewrite::texts;
use super::shown;
use crate::error::Passage;

const PASSAGES: usize = 3;
/// Lines of one passage that are shown.
const SHOWN_LINES: usize = 12;
/// Below this likeness a second or third passage is noise.
const WORTHWHILE: f64 = 0.3;

/// Up to 3 windows of `old`'s height that share the most pairs of letters with it, best first.
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

/// How alike two lines are, 0 to 1: the Sorensen-Dice coefficient of their pairs of letters.
pub(super) fn likeness(a: &str, b: &str) -> f64 {
    let (mut counts, total) = (HashMap::new(), pairs(a).count() + pairs(b).count());
    if total == 0 {
        return f64::from(a == b);
    }
    pairs(a).for_each(|pair| *counts.entry(pair).or_insert(0_usize) += 1);
    let common = pairs(b).filter(|pair| counts.get_mut(pair).is_some_and(take)).count();
    2.0 * common as f64 / total as f64
}

fn take(left: &mut usize) -> bool {
    let any = *left > 0;
    *left = left.saturating_sub(1);
    any
}

fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    let letters = || text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase());
    letters().zip(letters().skip(1))
}

/// The likeness of every window of lines, kept up to date as the window moves down: linear in the text.
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
        // A short text may stand in a long line.
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
