//! Starts runs, on request and at night.

use chrono::NaiveDate;
use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::dream::{Cause, DreamRun, Mode, Pass};
use knowhow_domain::{DreamId, Error, Result, Scope, new_id};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, NewRun};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::carry_out::undo_period;
use super::read::{DreamDetail, get};
use super::run::run_dream;
use super::settings::{LearningState, RUNS_A_DAY};
use crate::{Ctx, Priority};

/// A request to start dreams.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"dry_run": true, "passes": ["gaps"]}))]
pub struct StartDreams {
    /// Whether to show the proposals without applying or offering them.
    #[serde(default)]
    pub dry_run: bool,
    /// The passes; by default all passes that are not off.
    #[serde(default)]
    pub passes: Vec<Pass>,
}

/// The started runs.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StartedDreams {
    /// A run for each pass; read its result by id.
    pub items: Vec<DreamRun>,
}

/// Starts runs; a worker executes them.
///
/// # Errors
/// `Forbidden`; `Conflict` `dreams-off` if a named pass is off, or all passes are off; `Quota` if a pass reached its
/// daily limit of requests.
pub async fn start_dreams(ctx: &Ctx, input: &StartDreams) -> Result<StartedDreams> {
    start(ctx, input, Some(task::DREAM)).await
}

/// Starts runs and executes them one after the other, without a worker. Returns each run with all details that a
/// reviewer sees. Used by the command line, which has direct access to the database.
///
/// # Errors
/// Errors of [`start_dreams`]; `Unavailable` if the database fails: runs that were not executed stay `queued`.
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
    let known = LearningState::find(ctx).await?;
    let wanted: Vec<Pass> = match input.passes.is_empty() {
        true => Pass::ALL.into_iter().filter(|pass| known.mode(ctx, *pass) != Mode::Off).collect(),
        false => Pass::ALL.into_iter().filter(|pass| input.passes.contains(pass)).collect(),
    };
    // A dry run is also rejected if the pass is off.
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
                    "the pass {} was requested {RUNS_A_DAY} times within 24 hours, the limit; try again later",
                    often.pass
                );
                return Err(Error::Quota(detail));
            }
            let runs = new_runs(ctx, &known, &wanted, RunStart { cause: Cause::Demand, dry_run: input.dry_run, task });
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
        true => format!("{what} is off; enable it with PUT /v1/learning, if the tenant allows it"),
        false => {
            format!("{what} is off, as no chat model is configured; the candidates are at GET /v1/dreams/candidates")
        }
    }
}

/// The cause of runs, and their executor.
#[derive(Clone, Copy)]
struct RunStart {
    cause: Cause,
    dry_run: bool,
    /// The task of the job that executes a run; `None` if the caller executes the runs.
    task: Option<&'static str>,
}

/// Creates a run for each pass, without storing it.
fn new_runs(ctx: &Ctx, known: &LearningState, passes: &[Pass], begun: RunStart) -> Vec<NewRun<'static>> {
    let RunStart { cause, dry_run, task } = begun;
    let now = ctx.now();
    let run = |pass: &Pass| NewRun {
        id: DreamId(new_id()),
        pass: (*pass).into(),
        cause,
        mode: known.mode(ctx, *pass),
        dry_run,
        task,
        now,
        texts_until: now + undo_period(ctx),
    };
    passes.iter().map(run).collect()
}

/// Starts a user's nightly runs: one for each pass that is neither off nor paused. Repeated calls for the same date
/// have no effect.
pub(crate) async fn start_night(ctx: &Ctx, night: NaiveDate) -> Result<()> {
    let known = LearningState::find(ctx).await?;
    let goes = |pass: &Pass| {
        let is_paused = known.pass(*pass).is_some_and(|row| row.paused_at.is_some());
        known.mode(ctx, *pass) != Mode::Off && !is_paused
    };
    let passes: Vec<Pass> = Pass::ALL.into_iter().filter(goes).collect();
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.night").await?;
    if !dreams::note_night(&mut tx, night).await? {
        return Ok(());
    }
    let begun = RunStart { cause: Cause::Night, dry_run: false, task: Some(task::DREAM) };
    dreams::add_runs(&mut tx, &new_runs(ctx, &known, &passes, begun));
    tx.commit().await
}
