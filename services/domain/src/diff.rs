//! Unified diffs between two versions of a text.

use std::time::Instant;

use similar::TextDiff;

/// Largest product of line counts that is compared without regard to the time: a few milliseconds.
const SMALL: usize = 250_000;

/// Whether comparing the texts takes little time, however they differ.
pub fn is_small(from: &str, to: &str) -> bool {
    let lines = |text: &str| text.lines().count().max(1);
    lines(from).saturating_mul(lines(to)) <= SMALL
}

/// One of the two texts that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What the diff calls it.
    pub label: &'a str,
    pub text: &'a str,
}

/// The unified diff with 3 lines of context; empty where the texts are equal. Past the deadline that of texts which are not
/// small becomes coarser, never wrong.
pub fn unified(from: Side<'_>, to: Side<'_>, deadline: Instant) -> String {
    if from.text == to.text {
        return String::new();
    }
    let mut settings = TextDiff::configure();
    if !is_small(from.text, to.text) {
        settings.deadline(deadline);
    }
    let diff = settings.diff_lines(from.text, to.text);
    diff.unified_diff().context_radius(3).header(&one_line(from.label), &one_line(to.label)).to_string()
}

/// A label cannot forge a line of the diff.
fn one_line(label: &str) -> String {
    label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
