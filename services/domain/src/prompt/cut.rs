//! A body that is longer than there is room for: cut where a section ends, with what is missing told.

use crate::sentence::{beginning, cut};

/// A body as far as it fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutBody<'a> {
    pub kept: &'a str,
    /// The headings of the sections that are missing, the one that is cut in two first; of many the first 32, each in at
    /// most 80 characters.
    pub sections: Vec<String>,
    /// Characters that are missing.
    pub missing: usize,
}

/// Less of a body is worth nothing.
const LEAST_CHARS: usize = 200;
/// Headings are shown besides the room, so they are bounded: a body may be nothing but headings.
const MOST_SECTIONS: usize = 32;
const SECTION_CHARS: usize = 80;

/// The beginning of a body in at most `room` characters: up to a heading, or where the first section alone is longer, to
/// the end of a paragraph, then of a line; never within a fenced block. `None` where less than some sentences would be left.
pub fn cut_body(body: &str, room: usize) -> Option<CutBody<'_>> {
    let end = beginning(body, room).len();
    let (mut heading, mut paragraph, mut line_end) = (0, 0, 0);
    let mut fenced = false;
    let mut headings = Vec::new();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let text = line.trim();
        let fits = at <= end;
        if !fenced && is_heading(line) {
            headings.push((at, text.trim_start_matches('#').trim()));
            heading = if fits { at } else { heading };
        }
        if is_fence(text) {
            fenced = !fenced;
        }
        at += line.len();
        if !fenced && at <= end {
            line_end = at;
            paragraph = if text.is_empty() { at } else { paragraph };
        }
    }
    let least = |cut: &usize| body[..*cut].trim().chars().nth(LEAST_CHARS - 1).is_some();
    let place = [heading, paragraph, line_end].into_iter().find(least)?;
    let within = headings.iter().rposition(|(start, _)| *start < place).filter(|_| place != heading);
    let after = headings.iter().position(|(start, _)| *start >= place).unwrap_or(headings.len());
    let missing_from = within.unwrap_or(after);
    Some(CutBody {
        kept: body[..place].trim_end(),
        sections: headings[missing_from..]
            .iter()
            .take(MOST_SECTIONS)
            .map(|(_, text)| cut(text, SECTION_CHARS))
            .collect(),
        missing: body[place..].chars().count(),
    })
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line[level..].starts_with([' ', '\t'])
}

fn is_fence(text: &str) -> bool {
    text.starts_with("```") || text.starts_with("~~~")
}

#[cfg(test)]
mod tests;
