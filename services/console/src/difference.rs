//! A unified diff as rows of a page, with the changed words marked. One page has one budget of time for all its diffs.

mod change;

use std::time::{Duration, Instant};

use knowhow_domain::Result;
use knowhow_domain::text::diff::{self, DiffSide};
use knowhow_domain::text::invisible::show_invisible;

use self::change::Change;
use crate::visit::Visit;

/// Maximum time to compare the texts of one page.
const TIME: Duration = Duration::from_millis(100);

/// The end of the time for the diffs of one page.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// Starts the time of a page.
    pub fn of_page() -> Self {
        Self(Instant::now() + TIME)
    }

    /// Returns whether the time is over.
    pub fn has_passed(self) -> bool {
        Instant::now() > self.0
    }
}

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

/// Reads a unified diff on a thread for intensive work.
///
/// # Errors
/// `RateLimited` if too many comparisons of the tenant are queued.
pub async fn read_rows(visit: &Visit, diff: String) -> Result<Vec<Row>> {
    let compute = move || Ok(rows(&diff, Deadline::of_page()));
    visit.ctx.app.admission.compare(&visit.ctx.principal, compute).await
}

/// Reads several unified diffs of one page; some may be missing.
///
/// # Errors
/// `RateLimited` if too many comparisons of the tenant are queued.
pub async fn read_all_rows(visit: &Visit, diffs: Vec<Option<String>>) -> Result<Vec<Option<Vec<Row>>>> {
    let compute = move || {
        let deadline = Deadline::of_page();
        Ok(diffs.into_iter().map(|diff| diff.map(|diff| rows(&diff, deadline))).collect())
    };
    visit.ctx.app.admission.compare(&visit.ctx.principal, compute).await
}

/// Compares each version with the next, older one, and the last with `oldest`. After the deadline, versions are not
/// compared.
///
/// # Errors
/// `RateLimited` if too many comparisons of the tenant are queued.
pub async fn compare_versions(
    visit: &Visit,
    texts: Vec<String>,
    oldest: Option<String>,
) -> Result<Vec<Option<Vec<Row>>>> {
    let compute = move || Ok(differences(&texts, oldest.as_deref()));
    visit.ctx.app.admission.compare(&visit.ctx.principal, compute).await
}

fn differences(texts: &[String], oldest: Option<&str>) -> Vec<Option<Vec<Row>>> {
    let deadline = Deadline::of_page();
    let older = texts.iter().skip(1).map(|text| Some(text.as_str())).chain([oldest]);
    let compare = |(text, older): (&String, Option<&str>)| {
        let older = older.filter(|_| !deadline.has_passed())?;
        let (before, after) = (DiffSide { label: "before", text: older }, DiffSide { label: "after", text });
        let compared = show_invisible(&diff::unified(before, after));
        Some(rows(&compared, deadline).into_iter().filter(|row| row.kind != RowKind::File).collect())
    };
    texts.iter().zip(older).map(compare).collect()
}

/// Reads a unified diff. Its invisible characters are written as code points (`<U+200B>`). After the deadline, changed
/// words are no longer marked.
pub fn rows(diff: &str, deadline: Deadline) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut change, mut hunk) = (Change::default(), Hunk::default());
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with(NO_LINE_BREAK) {
            change.note_no_line_break();
            continue;
        }
        let text = line.get(1..).unwrap_or_default();
        let row = match hunk.take(line) {
            Some(RowKind::Removed) => {
                if change.has_added() {
                    rows.extend(change.take(deadline));
                }
                change.remove(text);
                continue;
            }
            Some(RowKind::Added) => {
                change.add(text);
                continue;
            }
            Some(kind) => Row::whole(kind, text),
            None => outside(line, &mut lines, &mut hunk),
        };
        rows.extend(change.take(deadline));
        rows.push(row);
    }
    rows.extend(change.take(deadline));
    rows
}

/// Returns the row of a line that is not part of a hunk: the names of a file, the start of a hunk, or a remark.
fn outside<'a>(line: &str, lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>, hunk: &mut Hunk) -> Row {
    if let Some(started) = Hunk::start(line) {
        *hunk = started;
    } else if let Some(old) = line.strip_prefix("--- ")
        && let Some(new) = lines.next_if(|next| next.starts_with("+++ "))
    {
        return Row::whole(RowKind::File, &format!("{old} → {}", new.get(4..).unwrap_or_default()));
    }
    Row::whole(RowKind::Hunk, line)
}

/// Numbers of lines that the current hunk still has. A line of a text can look like a header, so lines are counted.
#[derive(Debug, Default)]
struct Hunk {
    old: usize,
    new: usize,
}

impl Hunk {
    /// Reads the header of a hunk, such as `@@ -1,2 +1,3 @@`.
    fn start(line: &str) -> Option<Self> {
        let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
        let (new, _) = rest.split_once(" @@")?;
        let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
        Some(Self { old: count(old)?, new: count(new)? })
    }

    /// Takes a line off the hunk, and returns its kind. Returns `None` if the hunk has ended.
    fn take(&mut self, line: &str) -> Option<RowKind> {
        if self.old == 0 && self.new == 0 {
            return None;
        }
        let kind = match line.chars().next() {
            Some('-') => RowKind::Removed,
            Some('+') => RowKind::Added,
            _ => RowKind::Same,
        };
        self.old = self.old.saturating_sub(usize::from(kind != RowKind::Added));
        self.new = self.new.saturating_sub(usize::from(kind != RowKind::Removed));
        Some(kind)
    }
}

impl Row {
    /// Creates a row without marked words.
    pub fn whole(kind: RowKind, text: &str) -> Self {
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
    text.match_indices("<U+").find_map(|(start, mark)| {
        let code = text[start + mark.len()..].bytes().take(7).take_while(u8::is_ascii_hexdigit).count();
        let end = start + mark.len() + code + 1;
        let is_code = (4..=6).contains(&code) && text.get(end - 1..end) == Some(">");
        is_code.then(|| (&text[..start], &text[start..end], &text[end..]))
    })
}

#[cfg(test)]
mod tests;
