//! Rebases a submission: proposes the change again, on the basis of the current state of the skill.

use std::collections::BTreeSet;

use knowhow_domain::text::diff;
use knowhow_domain::{
    Error, ResourceEntry, Result, Scope, SkillDocument, SkillName, Submission, SubmissionId, SubmissionKind,
    SubmissionState,
};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, Undecided};
use knowhow_store::skills::Locked;
use knowhow_store::skills::versions;

use super::offer::{is_offer, renew};
use super::owner::access_submission_owner;
use crate::change::draft::Draft;
use crate::change::hold::{ReviewOptions, propose};
use crate::change::{ProposedChange, SkillChange, Successor, Target};
use crate::context::call::{CallMetadata, SessionRef};
use crate::{Ctx, compute};

/// Selects a submission to rebase.
#[derive(Debug, Clone, Default)]
pub struct Rebase {
    pub id: SubmissionId,
    /// The header `Knowhow-Reason`. It is required if an admin rebases another user's submission.
    pub reason: Option<String>,
}

/// Proposes a change again for the current state of the skill, with a three-way merge. The old submission becomes
/// `stale`. The new submission keeps submitter, source and taint, and requires a reviewer. An offer of a newer starter
/// is made again, with or without a conflict.
///
/// # Errors
/// `NotFound`; `Conflict` `decided` if the submission is already decided; `Conflict` `current` if the skill has not
/// changed; `Conflict` `merge-conflict` if skill and submission changed the same lines.
pub async fn rebase_submission(ctx: &Ctx, input: &Rebase) -> Result<Submission> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let reached = access_submission_owner(ctx, input.id, input.reason.as_deref()).await?;
    let sees_text = reached.sees_text();
    let mut tx = WriteTx::begin(&ctx.app.db, &reached.ctx.principal, "submissions.rebase").await?;
    let old = submissions::read_undecided(&mut tx, input.id).await?;
    tx.commit().await?;
    if !old.submission.state.waits() && old.submission.state != SubmissionState::Stale {
        let detail = format!("the submission is {}; only a waiting or stale one can be rebased", old.submission.state);
        return Err(Error::Conflict { code: "decided", detail });
    }
    if old.submission.kind == SubmissionKind::Share {
        let detail = "the library has changed since: share the skill again".into();
        return Err(Error::Conflict { code: "stale", detail });
    }
    if is_offer(&old.submission) {
        let submission = renew(&Ctx { call: CallMetadata::default(), ..reached.ctx }, &old).await?;
        return Ok(if sees_text { submission } else { submission.without_findings() });
    }
    let session = old.submission.session.as_deref().and_then(|session| SessionRef::parse(session).ok());
    let ctx = Ctx { call: CallMetadata { session, by_agent: true, ..CallMetadata::default() }, ..reached.ctx.clone() };
    let name = SkillName::parse(&old.submission.skill)?;
    let change = Rebased { old, name };
    let replaced = &change.old.submission;
    let options = ReviewOptions {
        reason: replaced.reason.as_deref(),
        submitter: Some(&replaced.author),
        waits: true,
        replaces: replaced.state.waits().then_some(replaced.id),
        ..ReviewOptions::default()
    };
    let submission = propose(&ctx, &change, options).await?;
    Ok(if sees_text { submission } else { submission.without_findings() })
}

/// A change that merges a submission with the current state of its skill.
struct Rebased {
    old: Undecided,
    name: SkillName,
}

impl SkillChange for Rebased {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        if current.map(|current| current.skill.digest.as_slice()) == self.old.base_digest.as_deref() {
            return Err(still_current());
        }
        let Some(proposed) = &self.old.document else {
            // A deletion needs no merge.
            let successor = self.old.successor.clone();
            return Ok(ProposedChange::Delete(successor.map(|(id, name)| Successor { id, name })));
        };
        let base = match self.old.skill {
            Some(skill) => versions::find(tx, skill, self.old.submission.base_version).await?,
            None => None,
        };
        let (base, base_files) = base.map(|base| (base.document, base.resources)).unwrap_or_default();
        let (now, now_files) = match current {
            Some(current) => (current.skill.document.clone(), current.skill.resources.clone()),
            None => (base.clone(), base_files.clone()),
        };
        let resources = merge_files(&base_files, &now_files, &self.old.resources)?;
        let proposed = proposed.clone();
        let merged = compute(move || merge(&base, &now, &proposed)).await?;
        let limits = ctx.app.limits.with_unbounded_body();
        let document = SkillDocument::parse_named(&merged, &limits)?;
        let tainted = self.old.submission.tainted;
        let draft = Draft {
            resources,
            new_files: self.old.files.clone(),
            pinned: self.old.pinned,
            derived: true,
            brought: tainted.then(|| self.old.submission.tainted_by.clone()),
            ..Draft::new(self.old.submission.kind.change(), self.name.clone(), document)
        };
        Ok(ProposedChange::Write(Box::new(draft)))
    }
}

pub(super) fn still_current() -> Error {
    let detail = "the skill has not changed since this was proposed, so no rebase is needed; decide on it".into();
    Error::Conflict { code: "current", detail }
}

/// Merges the current and the proposed text, which both derive from `base`.
fn merge(base: &str, current: &str, proposed: &str) -> Result<String> {
    diff::merge(base, current, proposed).map_err(|_| {
        let detail = "the skill and the proposal changed the same lines of SKILL.md; propose the change again on the current \
                      version";
        Error::Conflict { code: "merge-conflict", detail: detail.into() }
    })
}

/// Merges the current and the proposed resources. Each file is merged as a whole, not by lines.
fn merge_files(
    base: &[ResourceEntry],
    current: &[ResourceEntry],
    proposed: &[ResourceEntry],
) -> Result<Vec<ResourceEntry>> {
    let paths: BTreeSet<&str> =
        [base, current, proposed].into_iter().flatten().map(|entry| entry.path.as_str()).collect();
    let at = |files: &'_ [ResourceEntry], path: &str| files.iter().find(|entry| entry.path == path).cloned();
    let mut merged = Vec::new();
    for path in paths {
        let (base, current, proposed) = (at(base, path), at(current, path), at(proposed, path));
        let kept = match () {
            () if current == proposed || base == proposed => current,
            () if base == current => proposed,
            () => {
                let detail = format!(
                    "the skill and the proposal both changed '{path}'; propose the change again on the current version"
                );
                return Err(Error::Conflict { code: "merge-conflict", detail });
            }
        };
        merged.extend(kept);
    }
    Ok(merged)
}

#[cfg(test)]
mod tests;
