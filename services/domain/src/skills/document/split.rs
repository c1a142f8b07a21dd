//! Splits a SKILL.md into frontmatter and content.

use std::ops::Range;

use crate::kernel::error::{Error, Result};
use crate::text::lines::{self, TextLine};

/// Byte positions in the raw text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// The YAML between the fences, with its last line end.
    pub(super) frontmatter: Range<usize>,
    /// End of the closing `---`, before blanks and line end.
    pub(super) fence_end: usize,
    /// Start of the line after the closing fence.
    pub(super) after_fence: usize,
    /// Start of the content, after one blank separator line if there is one.
    pub(super) content: usize,
}

/// Finds the fences. The error names the missing fence.
pub(super) fn split(raw: &str) -> Result<Parts> {
    let start = if raw.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let opening = lines::line_at(raw, start);
    if !is_fence(raw, &opening) {
        let detail = "no frontmatter: the first line must be '---', followed by YAML with name and description";
        return Err(Error::invalid("/skill_md", detail));
    }
    let mut at = opening.next;
    while at < raw.len() {
        let line = lines::line_at(raw, at);
        if is_fence(raw, &line) {
            return Ok(parts(raw, opening.next, line));
        }
        at = line.next;
    }
    let detail = "the frontmatter is not closed: a line '---' must follow its YAML";
    Err(Error::invalid("/skill_md", detail))
}

fn is_fence(raw: &str, line: &TextLine) -> bool {
    raw[line.text()].trim_end_matches([' ', '\t']) == "---"
}

fn parts(raw: &str, start: usize, closing: TextLine) -> Parts {
    let separator = lines::line_at(raw, closing.next);
    let content = if separator.text().is_empty() { separator.next } else { closing.next };
    Parts {
        frontmatter: start..closing.start,
        fence_end: closing.start + "---".len(),
        after_fence: closing.next,
        content,
    }
}
