//! What became of a sync, for people and for programs.

use serde::Serialize;
use serde_json::json;

use crate::cli::client::Refusal;
use crate::cli::import::listing::LeftOut;
use crate::cli::import::report::{self as sent, tell_by_reason};

/// How it went with one skill; of a dry run: how it would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// New in the service.
    Created,
    /// A new version in the service.
    Updated,
    /// Written into the folder.
    Written,
    /// Deleted in the service.
    Deleted,
    /// Removed from the folder.
    Removed,
    /// The service has something newer.
    Behind,
    /// Deleted in the service, and in the folder still.
    Gone,
    /// Gone from the folder, and in the service still.
    Missing,
    /// Not deleted, since too many would go.
    Kept,
    /// Both have changed.
    Conflict,
    /// The same as another one, which was taken.
    Duplicate,
    /// It waits for a person.
    Waiting,
    Refused,
    /// Not tried, since the sync stopped before.
    NotSent,
}

/// Outcomes, the word for each, and what its number is called in the summary; most telling first.
const WORDS: [(Outcome, &str, &str); 14] = [
    (Outcome::Created, "created", ""),
    (Outcome::Updated, "updated", ""),
    (Outcome::Written, "written", ""),
    (Outcome::Deleted, "deleted", ""),
    (Outcome::Removed, "removed", ""),
    (Outcome::Duplicate, "same", "the same as another"),
    (Outcome::Waiting, "waits", "waiting for review"),
    (Outcome::Behind, "behind", "behind"),
    (Outcome::Gone, "gone", "gone from the service"),
    (Outcome::Missing, "missing", "missing from the folder"),
    (Outcome::NotSent, "not sent", "not sent"),
    (Outcome::Kept, "kept", "kept"),
    (Outcome::Conflict, "conflict", "in conflict"),
    (Outcome::Refused, "refused", "refused"),
];
/// Skills with one outcome that are named.
const TOLD: usize = 10;

/// What became of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(super) struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// The user's own path, where the folder has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    pub(super) outcome: Outcome,
    /// The version that the service has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// What became of all of it.
#[derive(Default)]
pub(super) struct Report {
    pub(super) folder: String,
    pub(super) is_dry: bool,
    /// Skills of the folder that can be read.
    pub(super) indexed: usize,
    /// All that are not simply the same on both sides.
    pub(super) skills: Vec<Entry>,
    pub(super) left_out: Vec<LeftOut>,
    /// Why it stopped before its end.
    pub(super) stopped: Option<Refusal>,
}

impl Report {
    /// Whether nothing waits for somebody to mend or decide it.
    pub(super) fn is_complete(&self) -> bool {
        let open = |entry: &Entry| {
            matches!(entry.outcome, Outcome::Conflict | Outcome::Kept | Outcome::Refused | Outcome::NotSent)
        };
        self.stopped.is_none() && !self.skills.iter().any(open)
    }

    fn count(&self, outcomes: &[Outcome]) -> usize {
        self.skills.iter().filter(|entry| outcomes.contains(&entry.outcome)).count()
    }

    fn reconciled(&self) -> usize {
        self.count(&[Outcome::Created, Outcome::Updated, Outcome::Written])
    }

    fn removed(&self) -> usize {
        self.count(&[Outcome::Deleted, Outcome::Removed])
    }

    /// One document with all of it.
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

    /// Lines for a person: what was done, then what is open. The summary comes behind both.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let left_out: Vec<(&str, &str)> =
            self.left_out.iter().map(|file| (file.path.as_str(), file.reason.as_str())).collect();
        tell_by_reason(&mut lines, "left out", &left_out, false);
        for (outcome, word, _) in WORDS {
            let all: Vec<&Entry> = self.skills.iter().filter(|entry| entry.outcome == outcome).collect();
            let told = if outcome == Outcome::Conflict { all.len() } else { TOLD };
            if all.iter().all(|entry| entry.reason.is_some()) && outcome != Outcome::Conflict {
                let reasons: Vec<(&str, &str)> =
                    all.iter().map(|entry| (entry.title(), entry.reason.as_deref().unwrap_or_default())).collect();
                tell_by_reason(&mut lines, word, &reasons, false);
                continue;
            }
            lines.extend(all.iter().take(told).map(|entry| entry.line(word)));
            if all.len() > told {
                lines.push(format!("{word:<9} and {} more", all.len() - told));
            }
        }
        if let Some(refusal) = &self.stopped {
            lines.push(format!("stopped   {refusal}"));
        }
        lines
    }

    /// The summary.
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

impl Outcome {
    /// Whether something was done: it is news each time.
    pub(super) fn is_done(self) -> bool {
        matches!(self, Self::Created | Self::Updated | Self::Written | Self::Deleted | Self::Removed)
    }

    fn of(entry: &sent::Entry) -> Self {
        match entry.outcome {
            // There was a change between the look and the write, and the service has seen it.
            sent::Outcome::Refused if entry.code.as_deref() == Some("version-conflict") => Self::Conflict,
            sent::Outcome::Refused => Self::Refused,
            sent::Outcome::Created => Self::Created,
            sent::Outcome::Updated | sent::Outcome::Unchanged => Self::Updated,
            sent::Outcome::Duplicate => Self::Duplicate,
            sent::Outcome::Waiting => Self::Waiting,
            sent::Outcome::NotSent => Self::NotSent,
        }
    }
}

impl Entry {
    /// The same of what was sent.
    pub(super) fn of(entry: sent::Entry) -> Self {
        let outcome = Outcome::of(&entry);
        let same = entry.same_as.map(|path| format!("it is the same as {path}"));
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
