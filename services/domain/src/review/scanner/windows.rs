//! Splits texts into the parts that patterns are tried on.

use std::ops::Range;

use memchr::memchr;

/// Distance between the starts of two windows of a long line, in bytes.
pub(super) const WINDOW_STEP: usize = 4096;
/// Size of a window in bytes; longer lines are split. Searching a long line takes at most twice the work of short
/// lines. A match of at most [`WINDOW_STEP`] bytes is complete in at least one window.
pub(super) const WINDOW_BYTES: usize = 2 * WINDOW_STEP;

/// Splits a text into windows that begin [`WINDOW_STEP`] bytes apart.
pub(super) fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let last = text.len().saturating_sub(WINDOW_BYTES).div_ceil(WINDOW_STEP);
    let cut = |at: usize| text.floor_char_boundary(at.min(text.len()));
    (0..=last).map(move |number| cut(number * WINDOW_STEP)..cut(number * WINDOW_STEP + WINDOW_BYTES))
}

/// Splits a text into lines without their line ends, and long lines into windows.
pub(super) fn segments(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= text.len() {
            return None;
        }
        let to = text.ceil_char_boundary(start + WINDOW_BYTES);
        let (end, next) = match memchr(b'\n', &text.as_bytes()[start..to]) {
            Some(gap) => (start + gap, start + gap + 1),
            None if to == text.len() => (to, to),
            None => (to, text.floor_char_boundary(start + WINDOW_STEP)),
        };
        Some(std::mem::replace(&mut start, next)..end)
    })
}
