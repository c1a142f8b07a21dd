//! Beginning runs: when somebody asks, and at night.

use chrono::NaiveDate;
use knowhow_domain::dream::{Cause, DreamRun, Mode, Pass};
use knowhow_domain::job::task;
use knowhow_domain::{DreamId, Error, Result, Scope, new_id};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, NewRun};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::carry_out::kept_for;
use super::read::{DreamDetail, get};
use super::run::run_dream;
use super::settings::{Known, RUNS_A_DAY};
use crate::{Ctx, Priority};

/// A dream that somebody asks for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"dry_run": true, "passes": ["gaps"]}))]
pub struct StartDreams {
    /// Whether it only shows what it would propose: nothing is changed, nor offered.
    #[serde(default)]
    pub dry_run: bool,
    /// The passes; all that are not off by default.
    #[serde(default)]
    pub passes: Vec<Pass>,
}

/// What was begun.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StartedDreams {
    /// A run for each pass; read them by their ids.
    pub items: Vec<DreamRun>,
}

/// Begins runs; a worker does them.
///
/// # Errors
/// `Forbidden`; `Conflict` `dreams-off` where a pass that is named is off, or all are; `Quota` where a pass was asked for often
/// enough today.
pub async fn start_dreams(ctx: &Ctx, input: &StartDreams) -> Result<StartedDreams> {
    start(ctx, input, Some(task::DREAM)).await
}

/// Begins runs and does them, one after the other, without a worker; each as it came to an end, with all that a person who may
/// decide is shown. For a command line, whose user holds the keys to the database.
///
/// # Errors
/// As [`start_dreams`]; `Unavailable` where the database stops answering: what is not done by then stays `queued`.
pub async fn dream_here(ctx: &Ctx, input: &StartDreams) -> Result<Vec<DreamDetail>> {
    let started = start(ctx, input, None).await?;
    let mut done = Vec::with_capacity(started.items.len());
    for run in started.items {
        run_dream(ctx, run.id, Priority::Change).await?;
        done.push(get(ctx, run.id, true).await?);
    }
    Ok(done)
}

async fn start(ctx: &Ctx, input: &StartDreams, task: Option<&'static str>) -> Result<StartedDreams> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let known = Known::find(ctx).await?;
    let wanted: Vec<Pass> = match input.passes.is_empty() {
        true => Pass::ALL.into_iter().filter(|pass| known.mode(ctx, *pass) != Mode::Off).collect(),
        false => Pass::ALL.into_iter().filter(|pass| input.passes.contains(pass)).collect(),
    };
    // A dry run asks nobody's leave but that of a tenant that wants no dreams at all.
    let is_off = |pass: &&Pass| known.mode(ctx, **pass) == Mode::Off;
    if wanted.is_empty() || wanted.iter().any(|pass| is_off(&pass)) {
        return Err(Error::Conflict { code: "dreams-off", detail: why_off(ctx, wanted.iter().find(is_off)) });
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.start").await?;
    let ids: Vec<DreamId> = ctx
        .once(&mut tx, &("dreams", input), async |tx| {
            let rows = dreams::lock_passes(tx, ctx.now()).await?;
            if let Some(often) = rows.iter().find(|row| wanted.contains(&row.pass) && row.runs_today >= RUNS_A_DAY) {
                let detail = format!(
                    "the pass {} was asked for {RUNS_A_DAY} times within 24 hours; ask again later",
                    often.pass
                );
                return Err(Error::Quota(detail));
            }
            let runs = new_runs(ctx, &known, &wanted, Begun { cause: Cause::Demand, dry_run: input.dry_run, task });
            dreams::add_runs(tx, &runs);
            Ok(runs.iter().map(|run| run.id).collect())
        })
        .await?;
    tx.commit().await?;
    let mut items = Vec::new();
    for id in ids {
        let found = dreams::find(&ctx.app.db, &ctx.principal, id).await?;
        items.extend(found.map(|found| found.run));
    }
    Ok(StartedDreams { items })
}

fn why_off(ctx: &Ctx, pass: Option<&Pass>) -> String {
    let what = pass.map_or("every pass".to_owned(), |pass| format!("the pass {pass}"));
    match ctx.app.models.chat.is_some() {
        true => format!("{what} is off; PUT /v1/learning switches it on, where the tenant lets it"),
        false => {
            format!("{what} is off, as no chat model is configured; what code finds is at GET /v1/dreams/candidates")
        }
    }
}

/// Why runs are begun, and who does them.
#[derive(Clone, Copy)]
struct Begun {
    cause: Cause,
    dry_run: bool,
    /// The task of the job that does each; `None` where the caller does.
    task: Option<&'static str>,
}

/// Runs of passes, to be noted.
fn new_runs(ctx: &Ctx, known: &Known, passes: &[Pass], begun: Begun) -> Vec<NewRun<'static>> {
    let Begun { cause, dry_run, task } = begun;
    let now = ctx.now();
    let run = |pass: &Pass| NewRun {
        id: DreamId(new_id()),
        pass: (*pass).into(),
        cause,
        mode: known.mode(ctx, *pass),
        dry_run,
        task,
        now,
        texts_until: now + kept_for(ctx),
    };
    passes.iter().map(run).collect()
}

/// Begins the runs of a night of the user's: one for each pass that is neither off nor paused. Begun again, it does nothing.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn start_night(ctx: &Ctx, night: NaiveDate) -> Result<()> {
    let known = Known::find(ctx).await?;
    let goes = |pass: &Pass| {
        let is_paused = known.pass(*pass).is_some_and(|row| row.paused_at.is_some());
        known.mode(ctx, *pass) != Mode::Off && !is_paused
    };
    let passes: Vec<Pass> = Pass::ALL.into_iter().filter(goes).collect();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.night").await?;
    if !dreams::note_night(&mut tx, night).await? {
        return Ok(());
    }
    let begun = Begun { cause: Cause::Night, dry_run: false, task: Some(task::DREAM) };
    dreams::add_runs(&mut tx, &new_runs(ctx, &known, &passes, begun));
    tx.commit().await
}
