//! Removed lines and the lines in their place, with the changed words marked.

use knowhow_domain::text::diff::{WordPassage, compare_words};

use super::{Deadline, PartKind, Row, RowKind};

/// Maximum number of bytes of changed lines that are compared word by word.
const COMPARED: usize = 32 * 1024;
/// Minimum share of letters in common words, for two passages to have their changed words marked. Less similar passages
/// share only small words.
const ALIKE: f32 = 0.3;

/// Removed lines, and the lines in their place.
#[derive(Default)]
pub(super) struct Change<'a> {
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
    /// The last removed line is the end of a file without a final line break.
    cuts_removed: bool,
    /// The last added line is the end of a file without a final line break.
    cuts_added: bool,
}

impl<'a> Change<'a> {
    pub(super) fn remove(&mut self, line: &'a str) {
        self.removed.push(line);
    }

    pub(super) fn add(&mut self, line: &'a str) {
        self.added.push(line);
    }

    pub(super) fn has_added(&self) -> bool {
        !self.added.is_empty()
    }

    /// Notes that the last line is the end of a text without a line break.
    pub(super) fn note_no_line_break(&mut self) {
        match (self.removed.is_empty(), self.added.is_empty()) {
            (_, false) => self.cuts_added = true,
            (false, true) => self.cuts_removed = true,
            (true, true) => {}
        }
    }

    /// Returns the rows of the change, and begins another one.
    pub(super) fn take(&mut self, deadline: Deadline) -> Vec<Row> {
        let Self { removed, added, cuts_removed, cuts_added } = std::mem::take(self);
        let is_pair = !removed.is_empty() && !added.is_empty() && !deadline.has_passed();
        let compared = is_pair.then(|| compare(&removed.join("\n"), &added.join("\n"))).flatten();
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

/// Compares two passages word by word. Returns `None` if they are long or have little in common.
fn compare(old: &str, new: &str) -> Option<Vec<Row>> {
    if old.len() + new.len() > COMPARED {
        return None;
    }
    let passages = compare_words(old, new);
    // Blanks are alike in all texts.
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    let same: usize = passages.iter().filter(|passage| passage.is_equal).map(|passage| letters(passage.old)).sum();
    if 2.0 * same as f32 <= ALIKE * (letters(old) + letters(new)) as f32 {
        return None;
    }
    let (mut before, mut after) = (Side::new(RowKind::Removed), Side::new(RowKind::Added));
    for WordPassage { old, new, is_equal } in passages {
        let kind = if is_equal { PartKind::Same } else { PartKind::Changed };
        before.push(old, kind);
        after.push(new, kind);
    }
    Some(before.rows.into_iter().chain(after.rows).collect())
}

/// The rows of one side of a change.
struct Side {
    rows: Vec<Row>,
    kind: RowKind,
}

impl Side {
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
