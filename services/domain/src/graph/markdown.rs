//! The readable text of a markdown body: headings, list items and paragraphs, without code and comments.

use crate::text::fence::{Fence, FenceLine};

/// A heading, list item or paragraph, which is searched separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextBlock {
    pub(super) kind: BlockKind,
    /// The text, joined into one line.
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A heading with its level, from 1.
    Heading(usize),
    Item,
    Paragraph,
}

/// Returns the blocks of a body, in order, without fenced code, indented code and comments.
pub(super) fn blocks(body: &str) -> Vec<TextBlock> {
    let mut reader = MarkdownReader { after_blank: true, ..MarkdownReader::default() };
    for line in body.lines() {
        reader.read(line);
    }
    reader.end_block();
    reader.blocks
}

#[derive(Default)]
struct MarkdownReader {
    blocks: Vec<TextBlock>,
    open: Option<TextBlock>,
    fence: Fence,
    in_comment: bool,
    in_list: bool,
    after_blank: bool,
}

impl MarkdownReader {
    fn read(&mut self, line: &str) {
        // A fence inside a comment is ignored.
        if !self.in_comment && self.fence.read(line) != FenceLine::Outside {
            self.end_block();
            return;
        }
        let line = self.without_comments(line);
        let text = line.trim();
        if text.is_empty() {
            self.end_block();
            self.after_blank = true;
            return;
        }
        let indent = line.len() - line.trim_start().len();
        let is_indented = line.starts_with('\t') || indent >= 4;
        if is_indented && self.after_blank && !self.in_list {
            return;
        }
        self.after_blank = false;
        self.take(text, indent);
    }

    fn take(&mut self, text: &str, indent: usize) {
        if let Some((level, heading)) = heading(text) {
            self.begin(BlockKind::Heading(level), heading);
            self.end_block();
            self.in_list = false;
        } else if let Some(item) = list_item(text) {
            self.begin(BlockKind::Item, item);
            self.in_list = true;
        } else if text.starts_with('|') {
            self.begin(BlockKind::Paragraph, text);
            self.end_block();
        } else if let Some(open) = &mut self.open {
            open.text.push(' ');
            open.text.push_str(text.trim_start_matches("> "));
        } else {
            self.in_list &= indent > 0;
            self.begin(BlockKind::Paragraph, text.trim_start_matches("> "));
        }
    }

    fn without_comments(&mut self, line: &str) -> String {
        let (mut rest, mut seen) = (line, String::with_capacity(line.len()));
        loop {
            if self.in_comment {
                let Some(end) = rest.find("-->") else { return seen };
                rest = &rest[end + 3..];
                self.in_comment = false;
            }
            let Some(start) = rest.find("<!--") else {
                seen.push_str(rest);
                return seen;
            };
            seen.push_str(&rest[..start]);
            rest = &rest[start + 4..];
            self.in_comment = true;
        }
    }

    fn begin(&mut self, kind: BlockKind, text: &str) {
        self.end_block();
        self.open = Some(TextBlock { kind, text: text.to_owned() });
    }

    fn end_block(&mut self) {
        self.blocks.extend(self.open.take());
    }
}

fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let says = text[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, says.trim().trim_end_matches('#').trim_end()))
}

fn list_item(text: &str) -> Option<&str> {
    if let Some(item) = ["- ", "* ", "+ "].iter().find_map(|mark| text.strip_prefix(mark)) {
        return Some(item.trim_start());
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let item = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "))?;
    (1..=9).contains(&digits).then(|| item.trim_start())
}

#[cfg(test)]
mod tests;
