//! Applying: the operations of a run that nothing holds become changes, all in one transaction.

mod halt;
mod merge;

use std::collections::BTreeMap;

use knowhow_domain::dream::{OpOutcome, Operation};
use knowhow_domain::{ChangeKind, Check, Error, Result, SkillDocument, SkillId, SkillName, Source, manifest};
use knowhow_store::skills::{self, Beside, Locked, SkillKey};
use knowhow_store::{WriteTx, dreams, submissions};

use uuid::Uuid;

pub(super) use self::halt::Halt;
use self::halt::{Applied, conflict, of_this_op, refuse};
use self::merge::{Merge, merge};
use super::journal::{Archived, Changed, Made, Step};
use crate::skills::change::Successor;
use crate::skills::delete::{self, Going, NAMES};
use crate::skills::draft::{Base, Draft, Reviewed};
use crate::{Ctx, compute, review};

/// Who writes what a dream changes. No caller is called so: theirs have a colon.
pub(crate) const AUTHOR: &str = "dream";

/// An operation that is applied.
pub(super) struct Applying<'a> {
    pub(super) operation: &'a Operation,
    /// What the conversations had read that it was made of.
    pub(super) tainted_by: &'a [String],
    /// The conversations that it is made of.
    pub(super) sessions: &'a [Uuid],
    /// The versions of the skills that it names, as they were shown.
    pub(super) bases: &'a BTreeMap<String, i32>,
    /// Steps of the review that were taken already.
    pub(super) checks: &'a [Check],
    /// Whether a person has let it in.
    pub(super) by_person: bool,
    /// Who is noted as having first written what is new.
    pub(super) source: Source,
}

/// Applies one operation in an open transaction; the steps that it came to.
///
/// # Errors
/// See [`Halt`].
pub(super) async fn apply(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>) -> Applied<Vec<Step>> {
    match of.operation {
        Operation::Create { name, .. } | Operation::Parent { name, .. } => {
            make(ctx, tx, of, name).await.map(|made| vec![Step::Made(made)])
        }
        Operation::Patch { name, version, .. } => {
            let current = open_at(lock_one(tx, name).await?, name, *version)?;
            refuse_taint(of, &current)?;
            change(ctx, tx, of, Over { kind: ChangeKind::Optimize, current }).await.map(|step| vec![step])
        }
        Operation::SeeAlso { name, .. } => {
            let Some(current) = lock_one(tx, name).await? else { return conflict(format!("'{name}' is gone")) };
            let version = current.skill.version;
            let current = open_at(Some(current), name, version)?;
            change(ctx, tx, of, Over { kind: ChangeKind::Optimize, current }).await.map(|step| vec![step])
        }
        Operation::Merge { into, sources, .. } => merge(ctx, tx, of, Merge { into, sources }).await,
        Operation::Archive { name, version, absorbed_into, .. } => {
            let found = lock(tx, [name.as_str(), absorbed_into.as_str()]).await?;
            let [skill, into] = two(found)?;
            let skill = open_at(skill, name, *version)?;
            let Some(into) = into else { return conflict(format!("'{absorbed_into}' is gone")) };
            // What it says was compared: it must say so still.
            if of.bases.get(absorbed_into).is_some_and(|shown| !into.is_at(*shown)) {
                return conflict(format!("'{absorbed_into}' has changed since it was read"));
            }
            check_room(ctx, tx, absorbed_into, &[&into, &skill]).await?;
            let into = Successor { id: into.skill.id, name: into.skill.name };
            Ok(vec![absorb(ctx, tx, &skill, &into).await?])
        }
    }
}

/// The text that the operation makes, over the one that a skill has now. It is made off the threads of requests.
async fn written(ctx: &Ctx, of: &Applying<'_>, now: Option<&Locked>) -> Applied<SkillDocument> {
    let (operation, limits) = (of.operation.clone(), ctx.app.limits.clone());
    let now = now.map(|locked| locked.skill.document.clone());
    let written = compute(move || {
        let now = now.map(|raw| SkillDocument::parse_named(&raw, &limits.with_unbounded_body())).transpose()?;
        operation.document(now.as_ref(), &limits)?.ok_or_else(|| Error::internal("an operation that writes no text"))
    });
    written.await.map_err(of_this_op)
}

async fn make(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, name: &str) -> Applied<Made> {
    if lock_one(tx, name).await?.is_some() {
        return conflict(format!("there is a skill '{name}' by now"));
    }
    write_made(ctx, tx, of, ChangeKind::Save).await
}

/// A name that leads to another skill keeps leading there.
async fn refuse_old_name(tx: &mut WriteTx, name: &str) -> Applied<()> {
    match skills::explain_miss_in(tx, name).await?.successor {
        Some(successor) => refuse(format!("'{name}' is an old name of '{successor}'")),
        None => Ok(()),
    }
}

/// Writes a skill that is new.
async fn write_made(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, kind: ChangeKind) -> Applied<Made> {
    let name = of.operation.target();
    refuse_old_name(tx, name).await?;
    let skill_name = SkillName::parse(name).map_err(of_this_op)?;
    skill_name.require_unreserved().map_err(of_this_op)?;
    let draft = Draft::new(kind, skill_name, written(ctx, of, None).await?);
    let document = draft.document.raw().to_owned();
    let digest = digest_of(&draft);
    let Written { skill, name, .. } = write(ctx, tx, of, Drafted { draft, locked: None }).await?;
    Ok(Made { skill, name, digest, document })
}

/// A skill that is locked, to be given another text.
struct Over {
    kind: ChangeKind,
    current: Locked,
}

/// Gives a skill the text that the operation makes of its own.
async fn change(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, over: Over) -> Applied<Step> {
    let Over { kind, current } = over;
    let document = written(ctx, of, Some(&current)).await?;
    let before = current.skill.document.clone();
    let after = document.raw().to_owned();
    if before == after {
        return refuse("it changes nothing");
    }
    let draft = Draft { derived: true, ..Draft::of(kind, &current, document).map_err(of_this_op)? };
    let digest = digest_of(&draft);
    let Written { skill, version, name } = write(ctx, tx, of, Drafted { draft, locked: Some(current) }).await?;
    Ok(Step::Changed(Changed { skill, name, version, digest, before, after }))
}

/// SHA-256 of the state that a draft makes, hex.
fn digest_of(draft: &Draft) -> String {
    manifest::hex(&manifest::state_digest(&draft.document.digest(), &draft.resources))
}

/// What is to be written, and over which skill where there is one.
struct Drafted {
    draft: Draft,
    locked: Option<Locked>,
}

/// A skill that was written.
struct Written {
    skill: SkillId,
    version: i32,
    name: String,
}

/// Takes a draft through the review, and writes it where nothing holds it or a person has let it in.
async fn write(ctx: &Ctx, tx: &mut WriteTx, of: &Applying<'_>, drafted: Drafted) -> Applied<Written> {
    let Drafted { draft, locked } = drafted;
    let base = locked.as_ref().map(|locked| &locked.skill);
    let mut checks = review::check_proposed(ctx, tx, &draft, base).await.map_err(of_this_op)?;
    checks.extend(of.checks.iter().cloned());
    if !of.by_person && review::holds(&checks) {
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
    Ok(Written { skill: skill.id, version: skill.version, name: skill.name })
}

/// Checks that skills can become one: there is an archive to undo it from, and it may answer to all of their names.
async fn check_room(ctx: &Ctx, tx: &mut WriteTx, into: &str, joined: &[&Locked]) -> Applied<()> {
    if ctx.principal.settings().archive_days == 0 {
        return refuse("the tenant keeps no archive, so nothing could be undone");
    }
    let ids: Vec<SkillId> = joined.iter().map(|skill| skill.skill.id).collect();
    let leaving = joined.iter().filter(|skill| skill.skill.name != into).count() as i64;
    match skills::count_names(tx, &ids).await? + leaving > NAMES {
        true => refuse(format!("'{into}' would answer to more than {NAMES} other names, the limit")),
        false => Ok(()),
    }
}

/// Archives a skill that another one absorbs, with all that it has.
async fn absorb(ctx: &Ctx, tx: &mut WriteTx, source: &Locked, into: &Successor) -> Result<Step> {
    let skill = &source.skill;
    let absorbed = dreams::absorb(tx, skill.id, into.id).await?;
    let going = Going { skill, successor: Some(into), is_reviewed: false };
    let archive = delete::archive(ctx, tx, going).await?;
    Ok(Step::Archived(Box::new(Archived {
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

/// Leaves to a person what is made of a text that turned out not to be trusted.
fn refuse_taint(of: &Applying<'_>, current: &Locked) -> Applied<()> {
    if current.skill.tainted && !of.by_person {
        let reason =
            format!("text of '{}' comes from what is not to be trusted; a person will look at it", current.skill.name);
        return Err(Halt::Op(OpOutcome::Waiting, vec![reason], Vec::new()));
    }
    Ok(())
}

/// Refuses a skill that has changed since it was read, or that no background process may change.
fn open_at(current: Option<Locked>, name: &str, version: i32) -> Applied<Locked> {
    let Some(current) = current else { return conflict(format!("'{name}' is gone")) };
    if !current.is_at(version) {
        let now = current.skill.version;
        return conflict(format!("'{name}' has changed since it was read: version {now}, not {version}"));
    }
    let is_open = current.skill.source.parse().is_ok_and(Source::is_open_to_learning);
    if current.skill.pinned || !is_open {
        return refuse(format!("'{name}' is pinned, or was written by a person: no background process changes it"));
    }
    Ok(current)
}

/// Locks the skills of these names, in their order.
pub(super) async fn lock(tx: &mut WriteTx, names: impl IntoIterator<Item = &str>) -> Result<Vec<Option<Locked>>> {
    let keys: Vec<SkillKey> = names.into_iter().map(|name| SkillKey::Name(name.to_owned())).collect();
    skills::lock_all(tx, &keys, &Beside::default()).await
}

async fn lock_one(tx: &mut WriteTx, name: &str) -> Result<Option<Locked>> {
    Ok(lock(tx, [name]).await?.pop().flatten())
}

fn two(found: Vec<Option<Locked>>) -> Result<[Option<Locked>; 2]> {
    found.try_into().map_err(|_| Error::internal("two keys, and not two answers"))
}
