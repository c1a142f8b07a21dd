//! Preserves a file's own dashes, quotes and blanks in the parts of a replacement that repeat the searched text.

use std::ops::Range;

use super::Strategy;
use super::fold::Folded;
use super::work::PatchBudget;
use crate::text::diff::{self, DiffStep};

/// Maximum product of token counts for a comparison. Longer replacements are used unchanged.
const WORK: usize = 1_000_000;

/// Returns `new` with some tokens written as in `file`: those that it shares with `old`. `file` is the text that
/// matched `old`.
pub(super) fn merge(old: &str, new: &str, file: &str, work: &PatchBudget) -> String {
    let (before, after) = (split(old), split(new));
    if before.len() * after.len() > WORK {
        return new.to_owned();
    }
    work.spend(old.len() + new.len() + file.len() + before.len() * after.len() / 2);
    let (here, there) = (Folded::new(old, Strategy::Unicode), Folded::new(file, Strategy::Unicode));
    let offset = here.text.len() - here.text.trim_start().len();
    let skipped = there.text.len() - there.text.trim_start().len();
    let old_tokens: Vec<&str> = before.iter().map(|token| &old[token.clone()]).collect();
    let new_tokens: Vec<&str> = after.iter().map(|token| &new[token.clone()]).collect();
    let mut out = String::with_capacity(new.len());
    for DiffStep { change, is_equal } in diff::steps(&old_tokens, &new_tokens) {
        for (step, index) in change.new.enumerate() {
            let own = match is_equal {
                true => {
                    let folded = here.range_of(before[change.old.start + step].clone());
                    let shifted =
                        (folded.start + skipped).checked_sub(offset)..(folded.end + skipped).checked_sub(offset);
                    shifted.start.zip(shifted.end).and_then(|(start, end)| there.original(start..end))
                }
                false => None,
            };
            out.push_str(own.map_or(&new[after[index].clone()], |range| &file[range]));
        }
    }
    out
}

/// Splits a text into words, runs of the same blank, dash or dot, and other single characters.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || !c.is_ascii() && !c.is_whitespace() && is_mark(c);
        let kind = if is_word { 'w' } else { c };
        let runs = is_word || matches!(c, ' ' | '\t' | '-' | '.');
        match tokens.last_mut() {
            Some(token) if runs && last == Some(kind) => token.end = at + c.len_utf8(),
            _ => tokens.push(at..at + c.len_utf8()),
        }
        last = Some(kind);
    }
    tokens
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}
