//! Keeps a file's own dashes, quotes and blanks in the parts of a replacement that repeat the searched text.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Strategy;
use super::fold::Folded;
use super::work::Work;

/// Largest product of token counts that is compared; beyond it the replacement is taken as it is.
const WORK: usize = 1_000_000;

/// `new` with every token that it shares with `old` as it is written in `file`, which matched `old`.
pub(super) fn merge(old: &str, new: &str, file: &str, work: &Work) -> String {
    let (before, after) = (split(old), split(new));
    if before.len() * after.len() > WORK {
        return new.to_owned();
    }
    work.spend(old.len() + new.len() + file.len() + before.len() * after.len() / 2);
    let (here, there) = (Folded::new(old, Strategy::Unicode), Folded::new(file, Strategy::Unicode));
    let offset = here.text.len() - here.text.trim_start().len();
    let skipped = there.text.len() - there.text.trim_start().len();
    let texts = |text: &str, tokens: &[Range<usize>]| -> Vec<String> {
        tokens.iter().map(|t| text[t.clone()].to_owned()).collect()
    };
    let mut out = String::with_capacity(new.len());
    for op in capture_diff_slices(Algorithm::Myers, &texts(old, &before), &texts(new, &after)) {
        for (step, index) in op.new_range().enumerate() {
            let own = match op {
                DiffOp::Equal { old_index, .. } => {
                    let folded = here.range_of(before[old_index + step].clone());
                    let shifted =
                        (folded.start + skipped).checked_sub(offset)..(folded.end + skipped).checked_sub(offset);
                    shifted.start.zip(shifted.end).and_then(|(start, end)| there.original(start..end))
                }
                _ => None,
            };
            out.push_str(own.map_or(&new[after[index].clone()], |range| &file[range]));
        }
    }
    out
}

/// Words, runs of one and the same blank, dash or dot, and single other characters.
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
