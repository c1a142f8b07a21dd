//! Changes skills, for every caller, job and import. The steps, in their order:
//!
//! 1. `proposal`: a verb describes its change as a [`SkillChange`], with the new state in a `draft`;
//! 2. `locate`: the skill is found and locked; `cached` skips this if this process has the skill in its cache;
//! 3. `checks` and `scan`: limits of the tenant, allowed tools and the scanner decide whether a reviewer is needed;
//!    `guard` rejects changes that cannot be stored as a submission;
//! 4. `write` queues version, files, counts and follow-up jobs in one statement, within `limits`;
//! 5. `hold` stores the change as a submission instead, if a reviewer is needed;
//! 6. `after_commit` updates caches, the search index and vectors.
//!
//! `run` puts the steps together. [`change_in`] runs several changes in one transaction.

pub(crate) mod after_commit;
mod cached;
pub(crate) mod checks;
pub(crate) mod draft;
pub(crate) mod guard;
pub(crate) mod hold;
mod limits;
mod locate;
mod proposal;
pub(crate) mod review_policy;
mod run;
pub(crate) mod scan;
pub(crate) mod stored_answers;
pub(crate) mod submission_draft;
mod write;

pub(crate) use after_commit::Aftermath;
pub(crate) use draft::Replaced;
pub(crate) use locate::lock_target;
pub(crate) use proposal::{
    ChangeResult, ProposedChange, SkillChange, SkillVerb, Successor, Target, author, check_version, existing,
};
pub(crate) use run::{carry_out, change_in, change_skill};
