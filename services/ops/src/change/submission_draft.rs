//! The proposed result of a change, which can be stored as a submission or applied.

use knowhow_domain::skills::manifest;
use knowhow_domain::{Check, Error, Result, Source, SubmissionKind};
use knowhow_store::WriteTx;
use knowhow_store::review::submissions::{self, ModelReads, Proposed, Proposing};
use knowhow_store::skills::Locked;

use super::{checks, review_policy};
use crate::Ctx;
use crate::change::draft::{Base, Draft, Reviewed};
use crate::change::{SkillChange, Successor};
use crate::skills::delete::{SkillToDelete, archive};

pub(crate) enum DraftedChange {
    State(Box<Draft>),
    Gone(Option<Successor>),
}

/// The skill that a change is applied to, and the result of the review.
pub(crate) struct ChangeBase {
    pub(crate) locked: Option<Locked>,
    /// The source of a new skill.
    pub(crate) source: Source,
    /// Whether a reviewer has already approved exactly this change.
    pub(crate) approves: bool,
    pub(crate) checks: Vec<Check>,
}

impl DraftedChange {
    /// Returns the name of the skill; empty for a delete without a locked skill.
    pub(crate) fn name<'a>(&'a self, locked: Option<&'a Locked>) -> &'a str {
        match (self, locked) {
            (Self::State(draft), _) => draft.name.as_str(),
            (Self::Gone(_), Some(locked)) => &locked.skill.name,
            (Self::Gone(_), None) => "",
        }
    }

    /// Returns the digest of the new state; `None` for a delete.
    pub(crate) fn digest(&self) -> Option<[u8; 32]> {
        match self {
            Self::State(draft) => Some(manifest::state_digest(&draft.document.digest(), &draft.resources)),
            Self::Gone(_) => None,
        }
    }

    /// Returns the number of bytes to store until the submission is decided; 0 for a delete.
    pub(crate) fn bytes(&self) -> i64 {
        match self {
            Self::State(draft) => {
                let bytes = draft.document.raw().len() + draft.new_files.iter().map(Vec::len).sum::<usize>();
                i64::try_from(bytes).unwrap_or(i64::MAX)
            }
            Self::Gone(_) => 0,
        }
    }

    /// Runs the review checks.
    pub(crate) async fn checks(&self, ctx: &Ctx, tx: &mut WriteTx, locked: Option<&Locked>) -> Result<Vec<Check>> {
        match self {
            Self::State(draft) => {
                let base = locked.map(|locked| &locked.skill);
                checks::take(ctx, tx, checks::Reviewing { draft, base, is_submitted: true }).await
            }
            Self::Gone(_) => Ok(vec![review_policy::policy_check(ctx)]),
        }
    }

    /// Returns the submission to store, without submitter and reason.
    pub(crate) fn submission<'a>(
        &'a self,
        ctx: &'a Ctx,
        change: &impl SkillChange,
        locked: Option<&'a Locked>,
    ) -> Proposing<'a> {
        let result = match self {
            Self::State(draft) => Proposed {
                document: Some(draft.document.raw()),
                resources: &draft.resources,
                new_files: &draft.new_files,
                pinned: draft.pinned,
                request_digest: draft.request_digest,
                derived: draft.derived,
                brought: draft.brought.as_deref(),
                successor: None,
            },
            Self::Gone(successor) => Proposed {
                successor: successor.as_ref().map(|successor| (successor.id, successor.name.as_str())),
                ..Proposed::default()
            },
        };
        Proposing {
            skill: locked.map(|locked| locked.skill.id),
            name: self.name(locked),
            kind: self.kind(),
            source: change.source(ctx).as_str(),
            session: ctx.call.session.as_deref(),
            named: &[],
            submitter: None,
            reason: None,
            base: locked.map(|locked| (locked.skill.version, locked.skill.digest.as_slice())),
            result,
            checks: &[],
            model: ModelReads::Nothing,
            now: ctx.now(),
        }
    }

    fn kind(&self) -> SubmissionKind {
        match self {
            Self::Gone(_) => SubmissionKind::Delete,
            Self::State(draft) => draft.kind.into(),
        }
    }

    /// Applies the change. Returns the new version; `None` for a delete.
    pub(crate) async fn apply(self, ctx: &Ctx, tx: &mut WriteTx, over: ChangeBase) -> Result<Option<i32>> {
        let (now, ChangeBase { locked, source, approves, checks }) = (ctx.now(), over);
        match (self, locked) {
            (Self::Gone(successor), Some(locked)) => {
                let deletion =
                    SkillToDelete { skill: &locked.skill, successor: successor.as_ref(), is_reviewed: false };
                archive(ctx, tx, deletion).await?;
                Ok(None)
            }
            (Self::Gone(_), None) => Err(Error::internal("the skill to delete is missing")),
            (Self::State(draft), locked) => {
                let session = ctx.call.session.as_deref().map(str::to_owned);
                let author = ctx.principal.actor().to_owned();
                let reviewed = Some(Reviewed { author, session, checks, by_person: approves });
                let draft = Draft { reviewed, ..*draft };
                let base = Base { locked, source, is_bulk: true, now, expected: None };
                let changed = draft.write(ctx, tx, base).await?;
                if approves && changed.written.is_some() {
                    submissions::approve_version(tx, changed.skill.id, changed.skill.version, now);
                }
                Ok(Some(changed.skill.version))
            }
        }
    }
}
