//! Undo: a run is taken back as a whole, backwards and in one transaction, also where people went on editing: what came later
//! stays.

mod offer;

use chrono::TimeDelta;
use knowhow_domain::dream::{OpOutcome, Operation, RunState, Undone, rest_keys};
use knowhow_domain::{ChangeKind, DreamId, Error, Result, SkillDocument, SkillName, Source, diff, manifest};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, Ended, OpState, Returned, StoredOp};
use knowhow_store::skills::{self, Locked, SkillKey};
use uuid::Uuid;

use self::offer::{PutBefore, list_unoffered, offer};
use super::apply::{AUTHOR, lock};
use super::carry_out::settle;
use super::found::request_key;
use super::journal::{self, Archived, Changed, Made, Step};
use crate::skills::delete::{self, Going};
use crate::skills::draft::{Base, Draft, Reviewed};
use crate::{Ctx, compute, follow_up};

/// How long what was undone or rejected is not proposed again.
pub(super) const REST: TimeDelta = TimeDelta::days(90);

/// Takes a run back. Undone again, it answers the same.
///
/// # Errors
/// `NotFound`; `Conflict` `not-applied` for a run that has changed nothing, `undo-later-first` where another one has built on it.
pub(super) async fn undo(ctx: &Ctx, id: DreamId) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.undo").await?;
    let (found, ops) = dreams::lock_with_ops(&mut tx, id).await?;
    let is_applied = |op: &&StoredOp| op.op.outcome == OpOutcome::Applied;
    if !ops.iter().any(|op| is_applied(&op)) {
        let detail = format!("the dream is {}: nothing of it was applied", found.run.state);
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
        let back = take_back(ctx, &mut tx, &steps).await?;
        rests.extend(keys(op));
        offers.extend(back.offer.map(|offer| (op.op.position, offer)));
        states.push(OpState {
            position: op.op.position,
            undo: Some(back.undone),
            undo_reason: back.reason,
            ..OpState::default()
        });
        touched.extend(steps);
    }
    // What still waits goes with the rest.
    for op in ops.iter().filter(|op| op.op.outcome.is_open()) {
        rests.extend(keys(op));
        let (outcome, decided_by) = (Some(OpOutcome::Rejected), Some(ctx.principal.actor().to_owned()));
        states.push(OpState { position: op.op.position, outcome, decided_by, ..OpState::default() });
    }
    if !states.is_empty() {
        dreams::put_ops(&mut tx, id, &states);
        dreams::put_rests(&mut tx, rests, ctx.now() + REST);
        let ended = Ended { state: Some(RunState::Undone), is_undone: true, now: ctx.now(), ..Ended::default() };
        dreams::end(&mut tx, id, &ended);
    }
    tx.commit().await?;
    settle(ctx, &touched, true);
    offer(ctx, id, offers).await
}

/// Refuses to take a run back whose skills another run has archived since: what it gave them lies with yet other skills now.
async fn refuse_before_later<'s>(tx: &mut WriteTx, id: DreamId, steps: impl Iterator<Item = &'s Step>) -> Result<()> {
    let skill = |step: &Step| match step {
        Step::Made(made) => made.skill.0,
        Step::Changed(changed) => changed.skill.0,
        Step::Archived(archived) => archived.into.0,
    };
    let skills = steps.map(skill).collect();
    match dreams::find_later(tx, id, skills).await? {
        Some(later) => {
            let detail = format!("the dream {later} has archived what this one changed: undo that one first");
            Err(Error::Conflict { code: "undo-later-first", detail })
        }
        None => Ok(()),
    }
}

/// The keys under which an operation rests, with those of the requests that it is for.
pub(super) fn keys(op: &StoredOp) -> Vec<String> {
    keys_of(&op.op.op, &op.sessions)
}

/// The same of an operation that is made of these conversations.
pub(super) fn keys_of(op: &serde_json::Value, sessions: &[Uuid]) -> Vec<String> {
    let Ok(operation) = Operation::read(op) else { return Vec::new() };
    let mut keys = rest_keys(&operation);
    if matches!(operation, Operation::Create { .. }) {
        keys.extend(sessions.iter().map(|session| request_key(*session)));
    }
    keys
}

/// What undoing an operation came to.
struct TakenBack {
    undone: Undone,
    reason: Option<String>,
    /// What was before, where it meets a later change of the same lines.
    offer: Option<PutBefore>,
}

impl TakenBack {
    fn of(undone: Undone, reason: Option<String>) -> Self {
        Self { undone, reason, offer: None }
    }
}

/// Takes the steps of one operation back: skills that it archived first, then what it wrote.
async fn take_back(ctx: &Ctx, tx: &mut WriteTx, steps: &[Step]) -> Result<TakenBack> {
    let (mut reasons, mut all_back) = (Vec::new(), true);
    let mut has_archived = false;
    for step in steps.iter().rev() {
        let Step::Archived(archived) = step else { continue };
        has_archived = true;
        match restore(ctx, tx, archived).await? {
            Some(name) if name == archived.name => {}
            Some(name) => reasons.push(format!("'{}' is back as '{name}', as its name is taken", archived.name)),
            None => {
                all_back = false;
                reasons.push(format!("'{}' is past its time in the archive, and gone", archived.name));
            }
        }
    }
    let text = steps.iter().find(|step| !matches!(step, Step::Archived(_)));
    let mut back = match text {
        _ if !all_back => TakenBack::of(Undone::Gone, None),
        None => TakenBack::of(Undone::Undone, None),
        Some(Step::Made(made)) => unmake(ctx, tx, made).await?,
        Some(Step::Changed(changed)) => put_back(ctx, tx, changed, has_archived).await?,
        Some(Step::Archived(_)) => return Err(Error::internal("an archived skill is no text")),
    };
    reasons.extend(back.reason.take());
    back.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(back)
}

/// Takes a skill out of the archive, and gives it what was its own. Its name by now; `None` where it is gone.
async fn restore(ctx: &Ctx, tx: &mut WriteTx, archived: &Archived) -> Result<Option<String>> {
    let now = ctx.now();
    let Some(name) = find_free(tx, &archived.name).await? else { return Ok(None) };
    let Some(bytes) = dreams::take_archived(tx, archived.archive, now).await? else { return Ok(None) };
    let tasks = follow_up::tasks_after_restore(&ctx.app);
    let returned = Returned {
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
    dreams::give_back(tx, &returned);
    Ok(Some(name))
}

/// Most names that are tried for a skill whose own is taken.
const TRIES: usize = 9;

/// The name, or one with `-restored` behind it where that is taken.
async fn find_free(tx: &mut WriteTx, name: &str) -> Result<Option<String>> {
    let numbered = (2..=TRIES).map(|n| format!("{name}-restored-{n}"));
    let tried: Vec<String> = [name.to_owned(), format!("{name}-restored")].into_iter().chain(numbered).collect();
    let found = lock(tx, tried.iter().map(String::as_str)).await?;
    let is_usable = |name: &str| SkillName::parse(name).is_ok_and(|name| !name.is_reserved());
    let free = tried.into_iter().zip(found).find(|(name, taken)| taken.is_none() && is_usable(name));
    Ok(free.map(|(name, _)| name))
}

/// Archives a skill that was made, where nobody went on with it.
async fn unmake(ctx: &Ctx, tx: &mut WriteTx, made: &Made) -> Result<TakenBack> {
    let Some(current) = skills::lock(tx, &SkillKey::Id(made.skill)).await? else {
        return Ok(TakenBack::of(Undone::Gone, Some(format!("'{}' was deleted since", made.name))));
    };
    let skill = &current.skill;
    if manifest::hex(&skill.digest) != made.digest && !is_only_enriched(&current, 1) || skill.pinned {
        let reason = format!("'{}' was changed or pinned since, and stays", skill.name);
        return Ok(TakenBack::of(Undone::Kept, Some(reason)));
    }
    if skills::count_names(tx, &[skill.id]).await? > 0 {
        let reason = format!("'{}' answers to names of other skills by now, and stays", skill.name);
        return Ok(TakenBack::of(Undone::Kept, Some(reason)));
    }
    delete::archive(ctx, tx, Going { skill, successor: None, is_reviewed: false }).await?;
    Ok(TakenBack::of(Undone::Undone, None))
}

/// Whether nothing but the service's own enrichment came after this version.
fn is_only_enriched(current: &Locked, version: i32) -> bool {
    current.is_at(version)
}

/// Puts the text from before back. Where it was changed since, only the run's own change goes; of a merge, the text stays then.
async fn put_back(ctx: &Ctx, tx: &mut WriteTx, changed: &Changed, is_merge: bool) -> Result<TakenBack> {
    let Some(current) = skills::lock(tx, &SkillKey::Id(changed.skill)).await? else {
        return Ok(TakenBack::of(Undone::Gone, Some(format!("'{}' was deleted since", changed.name))));
    };
    let name = current.skill.name.clone();
    let is_untouched = manifest::hex(&current.skill.digest) == changed.digest;
    if !is_untouched && current.skill.document == changed.before {
        return Ok(TakenBack::of(Undone::Undone, Some(format!("'{name}' is as it was before already"))));
    }
    if is_untouched || is_only_enriched(&current, changed.version) {
        write(ctx, tx, current, &changed.before).await?;
        return Ok(TakenBack::of(Undone::Undone, None));
    }
    if is_merge {
        return Ok(TakenBack::of(Undone::Kept, Some(format!("'{name}' was changed since, and stays as it is"))));
    }
    let (base, ours, theirs) = (changed.after.clone(), current.skill.document.clone(), changed.before.clone());
    let merged = compute(move || Ok(diff::merge(&base, &ours, &theirs).ok())).await?;
    let limits = ctx.app.limits.with_unbounded_body();
    let merged = merged.filter(|text| SkillDocument::parse_named(text, &limits).is_ok());
    match merged {
        Some(text) if text == current.skill.document => {
            Ok(TakenBack::of(Undone::Undone, Some(format!("'{name}' says nothing of the change any more"))))
        }
        Some(text) => {
            write(ctx, tx, current, &text).await?;
            Ok(TakenBack::of(Undone::Merged, Some(format!("what '{name}' was given since stays"))))
        }
        None => {
            let reason = format!(
                "'{name}' was changed in the same lines since and stays; what was before waits for review as a submission"
            );
            let offer = PutBefore { name: SkillName::parse(&name)?, document: changed.before.clone() };
            Ok(TakenBack { undone: Undone::Kept, reason: Some(reason), offer: Some(offer) })
        }
    }
}

/// Writes a text over a locked skill, as a rollback that a person asked for.
async fn write(ctx: &Ctx, tx: &mut WriteTx, current: Locked, text: &str) -> Result<()> {
    let limits = ctx.app.limits.with_unbounded_body();
    let document = SkillDocument::parse_named(text, &limits)?;
    let draft = Draft { derived: true, ..Draft::of(ChangeKind::Rollback, &current, document)? };
    let checks = Vec::new();
    let reviewed = Some(Reviewed { author: AUTHOR.to_owned(), session: None, checks, by_person: true });
    let source = current.skill.source.parse().unwrap_or(Source::Agent);
    let base = Base { locked: Some(current), source, is_bulk: false, now: ctx.now(), expected: None };
    // Whether the text is tainted, the history knows.
    Draft { reviewed, ..draft }.write(ctx, tx, base).await?;
    Ok(())
}
