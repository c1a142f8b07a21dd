//! Builds the replacement for a block of lines that tolerant search found.

use super::fold::line_key;
use super::indent::{Indents, indent_of};
use super::work::PatchBudget;
use super::{Match, Strategy, tokens};
use crate::text::diff::{self, ChangedRange, DiffStep};
use crate::text::lines::{self, TextLine};

/// Maximum product of line counts for a comparison. In larger blocks, all lines between the common start and end
/// count as changed.
const WORK: usize = 1_000_000;

/// Fixed cost for rewriting a block, in units of [`PatchBudget`].
const PER_BLOCK: usize = 100;
/// Additional cost for each line of the block, in units of [`PatchBudget`].
const PER_LINE: usize = 40;

/// Maximum distance in lines between a new line and the line it takes its indentation from.
const NEAR: usize = 50;

/// Converts `new` to the line ends of `text` if these are all CRLF or all CR.
pub(super) fn with_line_ends_of(text: &str, new: &str) -> String {
    let ending = lines::ending(text);
    let uniform = match ending {
        "\r\n" => text.matches('\n').count() == text.matches("\r\n").count(),
        "\r" => !text.contains('\n'),
        _ => false,
    };
    if uniform { lines::convert(new, ending) } else { new.to_owned() }
}

/// A matched block: whole lines in the file, one for each searched line.
pub(super) struct MatchedBlock<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a [TextLine],
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) strategy: Strategy,
    pub(super) work: &'a PatchBudget,
}

/// A line that the edit changes.
struct ChangedLine<'a> {
    /// The line in the searched text.
    old: &'a str,
    /// The line in the replacement.
    new: &'a str,
    /// The line in the file.
    file: &'a str,
}

impl MatchedBlock<'_> {
    /// Returns the replacement for the block. Lines that the edit does not change stay as they are in the file. New
    /// lines get the file's indentation and line ends.
    pub(super) fn rewritten(&self) -> Match {
        let (old, new) = (texts(self.old), texts(self.new));
        let file: Vec<&str> = self.lines.iter().map(|line| &self.text[line.text()]).collect();
        let filled = |(line, _): &(&str, &str)| !line.trim().is_empty();
        let pairs: Vec<(&str, &str)> = old.iter().copied().zip(file.iter().copied()).filter(filled).collect();
        let indents = Indents::new(pairs.iter().map(|(old, file)| (indent_of(old), indent_of(file))));
        let ending = self.ending();
        let mut out: Vec<(String, &str)> = Vec::with_capacity(new.len());
        for DiffStep { change, is_equal } in steps(&old, &new, self.work) {
            for (step, index) in change.new.enumerate() {
                let at = change.old.start + step;
                let partner = (at < change.old.end).then_some(at);
                out.push(match (is_equal, partner) {
                    (true, Some(at)) => (file[at].to_owned(), self.ending_of(at).unwrap_or(ending)),
                    (_, Some(at)) => {
                        let line = ChangedLine { old: old[at], new: new[index], file: file[at] };
                        (self.changed(&indents, line), ending)
                    }
                    _ => {
                        let near = nearest_of_depth(&old, new[index], at).map(|at| file[at]);
                        (added(&indents, new[index], near), ending)
                    }
                });
            }
        }
        self.joined(&out, ending)
    }

    /// Returns a changed line with the file's own dashes and quotes.
    fn changed(&self, indents: &Indents, line: ChangedLine<'_>) -> String {
        let ChangedLine { old, new, file } = line;
        let same_depth = !old.trim().is_empty() && !new.trim().is_empty() && indent_of(old) == indent_of(new);
        let line = if same_depth {
            format!("{}{}", indent_of(file), &new[indent_of(new).len()..])
        } else {
            indents.apply(new)
        };
        if self.strategy < Strategy::Unicode || line_key(old, Strategy::Unicode) != line_key(file, Strategy::Unicode) {
            return line;
        }
        let indent = indent_of(&line);
        format!("{indent}{}", tokens::merge(old.trim(), &line[indent.len()..], file.trim(), self.work))
    }

    fn joined(&self, out: &[(String, &str)], ending: &str) -> Match {
        let is_ended = |text: &str| text.ends_with(['\n', '\r']);
        let (Some(first), Some(last)) = (self.lines.first(), self.lines.last()) else {
            return Match { range: 0..0, new: "".into() };
        };
        let end = if is_ended(self.old) { last.next } else { last.end };
        let mut new: String = out.iter().map(|(line, ending)| format!("{line}{ending}")).collect();
        let closing = if is_ended(self.new) { ending } else { "" };
        if let Some((_, added)) = out.last() {
            new.truncate(new.len() - added.len());
            // A file without a final line end stays without one.
            if !(is_ended(self.old) && last.next == last.end) {
                new.push_str(closing);
            }
        }
        Match { range: first.start..end, new: new.into() }
    }

    fn ending(&self) -> &str {
        (0..self.lines.len()).find_map(|at| self.ending_of(at)).unwrap_or_else(|| lines::ending(self.text))
    }

    fn ending_of(&self, at: usize) -> Option<&str> {
        let line = self.lines[at];
        Some(&self.text[line.end..line.next]).filter(|ending| !ending.is_empty())
    }
}

/// Indents a new line like `near`, a line in the file that has the same depth in the searched text.
fn added(indents: &Indents, new: &str, near: Option<&str>) -> String {
    match near {
        Some(line) if !new.trim().is_empty() => format!("{}{}", indent_of(line), &new[indent_of(new).len()..]),
        _ => indents.apply(new),
    }
}

/// Returns a line near `at` with the same depth as `new`. Lines before `at` are preferred.
fn nearest_of_depth(old: &[&str], new: &str, at: usize) -> Option<usize> {
    let fits = |at: &usize| !old[*at].trim().is_empty() && indent_of(old[*at]) == indent_of(new);
    let before = (0..at.min(old.len())).rev().take(NEAR);
    let after = (at.min(old.len())..old.len()).take(NEAR);
    before.chain(after).find(fits)
}

/// Returns the lines in a text without their line ends.
pub(super) fn texts(text: &str) -> Vec<&str> {
    lines::split(text).iter().map(|line| &text[line.text()]).collect()
}

fn steps(old: &[&str], new: &[&str], work: &PatchBudget) -> Vec<DiffStep> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = ChangedRange { old: head..old.len() - tail, new: head..new.len() - tail };
    work.spend(PER_BLOCK + PER_LINE * (old.len() + new.len()));
    if middle.old.len() * middle.new.len() <= WORK {
        work.spend(middle.old.len() * middle.new.len() / 2);
        return diff::steps(old, new);
    }
    let end = ChangedRange { old: middle.old.end..old.len(), new: middle.new.end..new.len() };
    vec![
        DiffStep { change: ChangedRange { old: 0..head, new: 0..head }, is_equal: true },
        DiffStep { change: middle, is_equal: false },
        DiffStep { change: end, is_equal: true },
    ]
}
