//! The results of a sync, printed as text or as JSON.

use serde::Serialize;
use serde_json::json;

use crate::import::left_out::LeftOut;
use crate::import::report::{self as sent, tell_by_reason};
use crate::service::ServiceError;

/// Outcome of one skill. In a dry run, the expected outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SyncOutcome {
    /// The skill was created in the service.
    Created,
    /// The skill was updated in the service.
    Updated,
    /// The skill was written into the folder.
    Written,
    /// The skill was deleted in the service.
    Deleted,
    /// The skill was removed from the folder.
    Removed,
    /// The service has a newer version.
    Behind,
    /// The skill was deleted in the service, but is still in the folder.
    Gone,
    /// The skill was removed from the folder, but is still in the service.
    Missing,
    /// The skill was not deleted, because too many skills would have been deleted.
    Kept,
    /// The skill was not changed, because both sides changed.
    Conflict,
    /// Identical to another skill, which was sent.
    Duplicate,
    /// The change awaits review.
    Waiting,
    Refused,
    /// The skill was not sent, because the sync stopped earlier.
    NotSent,
}

/// Outcomes in the order of printing. The first text precedes a skill in its line; the second follows the number of
/// skills in the summary.
const WORDS: [(SyncOutcome, &str, &str); 14] = [
    (SyncOutcome::Created, "created", ""),
    (SyncOutcome::Updated, "updated", ""),
    (SyncOutcome::Written, "written", ""),
    (SyncOutcome::Deleted, "deleted", ""),
    (SyncOutcome::Removed, "removed", ""),
    (SyncOutcome::Duplicate, "same", "the same as another"),
    (SyncOutcome::Waiting, "waits", "waiting for review"),
    (SyncOutcome::Behind, "behind", "behind"),
    (SyncOutcome::Gone, "gone", "gone from the service"),
    (SyncOutcome::Missing, "missing", "missing from the folder"),
    (SyncOutcome::NotSent, "not sent", "not sent"),
    (SyncOutcome::Kept, "kept", "kept"),
    (SyncOutcome::Conflict, "conflict", "in conflict"),
    (SyncOutcome::Refused, "refused", "refused"),
];
/// Maximum number of skills that are listed for one outcome.
const TOLD: usize = 10;

/// The result for one skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct SyncEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// Path as shown to the user; `None` if the folder does not have the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    pub(super) outcome: SyncOutcome,
    /// Current version of the skill in the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// The results of one sync round.
#[derive(Default)]
pub(super) struct SyncReport {
    pub(super) folder: String,
    pub(super) is_dry: bool,
    /// Number of skills in the folder that can be read.
    pub(super) indexed: usize,
    /// Results of the skills that differed between the sides.
    pub(super) skills: Vec<SyncEntry>,
    pub(super) left_out: Vec<LeftOut>,
    /// The error that stopped the round early.
    pub(super) stopped: Option<ServiceError>,
}

impl SyncReport {
    /// Returns whether no result needs the user's attention.
    pub(super) fn is_complete(&self) -> bool {
        let open = |entry: &SyncEntry| {
            matches!(
                entry.outcome,
                SyncOutcome::Conflict | SyncOutcome::Kept | SyncOutcome::Refused | SyncOutcome::NotSent
            )
        };
        self.stopped.is_none() && !self.skills.iter().any(open)
    }

    fn count(&self, outcomes: &[SyncOutcome]) -> usize {
        self.skills.iter().filter(|entry| outcomes.contains(&entry.outcome)).count()
    }

    fn reconciled(&self) -> usize {
        self.count(&[SyncOutcome::Created, SyncOutcome::Updated, SyncOutcome::Written])
    }

    fn removed(&self) -> usize {
        self.count(&[SyncOutcome::Deleted, SyncOutcome::Removed])
    }

    /// Returns the results as one JSON document.
    pub(super) fn json(&self) -> serde_json::Value {
        let mut totals = json!({
            "indexed": self.indexed,
            "reconciled": self.reconciled(),
            "removed": self.removed(),
        });
        for (outcome, _, counted) in WORDS {
            if !counted.is_empty()
                && let Ok(serde_json::Value::String(name)) = serde_json::to_value(outcome)
            {
                totals[name] = json!(self.count(&[outcome]));
            }
        }
        json!({
            "folder": self.folder,
            "dry_run": self.is_dry,
            "totals": totals,
            "skills": self.skills,
            "left_out": self.left_out.iter().map(|file| json!({"path": file.path, "reason": file.reason})).collect::<Vec<_>>(),
            "stopped": self.stopped.as_ref().map(ToString::to_string),
        })
    }

    /// Returns the results as lines for the user: completed changes, then open issues. The summary is printed
    /// separately.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let left_out: Vec<(&str, &str)> =
            self.left_out.iter().map(|file| (file.path.as_str(), file.reason.as_str())).collect();
        tell_by_reason(&mut lines, "left out", &left_out, false);
        for (outcome, word, _) in WORDS {
            let all: Vec<&SyncEntry> = self.skills.iter().filter(|entry| entry.outcome == outcome).collect();
            let shown = if outcome == SyncOutcome::Conflict { all.len() } else { TOLD };
            if all.iter().all(|entry| entry.reason.is_some()) && outcome != SyncOutcome::Conflict {
                let reasons: Vec<(&str, &str)> =
                    all.iter().map(|entry| (entry.title(), entry.reason.as_deref().unwrap_or_default())).collect();
                tell_by_reason(&mut lines, word, &reasons, false);
                continue;
            }
            lines.extend(all.iter().take(shown).map(|entry| entry.line(word)));
            if all.len() > shown {
                lines.push(format!("{word:<9} and {} more", all.len() - shown));
            }
        }
        if let Some(refusal) = &self.stopped {
            lines.push(format!("stopped   {refusal}"));
        }
        lines
    }

    pub(super) fn summary(&self) -> String {
        let dry = if self.is_dry { "would be: " } else { "" };
        let (indexed, reconciled, removed) = (self.indexed, self.reconciled(), self.removed());
        let mut line = format!("{dry}{indexed} indexed, {reconciled} reconciled, {removed} removed");
        for (outcome, _, counted) in WORDS {
            let count = self.count(&[outcome]);
            if !counted.is_empty() && count > 0 {
                line.push_str(&format!(", {count} {counted}"));
            }
        }
        line
    }
}

impl SyncOutcome {
    /// Returns whether a change was made. With `--watch`, such results are printed even if they repeat.
    pub(super) fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Written | Self::Deleted | Self::Removed)
    }

    fn of(entry: &sent::ImportEntry) -> Self {
        match entry.outcome {
            // The skill changed in the service after the comparison and before the upload.
            sent::ImportEntryOutcome::Refused if entry.code.as_deref() == Some("version-conflict") => Self::Conflict,
            sent::ImportEntryOutcome::Refused => Self::Refused,
            sent::ImportEntryOutcome::Created => Self::Created,
            sent::ImportEntryOutcome::Updated | sent::ImportEntryOutcome::Unchanged => Self::Updated,
            sent::ImportEntryOutcome::Duplicate => Self::Duplicate,
            sent::ImportEntryOutcome::Waiting => Self::Waiting,
            sent::ImportEntryOutcome::NotSent => Self::NotSent,
        }
    }
}

impl SyncEntry {
    /// Converts a result from the upload.
    pub(super) fn of(entry: sent::ImportEntry) -> Self {
        let outcome = SyncOutcome::of(&entry);
        let same = entry.same_as.map(|path| format!("it is identical to {path}"));
        let (name, path, version) = (entry.name, Some(entry.path), entry.version);
        Self { name, path, outcome, version, reason: entry.reason.or(same) }
    }

    fn title(&self) -> &str {
        self.name.as_deref().or(self.path.as_deref()).unwrap_or_default()
    }

    fn line(&self, word: &str) -> String {
        let reason = self.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{word:<9} {}{reason}", self.title())
    }
}
