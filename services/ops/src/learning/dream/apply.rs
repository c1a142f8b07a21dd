//! Applies operations of a dream run. Operations without a failed check become changes in one transaction.

mod halt;
mod merge;

use std::collections::BTreeMap;

use knowhow_domain::learning::dream::{OpOutcome, Operation};
use knowhow_domain::skills::manifest;
use knowhow_domain::{ChangeKind, Check, Error, Result, SkillDocument, SkillId, SkillName, Source};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams;
use knowhow_store::review::submissions;
use knowhow_store::skills::{self, AdditionalReads, Locked, SkillKey};

use uuid::Uuid;

pub(super) use self::halt::Halt;
use self::halt::{Applied, conflict, of_this_op, refuse};
use self::merge::{Merge, merge};
use super::journal::{Archived, JournalStep, JournalledChange, JournalledCreation};
use crate::change::Successor;
use crate::change::checks as review_checks;
use crate::change::draft::{Base, Draft, Reviewed};
use crate::skills::delete::{self, NAMES, SkillToDelete};
use crate::{Ctx, compute};

/// Author of changes made by dreams. Actor names of callers contain a colon, so no caller has this name.
pub(crate) const AUTHOR: &str = "dream";

/// An operation to apply.
pub(super) struct Applying<'a> {
    pub(super) operation: &'a Operation,
    /// The sources of taint of the sessions that the operation is based on.
    pub(super) tainted_by: &'a [String],
    /// The sessions that the operation is based on.
    pub(super) sessions: &'a [Uuid],
    /// The version of each skill that the model saw, by the skill's name.
    pub(super) bases: &'a BTreeMap<String, i32>,
    /// Review checks that have already run.
    pub(super) checks: &'a [Check],
    /// Whether a person approved the operation.
    pub(super) by_person: bool,
    /// Whether a patch answers failures of its skill, and not a request that the skill did not cover.
    pub(super) answers_failures: bool,
    /// The source of new skills.
    pub(super) source: Source,
}

/// Applies one operation in an open transaction. Returns its steps, for the journal.
///
/// # Errors
/// `Halt::Op` if only this operation is not applied; `Halt::Fault` if the transaction has failed.
pub(super) async fn apply(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>) -> Applied<Vec<JournalStep>> {
    match of.operation {
        Operation::Create { name, .. } | Operation::Parent { name, .. } => {
            make(ctx, tx, of, name).await.map(|made| vec![JournalStep::Made(made)])
        }
        Operation::Patch { name, version, .. } => {
            let current = open_at(lock_one(tx, name).await?, name, *version)?;
            refuse_taint(of, &current)?;
            // Evidence that is older than the last version of the kind `optimize` is not used again.
            let kind = if of.answers_failures { ChangeKind::Optimize } else { ChangeKind::Patch };
            change(ctx, tx, of, LockedSkill { kind, current }).await.map(|step| vec![step])
        }
        Operation::SeeAlso { name, .. } => {
            let Some(current) = lock_one(tx, name).await? else { return conflict(format!("'{name}' was deleted")) };
            let version = current.skill.version;
            let current = open_at(Some(current), name, version)?;
            change(ctx, tx, of, LockedSkill { kind: ChangeKind::Patch, current }).await.map(|step| vec![step])
        }
        Operation::Merge { into, sources, .. } => merge(ctx, tx, of, Merge { into, sources }).await,
        Operation::Archive { name, version, absorbed_into, .. } => {
            let found = lock(tx, [name.as_str(), absorbed_into.as_str()]).await?;
            let [skill, into] = two(found)?;
            let skill = open_at(skill, name, *version)?;
            let Some(into) = into else { return conflict(format!("'{absorbed_into}' was deleted")) };
            // The operation is based on a comparison with this text, so it must be unchanged.
            if of.bases.get(absorbed_into).is_some_and(|shown| !into.is_at(*shown)) {
                return conflict(format!("'{absorbed_into}' has changed since it was read"));
            }
            check_room(ctx, tx, absorbed_into, &[&into, &skill]).await?;
            let into = Successor { id: into.skill.id, name: into.skill.name };
            Ok(vec![absorb(ctx, tx, &skill, &into).await?])
        }
    }
}

/// Builds the text that replaces the skill's current text. Runs on a blocking thread.
async fn written(ctx: &Ctx, of: &Applying<'_>, now: Option<&Locked>) -> Applied<SkillDocument> {
    let (operation, limits) = (of.operation.clone(), ctx.app.limits.clone());
    let now = now.map(|locked| locked.skill.document.clone());
    let written = compute(move || {
        let now = now.map(|raw| SkillDocument::parse_named(&raw, &limits.with_unbounded_body())).transpose()?;
        operation.document(now.as_ref(), &limits)?.ok_or_else(|| Error::internal("the operation writes no text"))
    });
    written.await.map_err(of_this_op)
}

async fn make(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, name: &str) -> Applied<JournalledCreation> {
    if lock_one(tx, name).await?.is_some() {
        return conflict(format!("a skill '{name}' exists by now"));
    }
    write_made(ctx, tx, of, ChangeKind::Save).await
}

/// Rejects a name that already redirects to another skill.
async fn refuse_old_name(tx: &mut WriteTx, name: &str) -> Applied<()> {
    match skills::explain_miss_in(tx, name).await?.successor {
        Some(successor) => refuse(format!("'{name}' is an old name of '{successor}'")),
        None => Ok(()),
    }
}

/// Writes a new skill.
async fn write_made(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, kind: ChangeKind) -> Applied<JournalledCreation> {
    let name = of.operation.target();
    refuse_old_name(tx, name).await?;
    let skill_name = SkillName::parse(name).map_err(of_this_op)?;
    skill_name.require_unreserved().map_err(of_this_op)?;
    let draft = Draft::new(kind, skill_name, written(ctx, of, None).await?);
    let document = draft.document.raw().to_owned();
    let digest = digest_of(&draft);
    let WrittenSkill { skill, name, .. } = write(ctx, tx, of, Drafted { draft, locked: None }).await?;
    Ok(JournalledCreation { skill, name, digest, document })
}

/// A locked skill and the kind of change to make to it.
struct LockedSkill {
    kind: ChangeKind,
    current: Locked,
}

/// Replaces a skill's text with the text of the operation.
async fn change(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, over: LockedSkill) -> Applied<JournalStep> {
    let LockedSkill { kind, current } = over;
    let document = written(ctx, of, Some(&current)).await?;
    let before = current.skill.document.clone();
    let after = document.raw().to_owned();
    if before == after {
        return refuse("it changes nothing");
    }
    let draft = Draft { derived: true, ..Draft::of(kind, &current, document).map_err(of_this_op)? };
    let digest = digest_of(&draft);
    let WrittenSkill { skill, version, name } = write(ctx, tx, of, Drafted { draft, locked: Some(current) }).await?;
    Ok(JournalStep::Changed(JournalledChange { skill, name, version, digest, before, after }))
}

/// Returns the hex SHA-256 of a draft's state.
fn digest_of(draft: &Draft) -> String {
    manifest::hex(&manifest::state_digest(&draft.document.digest(), &draft.resources))
}

/// A draft, and the locked skill that the draft replaces.
struct Drafted {
    draft: Draft,
    locked: Option<Locked>,
}

/// A written skill.
struct WrittenSkill {
    skill: SkillId,
    version: i32,
    name: String,
}

/// Runs the review checks on a draft. Writes the draft if no check holds it or a person approved it.
async fn write(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, drafted: Drafted) -> Applied<WrittenSkill> {
    let Drafted { draft, locked } = drafted;
    let base = locked.as_ref().map(|locked| &locked.skill);
    let mut checks = review_checks::check_proposed(ctx, tx, &draft, base).await.map_err(of_this_op)?;
    checks.extend(of.checks.iter().cloned());
    if !of.by_person && review_checks::holds(&checks) {
        let reasons = checks.iter().flat_map(|check| check.reasons.clone()).collect();
        return Err(Halt::Op(OpOutcome::Waiting, reasons, checks));
    }
    let reviewed = Reviewed { author: AUTHOR.to_owned(), session: None, checks, by_person: of.by_person };
    let brought = (!of.tainted_by.is_empty()).then(|| of.tainted_by.to_vec());
    let named = of.sessions.iter().map(Uuid::to_string).collect();
    let draft = Draft { reviewed: Some(reviewed), brought, named, ..draft };
    let now = ctx.now();
    let base = Base { locked, source: of.source, is_bulk: !of.by_person, now, expected: None };
    let written = draft.write(ctx, tx, base).await.map_err(of_this_op)?;
    if of.by_person && written.written.is_some() {
        submissions::approve_version(tx, written.skill.id, written.skill.version, now);
    }
    let skill = written.skill;
    Ok(WrittenSkill { skill: skill.id, version: skill.version, name: skill.name })
}

/// Checks that skills can be merged. The archive must be enabled, as an undo needs it, and the merged skill may have
/// at most `NAMES` other names.
async fn check_room(ctx: &Ctx, tx: &mut WriteTx, into: &str, joined: &[&Locked]) -> Applied<()> {
    if ctx.principal.settings().archive_days == 0 {
        return refuse("the tenant has no archive, so the change could not be undone");
    }
    let ids: Vec<SkillId> = joined.iter().map(|skill| skill.skill.id).collect();
    let leaving = joined.iter().filter(|skill| skill.skill.name != into).count() as i64;
    match skills::count_names(tx, &ids).await? + leaving > NAMES {
        true => refuse(format!("'{into}' would have more than {NAMES} other names, the limit")),
        false => Ok(()),
    }
}

/// Archives an absorbed skill, and moves its data to the absorbing skill.
async fn absorb(ctx: &Ctx, tx: &mut WriteTx, source: &Locked, into: &Successor) -> Result<JournalStep> {
    let skill = &source.skill;
    let absorbed = dreams::absorb(tx, skill.id, into.id).await?;
    let deletion = SkillToDelete { skill, successor: Some(into), is_reviewed: false };
    let archive = delete::archive(ctx, tx, deletion).await?;
    Ok(JournalStep::Archived(Box::new(Archived {
        skill: skill.id,
        name: skill.name.clone(),
        archive,
        into: into.id,
        into_name: into.name.clone(),
        document: skill.document.clone(),
        kept: absorbed.kept,
        absorbed_mentions: absorbed.mentions,
        absorbed_relations: absorbed.relations,
    })))
}

/// Leaves the decision to a person if the skill's current text is tainted.
fn refuse_taint(of: &Applying<'_>, current: &Locked) -> Applied<()> {
    if current.skill.tainted && !of.by_person {
        let reason = format!("text of '{}' comes from untrusted content; a person has to decide", current.skill.name);
        return Err(Halt::Op(OpOutcome::Waiting, vec![reason], Vec::new()));
    }
    Ok(())
}

/// Returns the locked skill. Rejects a skill that has changed since it was read, or that background processes must not
/// change.
fn open_at(current: Option<Locked>, name: &str, version: i32) -> Applied<Locked> {
    let Some(current) = current else { return conflict(format!("'{name}' was deleted")) };
    if !current.is_at(version) {
        let now = current.skill.version;
        return conflict(format!("'{name}' has changed since it was read: version {now}, not {version}"));
    }
    let is_open = current.skill.source.is_open_to_learning();
    if current.skill.pinned || !is_open {
        return refuse(format!(
            "'{name}' is pinned or was written by a person, so background processes do not change it"
        ));
    }
    Ok(current)
}

/// Locks the skills with these names. Returns them in the order of the names; `None` for a name without a skill.
pub(super) async fn lock(tx: &mut WriteTx, names: impl IntoIterator<Item = &str>) -> Result<Vec<Option<Locked>>> {
    let keys: Vec<SkillKey> = names.into_iter().map(|name| SkillKey::Name(name.to_owned())).collect();
    skills::lock_all(tx, &keys, &AdditionalReads::default()).await
}

async fn lock_one(tx: &mut WriteTx, name: &str) -> Result<Option<Locked>> {
    Ok(lock(tx, [name]).await?.pop().flatten())
}

fn two(found: Vec<Option<Locked>>) -> Result<[Option<Locked>; 2]> {
    found.try_into().map_err(|_| Error::internal("two keys must give two answers"))
}
