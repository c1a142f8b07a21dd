//! What each line of a file is: prose, code, a comment; and which heading and introduction it stands under.

use std::ops::Range;

use crate::lines;

/// Headings have no more levels than this.
const DEEPEST: usize = 6;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    Prose,
    /// A list item, table row or quotation: it begins a paragraph of its own.
    Item,
    Heading,
    /// In a fenced block or a script.
    Code,
    /// The marks around a fenced block.
    Fence,
    Frontmatter,
}

/// A line and what governs it, by the numbers of other lines.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: Range<usize>,
    pub(super) kind: Kind,
    /// The heading above, whose own heading is its `heading`.
    pub(super) heading: Option<usize>,
    /// The last line of prose before this list, table or block.
    pub(super) intro: Option<usize>,
}

/// The lines of a file.
pub(super) struct Outline {
    pub(super) lines: Vec<Line>,
    /// Comments of the markup, with their marks, in order.
    comments: Vec<Range<usize>>,
    pub(super) frontmatter: Range<usize>,
}

impl Outline {
    /// Reads the lines of a text; all of a script is code.
    pub(super) fn of(text: &str, is_code: bool) -> Self {
        let frontmatter = if is_code { 0..0 } else { crate::document::frontmatter_of(text).unwrap_or(0..0) };
        let mut reader = Reader::default();
        let mut lines: Vec<Line> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let line = lines::line_at(text, at);
            at = line.next;
            let range = line.text();
            let shown = text[range.clone()].trim();
            let kind = if range.start < frontmatter.end {
                Kind::Frontmatter
            } else if is_code {
                if shown.is_empty() { Kind::Blank } else { Kind::Code }
            } else {
                reader.kind_of(shown)
            };
            let number = lines.len();
            let (heading, intro) = reader.governors(kind, number, shown);
            lines.push(Line { text: range, kind, heading, intro });
        }
        let comments = if is_code { Vec::new() } else { comments(text, &lines) };
        Self { lines, comments, frontmatter }
    }

    /// The number of the line that a byte is on, from 0.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|line| line.text.start <= at).saturating_sub(1)
    }

    /// The line that a byte is on.
    pub(super) fn line(&self, at: usize) -> Option<&Line> {
        self.lines.get(self.line_of(at))
    }

    /// Whether a line and the next one say one thing; `before` is the text up to the end of the line.
    pub(super) fn joins_next(&self, number: usize, before: &str) -> bool {
        let Some([line, next]) = self.lines.get(number..number + 2) else { return false };
        if self.is_comment(line.text.end.saturating_sub(1)) && self.is_comment(next.text.start) {
            return true;
        }
        match (line.kind, next.kind) {
            (Kind::Prose | Kind::Item, Kind::Prose) => true,
            (Kind::Code, Kind::Code) => {
                before.ends_with(['\\', '|', '(', ',', '^', '`'])
                    || before.ends_with("&&")
                    || before.ends_with("KEY-----")
            }
            _ => false,
        }
    }

    /// Parts of the text that are read by themselves, in order: lines that never say one thing with those beside them, or all
    /// that may do so.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = (0..self.lines.len()).filter(|number| !self.may_join_next(*number));
        let mut start = 0;
        ends.map(move |number| {
            let end = self.lines.get(number + 1).map_or(usize::MAX, |next| next.text.start);
            std::mem::replace(&mut start, end)..end
        })
    }

    /// Whether there is a text in which [`Self::joins_next`] holds.
    fn may_join_next(&self, number: usize) -> bool {
        let both_are_code = || matches!(self.lines.get(number..number + 2), Some([line, next]) if (line.kind, next.kind) == (Kind::Code, Kind::Code));
        both_are_code() || self.joins_next(number, "")
    }

    /// Whether the text has comments.
    pub(super) fn has_comments(&self) -> bool {
        !self.comments.is_empty()
    }

    /// Whether a byte is in a comment.
    pub(super) fn is_comment(&self, at: usize) -> bool {
        let before = self.comments.partition_point(|comment| comment.start <= at);
        before > 0 && self.comments[before - 1].contains(&at)
    }
}

/// Where the reading of lines is.
#[derive(Default)]
struct Reader {
    /// The marks that the open block began with.
    fence: Option<String>,
    /// The headings that are open: their depth and line.
    headings: Vec<(usize, usize)>,
    last_prose: Option<usize>,
    table_head: Option<usize>,
    intro: Option<usize>,
    /// How many lines in a row were neither prose nor blank.
    in_list: bool,
}

impl Reader {
    fn kind_of(&mut self, shown: &str) -> Kind {
        let marks = shown.chars().take_while(|c| *c == '`' || *c == '~').count();
        if let Some(open) = &self.fence {
            if shown.starts_with(open.as_str()) && shown.trim_matches(['`', '~']).is_empty() {
                self.fence = None;
                return Kind::Fence;
            }
            return if shown.is_empty() { Kind::Blank } else { Kind::Code };
        }
        if marks >= 3 {
            self.fence = Some(shown[..marks].to_owned());
            return Kind::Fence;
        }
        if shown.is_empty() {
            Kind::Blank
        } else if shown.starts_with('#') {
            Kind::Heading
        } else if is_item(shown) {
            Kind::Item
        } else {
            Kind::Prose
        }
    }

    /// The heading and the introduction of a line.
    fn governors(&mut self, kind: Kind, number: usize, shown: &str) -> (Option<usize>, Option<usize>) {
        let above = |headings: &[(usize, usize)]| headings.last().map(|(_, line)| *line);
        match kind {
            Kind::Heading => {
                let depth = shown.chars().take_while(|c| *c == '#').count().min(DEEPEST);
                while self.headings.last().is_some_and(|(open, _)| *open >= depth) {
                    self.headings.pop();
                }
                let heading = above(&self.headings);
                self.headings.push((depth, number));
                (self.intro, self.last_prose, self.in_list) = (None, None, false);
                (heading, None)
            }
            Kind::Prose => {
                (self.last_prose, self.in_list) = (Some(number), false);
                (above(&self.headings), None)
            }
            Kind::Item | Kind::Fence | Kind::Code => {
                if !self.in_list {
                    (self.intro, self.in_list) = (self.last_prose, true);
                    // The first row of a table names its columns.
                    self.table_head = shown.starts_with('|').then_some(number);
                }
                let intro = if shown.starts_with('|') { self.table_head.filter(|head| *head != number) } else { None };
                if kind == Kind::Item && !shown.starts_with('|') {
                    self.last_prose = Some(number);
                }
                (above(&self.headings), intro.or(self.intro))
            }
            Kind::Blank | Kind::Frontmatter => {
                // A block after a list has the list's last item before it.
                if kind == Kind::Blank && self.fence.is_none() {
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

/// Comments outside of code. One that is not closed reaches to the end.
fn comments(text: &str, lines: &[Line]) -> Vec<Range<usize>> {
    let mut comments: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("<!--").map(|found| at + found) {
        let line = lines.partition_point(|line| line.text.start <= start).saturating_sub(1);
        if lines.get(line).is_some_and(|line| line.kind == Kind::Code) {
            at = start + "<!--".len();
            continue;
        }
        let end = text[start..].find("-->").map_or(text.len(), |found| start + found + "-->".len());
        comments.push(start..end);
        at = end;
    }
    comments
}
