//! Undoes a run as a whole, in reverse order and in one transaction. Later edits by people are preserved.

mod offer;

use knowhow_domain::learning::dream::{OpOutcome, RunState, Undone};
use knowhow_domain::skills::manifest;
use knowhow_domain::text::diff;
use knowhow_domain::{ChangeKind, DreamId, Error, Result, SkillDocument, SkillName};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, EndedRun, OpState, SkillToRestore, StoredOp};
use knowhow_store::skills::{self, Locked, SkillKey};

use self::offer::{RestoreBefore, list_unoffered, offer};
use super::apply::{AUTHOR, lock};
use super::carry_out::settle;
use super::journal::{self, Archived, JournalStep, JournalledChange, JournalledCreation};
use super::resting::{REST, keys};
use crate::change::draft::{Base, Draft, Reviewed};
use crate::skills::delete::{self, SkillToDelete};
use crate::skills::follow_up;
use crate::{Ctx, compute};

/// Undoes a run. Idempotent.
///
/// # Errors
/// `NotFound`; `Conflict` `not-applied` for a run without changes, `undo-later-first` if a later run depends on this
/// run.
pub(super) async fn undo(ctx: &Ctx, id: DreamId) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.undo").await?;
    let (found, ops) = dreams::lock_with_ops(&mut tx, id).await?;
    let is_applied = |op: &&StoredOp| op.op.outcome == OpOutcome::Applied;
    if !ops.iter().any(|op| is_applied(&op)) {
        let detail = format!("the dream is {}; it has no applied operations", found.run.state);
        return Err(Error::Conflict { code: "not-applied", detail });
    }
    let mut applied = Vec::new();
    for op in ops.iter().filter(is_applied).filter(|op| op.op.undo.is_none()) {
        applied.push((op, journal::read(&op.journal)?));
    }
    refuse_before_later(&mut tx, id, applied.iter().flat_map(|(_, steps)| steps)).await?;
    let (mut states, mut touched, mut rests) = (Vec::new(), Vec::new(), Vec::new());
    let mut offers = list_unoffered(&mut tx, &ops).await?;
    for (op, steps) in applied.into_iter().rev() {
        let back = undo_steps(ctx, &mut tx, &steps).await?;
        rests.extend(keys(op, found.run.pass));
        offers.extend(back.offer.map(|offer| (op.op.position, offer)));
        states.push(OpState {
            position: op.op.position,
            undo: Some(back.undone),
            undo_reason: back.reason,
            ..OpState::default()
        });
        touched.extend(steps);
    }
    // Pending operations of the run are rejected too.
    for op in ops.iter().filter(|op| op.op.outcome.is_open()) {
        rests.extend(keys(op, found.run.pass));
        let (outcome, decided_by) = (Some(OpOutcome::Rejected), Some(ctx.principal.actor().to_owned()));
        states.push(OpState { position: op.op.position, outcome, decided_by, ..OpState::default() });
    }
    if !states.is_empty() {
        dreams::put_ops(&mut tx, id, &states);
        dreams::put_rests(&mut tx, rests, ctx.now() + REST);
        let ended = EndedRun { state: Some(RunState::Undone), is_undone: true, now: ctx.now(), ..EndedRun::default() };
        dreams::end(&mut tx, id, &ended);
    }
    tx.commit().await?;
    settle(ctx, &touched, true);
    offer(ctx, id, offers).await
}

/// Rejects the undo if a later run has archived a skill that this run changed, as another skill now has the archived
/// skill's data.
async fn refuse_before_later<'s>(
    tx: &mut WriteTx,
    id: DreamId,
    steps: impl Iterator<Item = &'s JournalStep>,
) -> Result<()> {
    let skill = |step: &JournalStep| match step {
        JournalStep::Made(made) => made.skill.0,
        JournalStep::Changed(changed) => changed.skill.0,
        JournalStep::Archived(archived) => archived.into.0,
    };
    let skills = steps.map(skill).collect();
    match dreams::find_later(tx, id, skills).await? {
        Some(later) => {
            let detail =
                format!("the later dream {later} has archived skills that this one changed; undo that one first");
            Err(Error::Conflict { code: "undo-later-first", detail })
        }
        None => Ok(()),
    }
}

/// The result of undoing an operation.
struct UndoResult {
    undone: Undone,
    reason: Option<String>,
    /// The previous text to offer, if later changes to the same lines prevented the undo.
    offer: Option<RestoreBefore>,
}

impl UndoResult {
    fn of(undone: Undone, reason: Option<String>) -> Self {
        Self { undone, reason, offer: None }
    }
}

/// Undoes the steps of one operation: restores archived skills first, then the previous text.
async fn undo_steps(ctx: &Ctx, tx: &mut WriteTx, steps: &[JournalStep]) -> Result<UndoResult> {
    let (mut reasons, mut all_back) = (Vec::new(), true);
    let mut has_archived = false;
    for step in steps.iter().rev() {
        let JournalStep::Archived(archived) = step else { continue };
        has_archived = true;
        match restore(ctx, tx, archived).await? {
            Some(name) if name == archived.name => {}
            Some(name) => reasons.push(format!("'{}' was restored as '{name}', as its name is taken", archived.name)),
            None => {
                all_back = false;
                reasons.push(format!("'{}' is no longer in the archive, so it cannot be restored", archived.name));
            }
        }
    }
    let text = steps.iter().find(|step| !matches!(step, JournalStep::Archived(_)));
    let mut back = match text {
        _ if !all_back => UndoResult::of(Undone::Gone, None),
        None => UndoResult::of(Undone::Undone, None),
        Some(JournalStep::Made(made)) => unmake(ctx, tx, made).await?,
        Some(JournalStep::Changed(changed)) => put_back(ctx, tx, changed, has_archived).await?,
        Some(JournalStep::Archived(_)) => return Err(Error::internal("an archived skill is no text")),
    };
    reasons.extend(back.reason.take());
    back.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(back)
}

/// Restores a skill from the archive with its data. Returns the skill's new name, or `None` if the archive entry no
/// longer exists or no name is free.
async fn restore(ctx: &Ctx, tx: &mut WriteTx, archived: &Archived) -> Result<Option<String>> {
    let now = ctx.now();
    let Some(name) = find_free(tx, &archived.name).await? else { return Ok(None) };
    let Some(bytes) = dreams::take_archived(tx, archived.archive, now).await? else { return Ok(None) };
    let tasks = follow_up::tasks_after_restore(&ctx.app);
    let restored = SkillToRestore {
        bytes,
        skill: archived.skill,
        name: &name,
        into: archived.into,
        kept: &archived.kept,
        absorbed_mentions: &archived.absorbed_mentions,
        absorbed_relations: &archived.absorbed_relations,
        tasks: &tasks,
        now,
    };
    dreams::give_back(tx, &restored);
    Ok(Some(name))
}

/// Maximum number of names to try for a restored skill.
const TRIES: usize = 9;

/// Returns the name or, if it is taken, a free name with the suffix `-restored`. Returns `None` if all tried names
/// are taken.
async fn find_free(tx: &mut WriteTx, name: &str) -> Result<Option<String>> {
    let numbered = (2..=TRIES).map(|n| format!("{name}-restored-{n}"));
    let tried: Vec<String> = [name.to_owned(), format!("{name}-restored")].into_iter().chain(numbered).collect();
    let found = lock(tx, tried.iter().map(String::as_str)).await?;
    let is_usable = |name: &str| SkillName::parse(name).is_ok_and(|name| !name.is_reserved());
    let free = tried.into_iter().zip(found).find(|(name, taken)| taken.is_none() && is_usable(name));
    Ok(free.map(|(name, _)| name))
}

/// Archives a skill that the run created. The skill stays if it was changed or pinned since, or has taken over names
/// of other skills.
async fn unmake(ctx: &Ctx, tx: &mut WriteTx, made: &JournalledCreation) -> Result<UndoResult> {
    let Some(current) = skills::lock(tx, &SkillKey::Id(made.skill)).await? else {
        return Ok(UndoResult::of(Undone::Gone, Some(format!("'{}' was deleted since", made.name))));
    };
    let skill = &current.skill;
    if manifest::hex(&skill.digest) != made.digest && !is_only_enriched(&current, 1) || skill.pinned {
        let reason = format!("'{}' was changed or pinned since, so it stays", skill.name);
        return Ok(UndoResult::of(Undone::Kept, Some(reason)));
    }
    if skills::count_names(tx, &[skill.id]).await? > 0 {
        let reason = format!("'{}' has taken over names of other skills since, so it stays", skill.name);
        return Ok(UndoResult::of(Undone::Kept, Some(reason)));
    }
    delete::archive(ctx, tx, SkillToDelete { skill, successor: None, is_reviewed: false }).await?;
    Ok(UndoResult::of(Undone::Undone, None))
}

/// Returns whether only enrichment has changed the skill since this version.
fn is_only_enriched(current: &Locked, version: i32) -> bool {
    current.is_at(version)
}

/// Restores the previous text. If the text was changed since, only the run's change is reverted. A merged skill stays
/// unchanged then.
async fn put_back(ctx: &Ctx, tx: &mut WriteTx, changed: &JournalledChange, is_merge: bool) -> Result<UndoResult> {
    let Some(current) = skills::lock(tx, &SkillKey::Id(changed.skill)).await? else {
        return Ok(UndoResult::of(Undone::Gone, Some(format!("'{}' was deleted since", changed.name))));
    };
    let name = current.skill.name.clone();
    let is_untouched = manifest::hex(&current.skill.digest) == changed.digest;
    if !is_untouched && current.skill.document == changed.before {
        return Ok(UndoResult::of(Undone::Undone, Some(format!("'{name}' already has its previous text"))));
    }
    if is_untouched || is_only_enriched(&current, changed.version) {
        write(ctx, tx, current, &changed.before).await?;
        return Ok(UndoResult::of(Undone::Undone, None));
    }
    if is_merge {
        return Ok(UndoResult::of(Undone::Kept, Some(format!("'{name}' was changed since, so it stays unchanged"))));
    }
    let (base, ours, theirs) = (changed.after.clone(), current.skill.document.clone(), changed.before.clone());
    let merged = compute(move || Ok(diff::merge(&base, &ours, &theirs).ok())).await?;
    let limits = ctx.app.limits.with_unbounded_body();
    let merged = merged.filter(|text| SkillDocument::parse_named(text, &limits).is_ok());
    match merged {
        Some(text) if text == current.skill.document => {
            Ok(UndoResult::of(Undone::Undone, Some(format!("'{name}' no longer contains the change"))))
        }
        Some(text) => {
            write(ctx, tx, current, &text).await?;
            Ok(UndoResult::of(Undone::Merged, Some(format!("later changes of '{name}' are preserved"))))
        }
        None => {
            let reason = format!(
                "a later change of '{name}' touched the same lines, so it stays; its previous text waits for review"
            );
            let offer = RestoreBefore { name: SkillName::parse(&name)?, document: changed.before.clone() };
            Ok(UndoResult { undone: Undone::Kept, reason: Some(reason), offer: Some(offer) })
        }
    }
}

/// Writes a text over a locked skill, as a rollback approved by a person.
async fn write(ctx: &Ctx, tx: &mut WriteTx, current: Locked, text: &str) -> Result<()> {
    let limits = ctx.app.limits.with_unbounded_body();
    let document = SkillDocument::parse_named(text, &limits)?;
    let draft = Draft { derived: true, ..Draft::of(ChangeKind::Rollback, &current, document)? };
    let checks = Vec::new();
    let reviewed = Some(Reviewed { author: AUTHOR.to_owned(), session: None, checks, by_person: true });
    let source = current.skill.source;
    let base = Base { locked: Some(current), source, is_bulk: false, now: ctx.now(), expected: None };
    // The taint of the restored text is taken from the history.
    Draft { reviewed, ..draft }.write(ctx, tx, base).await?;
    Ok(())
}
