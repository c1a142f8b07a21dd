//! Cuts a body that is longer than there is room for at a paragraph, and lists what is missing.

use crate::fence::Fence;
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

/// The share of the room that a cut at a paragraph may leave empty. A list without blank lines is one long paragraph, and is cut
/// between its lines instead.
const MOST_EMPTY: usize = 4;

/// Returns the beginning of a body in at most `room` characters. It ends with a paragraph, or with a line where the next paragraph
/// is long, and never within a fenced block: a script that is cut in two could be run. `None` where less than some sentences would
/// be left.
pub fn cut_body(body: &str, room: usize) -> Option<CutBody<'_>> {
    let end = beginning(body, room).len();
    let Cuts { paragraph, line, headings } = Cuts::of(body, end);
    let place = if end - paragraph <= end / MOST_EMPTY { paragraph } else { line };
    let has_enough = body[..place].trim().chars().nth(LEAST_CHARS - 1).is_some();
    if !has_enough {
        return None;
    }
    let is_between = headings.iter().any(|(start, _)| *start == place);
    let within = headings.iter().rposition(|(start, _)| *start < place).filter(|_| !is_between);
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

/// The last places up to a limit at which a body may be cut, and all of its headings with their places.
struct Cuts<'a> {
    /// The end of a paragraph. A heading belongs to the paragraph below it.
    paragraph: usize,
    /// The end of a line.
    line: usize,
    headings: Vec<(usize, &'a str)>,
}

impl<'a> Cuts<'a> {
    fn of(body: &'a str, end: usize) -> Self {
        let mut cuts = Self { paragraph: 0, line: 0, headings: Vec::new() };
        let (mut at, mut fence, mut is_below_heading) = (0, Fence::default(), false);
        for line in body.split_inclusive('\n') {
            let text = line.trim();
            let is_heading = !fence.is_open() && is_heading(line);
            if is_heading {
                cuts.headings.push((at, text.trim_start_matches('#').trim()));
                if at <= end && !is_below_heading {
                    (cuts.paragraph, cuts.line) = (at, at);
                }
            }
            is_below_heading = is_heading || is_below_heading && text.is_empty();
            fence.read(line);
            at += line.len();
            if at <= end && !fence.is_open() && !is_below_heading {
                cuts.line = at;
                cuts.paragraph = if text.is_empty() { at } else { cuts.paragraph };
            }
        }
        // A body that fits ends with a paragraph.
        if at <= end && !fence.is_open() {
            (cuts.paragraph, cuts.line) = (at, at);
        }
        cuts
    }
}

fn is_heading(line: &str) -> bool {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && line[level..].starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests;
