//! Merges two changes to the same text, line by line (diff3).

use std::ops::Range;

use super::{ChangedRange, changes, lines_of};

/// Error from a merge: both sides changed the same or adjacent lines in different ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The merged text with conflict markers.
    pub marked: String,
    /// The merged text with our lines at every conflict.
    pub ours: String,
}

/// Merges the changes that `ours` and `theirs` make to `base`.
///
/// # Errors
/// A [`Conflict`] if both sides changed the same or adjacent lines in different ways.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Result<String, Conflict> {
    let [base, ours, theirs] = [base, ours, theirs].map(lines_of);
    let mut ours = Branch::of(&base, ours);
    let mut theirs = Branch::of(&base, theirs);
    let (mut merged, mut with_ours, mut has_conflict, mut at) = (String::new(), String::new(), false, 0);
    while let Some(region) = next_region(&ours, &theirs) {
        let unchanged = &base[at..region.start];
        push(&mut merged, unchanged);
        push(&mut with_ours, unchanged);
        at = region.end;
        let sides = [ours.take(&region), theirs.take(&region)];
        let original = &base[region];
        match sides {
            [ours, theirs] if ours == theirs || theirs == original => {
                push(&mut merged, ours);
                push(&mut with_ours, ours);
            }
            [ours, theirs] if ours == original => {
                push(&mut merged, theirs);
                push(&mut with_ours, theirs);
            }
            [ours, theirs] => {
                has_conflict = true;
                push(&mut with_ours, ours);
                let parts = [("<<<<<<< ours\n", ours), ("||||||| original\n", original), ("=======\n", theirs)];
                for (mark, lines) in parts {
                    merged.push_str(mark);
                    push(&mut merged, lines);
                    if !merged.ends_with('\n') {
                        merged.push('\n');
                    }
                }
                merged.push_str(">>>>>>> theirs\n");
            }
        }
    }
    push(&mut merged, &base[at..]);
    push(&mut with_ours, &base[at..]);
    if has_conflict { Err(Conflict { marked: merged, ours: with_ours }) } else { Ok(merged) }
}

fn push(text: &mut String, lines: &[&str]) {
    lines.iter().for_each(|line| text.push_str(line));
}

/// A side of a merge.
struct Branch<'a> {
    lines: Vec<&'a str>,
    changes: Vec<ChangedRange>,
    /// Number of this side's changes that are already merged.
    taken: usize,
    /// The first line that is not merged yet: its numbers in the base and on this side.
    at: (usize, usize),
}

impl<'a> Branch<'a> {
    fn of(base: &[&str], lines: Vec<&'a str>) -> Self {
        let changes = changes(base, &lines);
        Self { lines, changes, taken: 0, at: (0, 0) }
    }

    /// Returns the base lines of the next change.
    fn next(&self) -> Option<Range<usize>> {
        self.changes.get(self.taken).map(|change| change.old.clone())
    }

    /// Returns this side's lines for a region of the base. The region contains each change entirely or not at all.
    fn take(&mut self, region: &Range<usize>) -> &[&'a str] {
        let place = |(base, side): (usize, usize), line: usize| side + (line - base);
        let start = place(self.at, region.start);
        while let Some(change) = self.changes.get(self.taken).filter(|change| change.old.end <= region.end) {
            self.at = (change.old.end, change.new.end);
            self.taken += 1;
        }
        let end = place(self.at, region.end);
        self.at = (region.end, end);
        &self.lines[start..end]
    }
}

/// Returns the next changed region of the base, including all changes that overlap or touch it.
fn next_region(ours: &Branch<'_>, theirs: &Branch<'_>) -> Option<Range<usize>> {
    let first = [ours.next(), theirs.next()].into_iter().flatten().min_by_key(|change| (change.start, change.end))?;
    let mut region = first;
    let mut rest = [ours, theirs].map(|side| side.changes[side.taken..].iter().peekable());
    loop {
        let end = region.end;
        for changes in &mut rest {
            while let Some(change) = changes.next_if(|change| change.old.start <= region.end) {
                region.end = region.end.max(change.old.end);
            }
        }
        if region.end == end {
            return Some(region);
        }
    }
}

#[cfg(test)]
mod tests;
