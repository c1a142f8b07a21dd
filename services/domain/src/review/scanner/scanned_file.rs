//! The file being scanned, digests of its text, and the headings and introductions that apply to a position.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::evidence::EvidenceDigest;
use super::outline::{LineKind, Outline};
use super::windows::WINDOW_STEP;

/// Maximum number of bytes that are read of a heading or introduction.
const GOVERNING: usize = 240;

/// The file being scanned.
pub(super) struct ScannedFile<'a> {
    pub(super) file: &'a str,
    pub(super) raw: &'a str,
    pub(super) outline: &'a Outline,
    /// Cached digests of code blocks, by the number of their first line.
    pub(super) blocks: RefCell<HashMap<usize, EvidenceDigest>>,
}

impl<'a> ScannedFile<'a> {
    /// Widens a byte range to whole characters. The range may split a character or end beyond the file, because a
    /// view's characters may be longer than the file's.
    pub(super) fn whole(&self, range: &Range<usize>) -> Range<usize> {
        self.raw.floor_char_boundary(range.start)..self.raw.ceil_char_boundary(range.end)
    }

    /// Returns the digest of the lines that contain a finding. In code the digest covers the whole block or script,
    /// because the other lines determine the effect of a command.
    pub(super) fn evidence(&self, span: &Range<usize>) -> EvidenceDigest {
        let first = self.outline.line_of(span.start);
        let lines = &self.outline.lines;
        let Some(line) = lines.get(first) else { return EvidenceDigest::of_text(&self.raw[span.clone()]) };
        match line.block.filter(|_| line.kind == LineKind::Code) {
            Some(block) => *self.blocks.borrow_mut().entry(block).or_insert_with(|| self.block_evidence(block)),
            None => {
                let end = lines[self.outline.line_of(span.end.saturating_sub(1)).max(first)].text.end.max(span.end);
                let from = line.text.start.max(span.start.saturating_sub(WINDOW_STEP));
                let to = end.min(span.end + WINDOW_STEP);
                EvidenceDigest::of_text(&self.raw[self.whole(&(from..to))])
            }
        }
    }

    /// Returns the digest of the block that begins at a line.
    fn block_evidence(&self, block: usize) -> EvidenceDigest {
        let lines = self.outline.lines[block..].iter().take_while(|line| line.block == Some(block));
        let end = lines.last().map_or(0, |line| line.text.end);
        EvidenceDigest::of_text(&self.raw[self.outline.lines[block].text.start..end])
    }

    /// Returns the headings above a position, the introduction of its list or block, and a code comment on the line
    /// above.
    pub(super) fn governing_lines(&self, at: usize) -> Vec<&'a str> {
        let lines = &self.outline.lines;
        let number = self.outline.line_of(at);
        let text = |number: usize| {
            let line = lines.get(number).map_or("", |line| &self.raw[line.text.clone()]);
            &line[..line.floor_char_boundary(GOVERNING)]
        };
        let mut governing = Vec::new();
        let mut heading = lines[number].heading;
        while let Some(above) = heading {
            governing.push(text(above));
            heading = lines[above].heading;
        }
        governing.extend(lines[number].intro.map(text));
        if lines[number].kind == LineKind::Code && number > 0 {
            let above = text(number - 1).trim_start();
            governing.extend(["#", "//", "--", "/*"].iter().any(|mark| above.starts_with(mark)).then_some(above));
        }
        governing
    }
}
