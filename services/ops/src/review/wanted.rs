//! What a change comes to: how it is written down as a submission, and how it is made.

use knowhow_domain::{Check, Error, Result, Source, SubmissionKind, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::Locked;
use knowhow_store::submissions::{self, ModelReads, Proposed, Proposing};

use super::checks;
use crate::Ctx;
use crate::skills::change::{SkillChange, Successor};
use crate::skills::delete::{Going, archive};
use crate::skills::draft::{Base, Draft, Reviewed};

/// What a change comes to.
pub(super) enum Wanted {
    State(Box<Draft>),
    Gone(Option<Successor>),
}

/// What a change is made over.
pub(super) struct Over {
    pub(super) locked: Option<Locked>,
    /// Who a new skill is by.
    pub(super) source: Source,
    /// Whether a person has approved exactly this before.
    pub(super) approves: bool,
    /// The steps that were taken.
    pub(super) checks: Vec<Check>,
}

impl Wanted {
    /// The name of the skill that it is about.
    pub(super) fn name<'a>(&'a self, locked: Option<&'a Locked>) -> &'a str {
        match (self, locked) {
            (Self::State(draft), _) => draft.name.as_str(),
            (Self::Gone(_), Some(locked)) => &locked.skill.name,
            (Self::Gone(_), None) => "",
        }
    }

    /// The digest of the state to be; `None` where the skill is to go.
    pub(super) fn digest(&self) -> Option<[u8; 32]> {
        match self {
            Self::State(draft) => Some(manifest::state_digest(&draft.document.digest(), &draft.resources)),
            Self::Gone(_) => None,
        }
    }

    /// What it takes to keep it until it is decided.
    pub(super) fn bytes(&self) -> i64 {
        match self {
            Self::State(draft) => {
                let bytes = draft.document.raw().len() + draft.new_files.iter().map(Vec::len).sum::<usize>();
                i64::try_from(bytes).unwrap_or(i64::MAX)
            }
            Self::Gone(_) => 0,
        }
    }

    /// Takes the steps of the review.
    pub(super) async fn checks(&self, ctx: &Ctx, tx: &mut WriteTx, locked: Option<&Locked>) -> Result<Vec<Check>> {
        match self {
            Self::State(draft) => {
                let base = locked.map(|locked| &locked.skill);
                checks::take(ctx, tx, checks::Reviewing { draft, base, is_submitted: true }).await
            }
            Self::Gone(_) => Ok(vec![checks::policy(ctx)]),
        }
    }

    /// How it is written down, but for who proposes it and why.
    pub(super) fn submission<'a>(
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

    /// Makes the change. The version that it becomes.
    pub(super) async fn apply(self, ctx: &Ctx, tx: &mut WriteTx, over: Over) -> Result<Option<i32>> {
        let (now, Over { locked, source, approves, checks }) = (ctx.now(), over);
        match (self, locked) {
            (Self::Gone(successor), Some(locked)) => {
                let going = Going { skill: &locked.skill, successor: successor.as_ref(), is_reviewed: false };
                archive(ctx, tx, going).await?;
                Ok(None)
            }
            (Self::Gone(_), None) => Err(Error::internal("a delete of no skill")),
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
