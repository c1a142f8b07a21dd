//! Classifies each line of a file (prose, code, comment) and finds its heading and introduction.

use std::ops::Range;

use crate::text::lines;

/// Maximum heading depth.
const DEEPEST: usize = 6;

/// Type of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Blank,
    Prose,
    /// A list item, table row or quotation: it begins a new paragraph.
    Item,
    Heading,
    /// A line in a fenced block or a script.
    Code,
    /// The first or last line of a fenced block.
    Fence,
    Frontmatter,
}

/// A line of a file. `heading`, `intro` and `block` are line numbers from 0.
#[derive(Debug, Clone)]
pub(super) struct OutlineLine {
    pub(super) text: Range<usize>,
    pub(super) kind: LineKind,
    /// The heading above the line, or the parent heading of a heading; `None` before the first heading.
    pub(super) heading: Option<usize>,
    /// The last line of prose before this list, table or block; `None` if no prose precedes it.
    pub(super) intro: Option<usize>,
    /// The first line of the fenced block or script that contains the line; `None` outside of them.
    pub(super) block: Option<usize>,
}

/// The lines in a file.
pub(super) struct Outline {
    pub(super) lines: Vec<OutlineLine>,
    /// Markup comments including their delimiters, in order.
    comments: Vec<Range<usize>>,
    pub(super) frontmatter: Range<usize>,
}

impl Outline {
    /// Classifies the lines in a text. With `is_code`, all lines are code.
    pub(super) fn of(text: &str, is_code: bool) -> Self {
        let frontmatter = if is_code { 0..0 } else { crate::skills::document::frontmatter_of(text).unwrap_or(0..0) };
        let mut reader = OutlineReader::default();
        let mut lines: Vec<OutlineLine> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let line = lines::line_at(text, at);
            at = line.next;
            let range = line.text();
            let shown = text[range.clone()].trim();
            let kind = if range.start < frontmatter.end {
                LineKind::Frontmatter
            } else if is_code {
                if shown.is_empty() { LineKind::Blank } else { LineKind::Code }
            } else {
                reader.kind_of(shown)
            };
            let number = lines.len();
            let (heading, intro) = reader.governors(kind, number, shown);
            let block = if is_code { Some(0) } else { reader.block_of(kind, number) };
            lines.push(OutlineLine { text: range, kind, heading, intro, block });
        }
        let comments = if is_code { Vec::new() } else { comments(text, &lines) };
        Self { lines, comments, frontmatter }
    }

    /// Returns the number, from 0, of the line that contains a byte.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.text.start <= at).saturating_sub(1)
    }

    /// Returns the line that contains a byte.
    pub(super) fn line(&self, at: usize) -> Option<&OutlineLine> {
        self.lines.get(self.line_of(at))
    }

    /// Checks whether a line and the next one form one sentence or command. `before` is the text up to the end of the
    /// line.
    pub(super) fn joins_next(&self, number: usize, before: &str) -> bool {
        let Some([line, next]) = self.lines.get(number..number + 2) else { return false };
        if self.is_comment(line.text.end.saturating_sub(1)) && self.is_comment(next.text.start) {
            return true;
        }
        match (line.kind, next.kind) {
            (LineKind::Prose | LineKind::Item, LineKind::Prose) => true,
            (LineKind::Code, LineKind::Code) => {
                before.ends_with(['\\', '|', '(', ',', '^', '`'])
                    || before.ends_with("&&")
                    || before.ends_with("KEY-----")
            }
            _ => false,
        }
    }

    /// Splits the text into independent parts, in order. Lines from different parts are never joined.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = (0..self.lines.len()).filter(|number| !self.may_join_next(*number));
        let mut start = 0;
        ends.map(move |number| {
            let end = self.lines.get(number + 1).map_or(usize::MAX, |next| next.text.start);
            std::mem::replace(&mut start, end)..end
        })
    }

    /// Checks whether a line may join the next line. Two lines of code may join, because [`Self::joins_next`] then
    /// depends on the first line's text.
    fn may_join_next(&self, number: usize) -> bool {
        let both_are_code = || matches!(self.lines.get(number..number + 2), Some([line, next]) if (line.kind, next.kind) == (LineKind::Code, LineKind::Code));
        both_are_code() || self.joins_next(number, "")
    }

    /// Checks whether the text has comments.
    pub(super) fn has_comments(&self) -> bool {
        !self.comments.is_empty()
    }

    /// Checks whether a byte is in a comment.
    pub(super) fn is_comment(&self, at: usize) -> bool {
        let before = self.comments.partition_point(|comment| comment.start <= at);
        before > 0 && self.comments[before - 1].contains(&at)
    }
}

/// State of the line classifier.
#[derive(Default)]
struct OutlineReader {
    /// The opening marker of the current block; `None` outside blocks.
    fence: Option<String>,
    /// The line of the opening marker.
    opened: Option<usize>,
    /// Depth and line number of the current heading and its parent headings, outermost first.
    headings: Vec<(usize, usize)>,
    last_prose: Option<usize>,
    table_head: Option<usize>,
    intro: Option<usize>,
    /// Whether the current lines belong to a list, table or block.
    in_list: bool,
}

impl OutlineReader {
    fn kind_of(&mut self, shown: &str) -> LineKind {
        let marks = shown.chars().take_while(|c| *c == '`' || *c == '~').count();
        if let Some(open) = &self.fence {
            if shown.starts_with(open.as_str()) && shown.trim_matches(['`', '~']).is_empty() {
                self.fence = None;
                return LineKind::Fence;
            }
            return if shown.is_empty() { LineKind::Blank } else { LineKind::Code };
        }
        if marks >= 3 {
            self.fence = Some(shown[..marks].to_owned());
            return LineKind::Fence;
        }
        if shown.is_empty() {
            LineKind::Blank
        } else if shown.starts_with('#') {
            LineKind::Heading
        } else if is_item(shown) {
            LineKind::Item
        } else {
            LineKind::Prose
        }
    }

    /// Returns the first line of the block that contains a line. The first line is the opening marker.
    fn block_of(&mut self, kind: LineKind, number: usize) -> Option<usize> {
        let is_marker = kind == LineKind::Fence;
        match &self.fence {
            Some(_) if is_marker => self.opened = Some(number),
            // The closing marker does not belong to the block.
            None => self.opened = None,
            Some(_) => {}
        }
        self.opened
    }

    /// Returns the heading and the introduction that apply to a line.
    fn governors(&mut self, kind: LineKind, number: usize, shown: &str) -> (Option<usize>, Option<usize>) {
        let above = |headings: &[(usize, usize)]| headings.last().map(|(_, line)| *line);
        match kind {
            LineKind::Heading => {
                let depth = shown.chars().take_while(|c| *c == '#').count().min(DEEPEST);
                while self.headings.last().is_some_and(|(open, _)| *open >= depth) {
                    self.headings.pop();
                }
                let heading = above(&self.headings);
                self.headings.push((depth, number));
                (self.intro, self.last_prose, self.in_list) = (None, None, false);
                (heading, None)
            }
            LineKind::Prose => {
                (self.last_prose, self.in_list) = (Some(number), false);
                (above(&self.headings), None)
            }
            LineKind::Item | LineKind::Fence | LineKind::Code => {
                if !self.in_list {
                    (self.intro, self.in_list) = (self.last_prose, true);
                    // The first row of a table names its columns.
                    self.table_head = shown.starts_with('|').then_some(number);
                }
                let intro = if shown.starts_with('|') { self.table_head.filter(|head| *head != number) } else { None };
                if kind == LineKind::Item && !shown.starts_with('|') {
                    self.last_prose = Some(number);
                }
                (above(&self.headings), intro.or(self.intro))
            }
            LineKind::Blank | LineKind::Frontmatter => {
                // The introduction of a block after a list is the list's last item.
                if kind == LineKind::Blank && self.fence.is_none() {
                    self.in_list = false;
                }
                (above(&self.headings), None)
            }
        }
    }
}

fn is_item(shown: &str) -> bool {
    let digits = shown.chars().take_while(char::is_ascii_digit).count();
    let after = &shown[digits..];
    shown.starts_with(['|', '>'])
        || ["- ", "* ", "+ "].iter().any(|mark| shown.starts_with(mark))
        || (digits > 0 && digits < 4 && (after.starts_with(". ") || after.starts_with(") ")))
}

/// Returns the ranges of the markup comments outside of code. An unclosed comment extends to the end of the text.
fn comments(text: &str, lines: &[OutlineLine]) -> Vec<Range<usize>> {
    let mut comments: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("<!--").map(|found| at + found) {
        let line = lines.partition_point(|line| line.text.start <= start).saturating_sub(1);
        if lines.get(line).is_some_and(|line| line.kind == LineKind::Code) {
            at = start + "<!--".len();
            continue;
        }
        let end = text[start..].find("-->").map_or(text.len(), |found| start + found + "-->".len());
        comments.push(start..end);
        at = end;
    }
    comments
}
