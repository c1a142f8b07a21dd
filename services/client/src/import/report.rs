//! The results of an import, printed as text or as JSON.

mod entry;

use knowhow_ops::learning::examples::ImportedExamples;
use serde::Serialize;
use serde_json::json;

use super::kinds::Kind;
use super::left_out::LeftOut;
pub(crate) use entry::{ImportEntry, ImportEntryOutcome};

/// The results of an import.
pub(super) struct ImportResults {
    pub(super) source: String,
    pub(super) kind: Kind,
    pub(super) is_dry: bool,
    pub(super) skills: Vec<ImportEntry>,
    pub(super) memories: Vec<ImportEntry>,
    pub(super) soul: Option<ImportEntry>,
    pub(super) examples: ImportedExamples,
    pub(super) left_out: Vec<LeftOut>,
    /// The error that stopped the import before its end.
    pub(super) stopped: Option<String>,
}

/// Numbers of skills by outcome.
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
    fn of<'a>(entries: impl IntoIterator<Item = &'a ImportEntry>) -> Self {
        let mut totals = Self::default();
        for entry in entries {
            *match entry.outcome {
                ImportEntryOutcome::Created => &mut totals.created,
                ImportEntryOutcome::Updated => &mut totals.updated,
                ImportEntryOutcome::Unchanged => &mut totals.unchanged,
                ImportEntryOutcome::Duplicate => &mut totals.duplicates,
                ImportEntryOutcome::Waiting => &mut totals.waiting,
                ImportEntryOutcome::Refused => &mut totals.refused,
                ImportEntryOutcome::NotSent => &mut totals.not_sent,
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

/// The lines in a text report, in the order of printing.
pub(super) struct ReportLines {
    pub(super) outcomes: Vec<String>,
    /// Results that need the user's attention.
    pub(super) problems: Vec<String>,
    pub(super) totals: Vec<String>,
}

/// Maximum number of new skills, and of reasons, that are listed without `--verbose`.
const TOLD: usize = 10;
/// Maximum number of paths that are listed for one reason.
const PATHS: usize = 3;

impl ImportResults {
    /// Returns whether everything was imported.
    pub(super) fn is_complete(&self) -> bool {
        let lost =
            |entry: &ImportEntry| matches!(entry.outcome, ImportEntryOutcome::Refused | ImportEntryOutcome::NotSent);
        let entries = self.skills.iter().chain(&self.memories).chain(&self.soul);
        self.stopped.is_none() && self.examples.failed == 0 && !entries.into_iter().any(lost)
    }

    /// Returns the results as one JSON document.
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

    pub(super) fn lines(&self, verbose: bool) -> ReportLines {
        ReportLines { outcomes: self.outcomes(verbose), problems: self.problems(verbose), totals: self.totals() }
    }

    fn outcomes(&self, verbose: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if self.kind != Kind::Plain {
            lines.push(format!(
                "{} is imported as a home of {}; --from plain would import every SKILL.md in it",
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
        let entries: Vec<&ImportEntry> = self.skills.iter().chain(&self.memories).chain(&self.soul).collect();
        let refused: Vec<(&str, &str)> = entries
            .iter()
            .filter(|entry| entry.outcome == ImportEntryOutcome::Refused)
            .map(|entry| (entry.path.as_str(), entry.reason.as_deref().unwrap_or_default()))
            .collect();
        tell_by_reason(&mut lines, "refused", &refused, verbose);
        for line in &self.examples.refused {
            lines.push(format!("refused   {} line {}: {}", line.path, line.line, line.detail));
        }
        if let Some(reason) = &self.stopped {
            lines.push(format!("stopped   {reason}"));
            lines.push("          Imported skills stay; running the import again skips them.".to_owned());
        }
        lines
    }

    fn tell_names(&self, lines: &mut Vec<String>, verbose: bool) {
        for (outcome, word) in [
            (ImportEntryOutcome::Created, "created"),
            (ImportEntryOutcome::Updated, "updated"),
            (ImportEntryOutcome::Unchanged, "unchanged"),
            (ImportEntryOutcome::Duplicate, "same"),
            (ImportEntryOutcome::Waiting, "waits"),
            (ImportEntryOutcome::NotSent, "not sent"),
        ] {
            // Without `--verbose`, unchanged items are only counted.
            let outcomes = match outcome {
                _ if verbose => usize::MAX,
                ImportEntryOutcome::Created
                | ImportEntryOutcome::Updated
                | ImportEntryOutcome::Duplicate
                | ImportEntryOutcome::Waiting => TOLD,
                _ => 0,
            };
            let of_it: Vec<&ImportEntry> = self.skills.iter().filter(|entry| entry.outcome == outcome).collect();
            for entry in of_it.iter().take(outcomes) {
                let name = entry.name.as_deref().map(|name| format!("{name}  from ")).unwrap_or_default();
                let same = entry.same_as.as_deref().map(|path| format!(" is the same as {path}")).unwrap_or_default();
                lines.push(format!("{word:<9} {name}{}{same}", entry.path));
            }
            if outcomes > 0 && of_it.len() > outcomes {
                lines.push(format!("{word:<9} and {} more; --verbose lists them", of_it.len() - outcomes));
            }
        }
    }

    fn tell_fixes(&self, lines: &mut Vec<String>) {
        for entry in self.skills.iter().filter(|entry| entry.outcome != ImportEntryOutcome::Unchanged) {
            lines.extend(entry.fixes.iter().map(|fix| format!("repaired  {}: {fix}", entry.path)));
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
                ImportEntryOutcome::Created => "written",
                ImportEntryOutcome::Updated => "replaced",
                ImportEntryOutcome::Unchanged => soul.reason.as_deref().unwrap_or("unchanged"),
                ImportEntryOutcome::Refused | ImportEntryOutcome::Duplicate | ImportEntryOutcome::Waiting => "refused",
                ImportEntryOutcome::NotSent => "not sent",
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

/// Appends lines that are grouped by reason. Otherwise hundreds of lines with one reason could hide another reason.
pub(crate) fn tell_by_reason(lines: &mut Vec<String>, word: &str, all: &[(&str, &str)], verbose: bool) {
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
