//! What became of an import, for people and for programs.

mod entry;

use knowhow_ops::examples::ImportedExamples;
use serde::Serialize;
use serde_json::json;

use super::kinds::Kind;
use super::listing::LeftOut;
pub(in crate::cli) use entry::{Entry, Outcome};

/// What became of all of it.
pub(super) struct Report {
    pub(super) source: String,
    pub(super) kind: Kind,
    pub(super) is_dry: bool,
    pub(super) skills: Vec<Entry>,
    pub(super) memories: Vec<Entry>,
    pub(super) soul: Option<Entry>,
    pub(super) examples: ImportedExamples,
    pub(super) left_out: Vec<LeftOut>,
    /// Why it stopped before its end.
    pub(super) stopped: Option<String>,
}

/// How many of each outcome.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Totals {
    created: usize,
    updated: usize,
    unchanged: usize,
    duplicates: usize,
    waiting: usize,
    refused: usize,
    not_sent: usize,
}

impl Totals {
    fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut totals = Self::default();
        for entry in entries {
            *match entry.outcome {
                Outcome::Created => &mut totals.created,
                Outcome::Updated => &mut totals.updated,
                Outcome::Unchanged => &mut totals.unchanged,
                Outcome::Duplicate => &mut totals.duplicates,
                Outcome::Waiting => &mut totals.waiting,
                Outcome::Refused => &mut totals.refused,
                Outcome::NotSent => &mut totals.not_sent,
            } += 1;
        }
        totals
    }

    fn line(&self) -> String {
        let Self { created, updated, unchanged, duplicates, waiting, refused, not_sent } = self;
        let mut line = format!("{created} created, {updated} updated, {unchanged} unchanged, {refused} refused");
        for (count, word) in
            [(duplicates, "the same as another"), (waiting, "waiting for review"), (not_sent, "not sent")]
        {
            if *count > 0 {
                line.push_str(&format!(", {count} {word}"));
            }
        }
        line
    }
}

/// A report in lines, in the order in which they are printed.
pub(super) struct Lines {
    pub(super) told: Vec<String>,
    /// What somebody has to look at.
    pub(super) problems: Vec<String>,
    pub(super) totals: Vec<String>,
}

/// Names of new skills, and paths with one reason, that are told without `--verbose`.
const TOLD: usize = 10;
/// Paths that are named for one reason.
const PATHS: usize = 3;

impl Report {
    /// Whether everything is there now.
    pub(super) fn is_complete(&self) -> bool {
        let lost = |entry: &Entry| matches!(entry.outcome, Outcome::Refused | Outcome::NotSent);
        let entries = self.skills.iter().chain(&self.memories).chain(&self.soul);
        self.stopped.is_none() && self.examples.failed == 0 && !entries.into_iter().any(lost)
    }

    /// One document with all of it.
    pub(super) fn json(&self) -> serde_json::Value {
        json!({
            "source": self.source,
            "kind": self.kind,
            "dry_run": self.is_dry,
            "totals": Totals::of(&self.skills),
            "skills": self.skills,
            "memories": self.memories,
            "soul": self.soul,
            "examples": self.examples,
            "left_out": self.left_out.iter().map(|file| json!({"path": file.path, "reason": file.reason})).collect::<Vec<_>>(),
            "stopped": self.stopped,
        })
    }

    pub(super) fn lines(&self, verbose: bool) -> Lines {
        Lines { told: self.told(verbose), problems: self.problems(verbose), totals: self.totals() }
    }

    fn told(&self, verbose: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if self.kind != Kind::Plain {
            lines.push(format!(
                "{} is read as a home of {}; --from plain would take every SKILL.md in it",
                self.source,
                self.kind.title()
            ));
        }
        self.tell_names(&mut lines, verbose);
        self.tell_fixes(&mut lines);
        let left_out: Vec<(&str, &str)> =
            self.left_out.iter().map(|file| (file.path.as_str(), file.reason.as_str())).collect();
        tell_by_reason(&mut lines, "left out", &left_out, verbose);
        lines
    }

    fn problems(&self, verbose: bool) -> Vec<String> {
        let mut lines = Vec::new();
        let entries: Vec<&Entry> = self.skills.iter().chain(&self.memories).chain(&self.soul).collect();
        let refused: Vec<(&str, &str)> = entries
            .iter()
            .filter(|entry| entry.outcome == Outcome::Refused)
            .map(|entry| (entry.path.as_str(), entry.reason.as_deref().unwrap_or_default()))
            .collect();
        tell_by_reason(&mut lines, "refused", &refused, verbose);
        for line in &self.examples.refused {
            lines.push(format!("refused   {} line {}: {}", line.path, line.line, line.detail));
        }
        if let Some(reason) = &self.stopped {
            lines.push(format!("stopped   {reason}"));
            lines.push("          What is in stays in; the same import again passes over it.".to_owned());
        }
        lines
    }

    fn tell_names(&self, lines: &mut Vec<String>, verbose: bool) {
        for (outcome, word) in [
            (Outcome::Created, "created"),
            (Outcome::Updated, "updated"),
            (Outcome::Unchanged, "unchanged"),
            (Outcome::Duplicate, "same"),
            (Outcome::Waiting, "waits"),
            (Outcome::NotSent, "not sent"),
        ] {
            // What is there already is only counted, unless somebody wants to know.
            let told = match outcome {
                _ if verbose => usize::MAX,
                Outcome::Created | Outcome::Updated | Outcome::Duplicate | Outcome::Waiting => TOLD,
                _ => 0,
            };
            let of_it: Vec<&Entry> = self.skills.iter().filter(|entry| entry.outcome == outcome).collect();
            for entry in of_it.iter().take(told) {
                let name = entry.name.as_deref().map(|name| format!("{name}  from ")).unwrap_or_default();
                let same = entry.same_as.as_deref().map(|path| format!(" is the same as {path}")).unwrap_or_default();
                lines.push(format!("{word:<9} {name}{}{same}", entry.path));
            }
            if told > 0 && of_it.len() > told {
                lines.push(format!("{word:<9} and {} more; --verbose names them", of_it.len() - told));
            }
        }
    }

    fn tell_fixes(&self, lines: &mut Vec<String>) {
        for entry in self.skills.iter().filter(|entry| entry.outcome != Outcome::Unchanged) {
            lines.extend(entry.fixes.iter().map(|fix| format!("mended    {}: {fix}", entry.path)));
        }
    }

    fn totals(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let dry = if self.is_dry { "would be: " } else { "" };
        lines.push(format!("{dry}{}", Totals::of(&self.skills).line()));
        if !self.memories.is_empty() {
            lines.push(format!("memories: {dry}{}", Totals::of(&self.memories).line()));
        }
        if let Some(soul) = &self.soul {
            let outcome = match soul.outcome {
                Outcome::Created => "written",
                Outcome::Updated => "replaced",
                Outcome::Unchanged => soul.reason.as_deref().unwrap_or("unchanged"),
                Outcome::Refused | Outcome::Duplicate | Outcome::Waiting => "refused",
                Outcome::NotSent => "not sent",
            };
            lines.push(format!("soul: {dry}{outcome}"));
        }
        let ImportedExamples { added, unchanged, failed, .. } = self.examples;
        if added + unchanged + failed > 0 {
            lines.push(format!("examples: {added} added, {unchanged} unchanged, {failed} refused"));
        }
        lines
    }
}

/// Tells what has one reason together: a few hundred lines that say the same hide the one that does not.
pub(in crate::cli) fn tell_by_reason(lines: &mut Vec<String>, word: &str, all: &[(&str, &str)], verbose: bool) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (path, reason) in all {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, paths)) => paths.push(path),
            None => reasons.push((reason, vec![path])),
        }
    }
    for (reason, paths) in reasons {
        if paths.len() <= PATHS || verbose {
            lines.extend(paths.iter().map(|path| format!("{word:<9} {path}: {reason}")));
        } else {
            let first = paths[..PATHS].join(", ");
            lines.push(format!("{word:<9} {} times: {reason}: {first} and {} more", paths.len(), paths.len() - PATHS));
        }
    }
}

#[cfg(test)]
mod tests;
