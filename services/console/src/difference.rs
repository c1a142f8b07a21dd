//! A unified diff as rows of a page, with the changed words marked.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// Maximum number of bytes of changed lines that are compared word by word.
const COMPARED: usize = 32 * 1024;
/// Maximum time to compare the words of one change.
const TIME: Duration = Duration::from_millis(20);
/// Minimum share of letters in common words, for two passages to have their changed words marked. Less similar passages
/// share only small words.
const ALIKE: f32 = 0.3;

/// Kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// The name of a file.
    File,
    /// The line numbers of a hunk, or a remark.
    Hunk,
    Same,
    Added,
    Removed,
}

/// Kind of a part of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    Same,
    Changed,
    /// The code point of an invisible character.
    Invisible,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub kind: PartKind,
}

/// A line of the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub kind: RowKind,
    pub parts: Vec<Part>,
}

/// The end of a text without a line break, as a diff remarks it.
const NO_LINE_BREAK: char = '\\';

/// Reads a unified diff. Its invisible characters are written as code points (`<U+200B>`).
pub fn rows(diff: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut change = Change::default();
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        // Headers come in pairs, before the first hunk of a file.
        let is_header = line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        let text = line.get(1..).unwrap_or_default();
        let row = match line.chars().next() {
            _ if is_header => {
                let new = lines.next().and_then(|next| next.get(4..)).unwrap_or_default();
                Row::whole(RowKind::File, &format!("{} → {new}", line.get(4..).unwrap_or_default()))
            }
            Some('-') => {
                if !change.added.is_empty() {
                    rows.extend(change.take());
                }
                change.removed.push(text);
                continue;
            }
            Some('+') => {
                change.added.push(text);
                continue;
            }
            Some(NO_LINE_BREAK) => {
                change.note_no_line_break();
                continue;
            }
            Some(' ') => Row::whole(RowKind::Same, text),
            _ => Row::whole(RowKind::Hunk, line),
        };
        rows.extend(change.take());
        rows.push(row);
    }
    rows.extend(change.take());
    rows
}

/// Removed lines, and the lines in their place.
#[derive(Default)]
struct Change<'a> {
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
    /// The last removed line is the end of a file without a final line break.
    cuts_removed: bool,
    /// The last added line is the end of a file without a final line break.
    cuts_added: bool,
}

impl Change<'_> {
    fn note_no_line_break(&mut self) {
        match (self.removed.is_empty(), self.added.is_empty()) {
            (_, false) => self.cuts_added = true,
            (false, true) => self.cuts_removed = true,
            (true, true) => {}
        }
    }

    /// Returns the rows of the change, and begins another one.
    fn take(&mut self) -> Vec<Row> {
        let Self { removed, added, cuts_removed, cuts_added } = std::mem::take(self);
        let (old, new) = (removed.join("\n"), added.join("\n"));
        let is_pair = !removed.is_empty() && !added.is_empty() && old.len() + new.len() <= COMPARED;
        let compared = is_pair.then(|| compare(&old, &new)).flatten();
        let mut rows = compared.unwrap_or_else(|| {
            let removed = removed.iter().map(|line| Row::whole(RowKind::Removed, line));
            removed.chain(added.iter().map(|line| Row::whole(RowKind::Added, line))).collect()
        });
        if cuts_removed != cuts_added && !rows.is_empty() {
            let side = if cuts_added { "after" } else { "before" };
            rows.push(Row::whole(RowKind::Hunk, &format!("No line break at the end {side} the change")));
        }
        rows
    }
}

impl Row {
    fn whole(kind: RowKind, text: &str) -> Self {
        let mut row = Self { kind, parts: Vec::new() };
        row.push(text, PartKind::Same);
        row
    }

    /// Appends a text, with the code points of invisible characters as parts of their own.
    fn push(&mut self, text: &str, kind: PartKind) {
        let mut rest = text;
        while let Some((before, code, after)) = split_code_point(rest) {
            self.add(before, kind);
            self.add(code, PartKind::Invisible);
            rest = after;
        }
        self.add(rest, kind);
    }

    fn add(&mut self, text: &str, kind: PartKind) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.kind == kind => last.text.push_str(text),
            _ => self.parts.push(Part { text: text.to_owned(), kind }),
        }
    }
}

/// Splits a text at its first code point: the text before, the code point, the text after.
fn split_code_point(text: &str) -> Option<(&str, &str, &str)> {
    let is_code = |code: &str| (4..=6).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.match_indices("<U+").find_map(|(start, _)| {
        let end = start + text.get(start..)?.find('>')? + 1;
        let code = text.get(start + 3..end - 1).filter(|code| is_code(code));
        code.and_then(|_| Some((text.get(..start)?, text.get(start..end)?, text.get(end..)?)))
    })
}

/// Compares two passages word by word. Returns `None` if they have little in common.
fn compare(old: &str, new: &str) -> Option<Vec<Row>> {
    let diff = TextDiff::configure().timeout(TIME).diff_words(old, new);
    // Blanks are alike in all texts.
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let same = diff.iter_all_changes().filter(|change| change.tag() == ChangeTag::Equal);
    let same: usize = same.map(|change| letters(change.value())).sum();
    if 2.0 * same as f32 <= ALIKE * (letters(old) + letters(new)) as f32 {
        return None;
    }
    let (mut before, mut after) = (Passage::new(RowKind::Removed), Passage::new(RowKind::Added));
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => {
                before.push(change.value(), PartKind::Same);
                after.push(change.value(), PartKind::Same);
            }
            ChangeTag::Delete => before.push(change.value(), PartKind::Changed),
            ChangeTag::Insert => after.push(change.value(), PartKind::Changed),
        }
    }
    Some(before.rows.into_iter().chain(after.rows).collect())
}

/// The rows of one side of a change.
struct Passage {
    rows: Vec<Row>,
    kind: RowKind,
}

impl Passage {
    fn new(kind: RowKind) -> Self {
        Self { rows: vec![Row { kind, parts: Vec::new() }], kind }
    }

    fn push(&mut self, text: &str, kind: PartKind) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.rows.push(Row { kind: self.kind, parts: Vec::new() });
            }
            if let Some(row) = self.rows.last_mut() {
                row.push(line, kind);
            }
        }
    }
}

#[cfg(test)]
mod tests;
