//! Rebase: what was proposed for an older state is proposed for the current one.

use std::collections::BTreeSet;

use knowhow_domain::{
    Error, ResourceEntry, Result, Scope, SkillDocument, SkillName, Submission, SubmissionId, SubmissionKind,
    SubmissionState, diff,
};
use knowhow_store::skills::Locked;
use knowhow_store::submissions::{self, Undecided};
use knowhow_store::{WriteTx, versions};

use super::hold::{Asked, propose};
use super::offer::has_conflict;
use super::owner::reach;
use crate::call::{Call, SessionRef};
use crate::skills::change::{Proposal, SkillChange, Successor, Target};
use crate::skills::draft::Draft;
use crate::{Ctx, compute};

/// Which submission to rebase.
#[derive(Debug, Clone, Default)]
pub struct Rebase {
    /// Its id.
    pub id: SubmissionId,
    /// The header `Knowhow-Reason`, where an admin rebases what is another's.
    pub reason: Option<String>,
}

/// Proposes a change anew on the state that the skill has now, by a three-way merge. The old submission becomes `stale`; the
/// new one has its submitter, its origin and its taint, and waits for a person.
///
/// # Errors
/// `NotFound`; `Conflict` `decided`, `current` where the skill has not changed, `merge-conflict` where both changed the same
/// lines.
pub async fn rebase_submission(ctx: &Ctx, input: &Rebase) -> Result<Submission> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let reached = reach(ctx, input.id, input.reason.as_deref()).await?;
    let sees_text = reached.sees_text();
    let mut tx = WriteTx::begin(&ctx.app.db, &reached.ctx.principal, "submissions.rebase").await?;
    let old = submissions::read_undecided(&mut tx, input.id).await?;
    tx.commit().await?;
    if !old.submission.state.waits() && old.submission.state != SubmissionState::Stale {
        let detail =
            format!("the submission is {}; only one that waits or is stale can be rebased", old.submission.state);
        return Err(Error::Conflict { code: "decided", detail });
    }
    if old.submission.kind == SubmissionKind::Share {
        let detail = "the library has changed since: share the skill again".into();
        return Err(Error::Conflict { code: "stale", detail });
    }
    if has_conflict(&old.submission) {
        let detail = "its texts do not fit together: save one that joins both, and reject this".into();
        return Err(Error::Conflict { code: "merge-conflict", detail });
    }
    let session = old.submission.session.as_deref().and_then(|session| SessionRef::parse(session).ok());
    let ctx = Ctx { call: Call { session, by_agent: true, ..Call::default() }, ..reached.ctx.clone() };
    let name = SkillName::parse(&old.submission.skill)?;
    let change = Rebased { old, name };
    let replaced = &change.old.submission;
    let asked = Asked {
        reason: replaced.reason.as_deref(),
        submitter: Some(&replaced.author),
        waits: true,
        replaces: replaced.state.waits().then_some(replaced.id),
        ..Asked::default()
    };
    let submission = propose(&ctx, &change, asked).await?;
    Ok(if sees_text { submission } else { submission.without_findings() })
}

/// A submission on another base.
struct Rebased {
    old: Undecided,
    name: SkillName,
}

impl SkillChange for Rebased {
    fn target(&self) -> Target<'_> {
        Target::Named(&self.name)
    }

    async fn propose(&self, ctx: &Ctx, tx: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        if current.map(|current| current.skill.digest.as_slice()) == self.old.base_digest.as_deref() {
            let detail = "the skill is as it was when this was proposed; decide on it as it is".into();
            return Err(Error::Conflict { code: "current", detail });
        }
        let Some(proposed) = &self.old.document else {
            // A delete needs no merge.
            let successor = self.old.successor.clone();
            return Ok(Proposal::Delete(successor.map(|(id, name)| Successor { id, name })));
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
        Ok(Proposal::Write(Box::new(draft)))
    }
}

/// Both changes of a text.
fn merge(base: &str, current: &str, proposed: &str) -> Result<String> {
    diff::merge(base, current, proposed).map_err(|_| {
        let detail = "the skill and the proposal changed the same lines of SKILL.md; propose the change again on the current \
                      version";
        Error::Conflict { code: "merge-conflict", detail: detail.into() }
    })
}

/// Both changes of the files beside SKILL.md, each file whole.
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
                    "the skill and the proposal changed '{path}' both; propose it again on the current version"
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
