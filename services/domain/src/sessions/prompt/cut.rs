//! Cuts a skill body that exceeds its limit at the end of a paragraph, and lists the missing sections.

use crate::text::fence::Fence;
use crate::text::sentence::{beginning, cut};

/// The beginning of a cut body, and a description of the missing part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutBody<'a> {
    pub beginning: &'a str,
    /// Headings of the missing sections, including a section that is cut in two. There are at most 32 headings of at
    /// most 80 characters.
    pub sections: Vec<String>,
    /// Number of characters in the missing part.
    pub missing: usize,
}

/// Minimum number of characters in a cut body; a shorter body is useless.
const LEAST_CHARS: usize = 200;
/// Maximum number of headings. They are limited because they do not count against `room`, and a body may consist of
/// headings only.
const MOST_SECTIONS: usize = 32;
/// Maximum number of characters in a heading.
const SECTION_CHARS: usize = 80;

/// Divisor of `room`. A cut at a paragraph may leave at most a quarter of `room` unused; otherwise the cut is at a
/// line. For example, a list without blank lines is one long paragraph.
const MOST_EMPTY: usize = 4;

/// Returns the beginning of a body in at most `room` characters. Returns `None` if fewer than 200 characters would be
/// left.
///
/// The cut is at the end of a paragraph. If that leaves too much of `room` unused or too little text, the cut is at the
/// end of a line. The cut is never within a fenced block, because a script that is cut in two could be run.
pub fn cut_body(body: &str, room: usize) -> Option<CutBody<'_>> {
    let end = beginning(body, room).len();
    let CutPlaces { paragraph, line, headings } = CutPlaces::of(body, end);
    let has_enough = |place: &usize| body[..*place].trim().chars().nth(LEAST_CHARS - 1).is_some();
    let is_near = |place: &usize| end - place <= end / MOST_EMPTY;
    let place = Some(paragraph).filter(is_near).filter(has_enough).or(Some(line).filter(has_enough))?;
    let is_between = headings.iter().any(|(start, _)| *start == place);
    let within = headings.iter().rposition(|(start, _)| *start < place).filter(|_| !is_between);
    let after = headings.iter().position(|(start, _)| *start >= place).unwrap_or(headings.len());
    let missing_from = within.unwrap_or(after);
    Some(CutBody {
        beginning: body[..place].trim_end(),
        sections: headings[missing_from..]
            .iter()
            .take(MOST_SECTIONS)
            .map(|(_, text)| cut(text, SECTION_CHARS))
            .collect(),
        missing: body[place..].chars().count(),
    })
}

/// The last positions, up to a limit, at which a body may be cut. Also all of its headings with their positions.
struct CutPlaces<'a> {
    /// The end of a paragraph. A heading belongs to the paragraph below it.
    paragraph: usize,
    /// The end of a line.
    line: usize,
    headings: Vec<(usize, &'a str)>,
}

impl<'a> CutPlaces<'a> {
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
        // If the whole body fits, its end is also the end of a paragraph.
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
