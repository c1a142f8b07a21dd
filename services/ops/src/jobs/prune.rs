//! Removes what is past its time.

use knowhow_domain::Result;
use knowhow_domain::job::task;
use knowhow_store::months::{self, Ended};
use std::time::{Duration, Instant};

use super::{JobResult, SystemJob};
use crate::App;

/// Rows of each kind in one round.
const BATCH: i64 = 5000;
/// Rows of use that are summed up in one transaction.
const ROWS_SUMMED: i32 = 5000;
/// No round begins later; the next job goes on.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) struct Prune;

impl SystemJob for Prune {
    const TASK: &'static str = task::PRUNE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let began = Instant::now();
        // One of them that fails is no reason to leave the others.
        let months = keep_months(app).await;
        let snapshots = knowhow_store::prune_snapshots(&app.db, app.now(), BATCH).await;
        loop {
            let pruned = knowhow_store::prune(&app.db, app.now(), BATCH).await?;
            tracing::info!(
                idempotency_keys = pruned.idempotency_keys,
                usage_days = pruned.usage_days,
                offers = pruned.offers,
                archived_skills = pruned.archived_skills,
                files = pruned.files,
                jobs = pruned.jobs,
                sessions = pruned.sessions,
                examples = pruned.examples,
                idle_snapshots = pruned.idle_snapshots,
                audit_entries = pruned.audit_entries,
                api_keys = pruned.api_keys,
                submissions = pruned.submissions,
                dreams = pruned.dreams,
                reflections = pruned.reflections,
                "cleared up"
            );
            if !pruned.has_more(BATCH) || began.elapsed() > LONGEST {
                break;
            }
        }
        tracing::info!(snapshots = snapshots?, "cleared up what no session has any more");
        let Ended { rows, months } = months?;
        tracing::info!(rows, months, "summed up what was used in months that are over");
        Ok(())
    }
}

/// Sees to it that the months to come have a partition, and sums up and drops those that are over.
async fn keep_months(app: &App) -> Result<Ended> {
    let today = app.now().date_naive();
    let made = months::ensure(&app.db, today).await?;
    if made > 0 {
        tracing::info!(made, "months to come have a partition of usage_events");
    }
    months::end(&app.db, today, ROWS_SUMMED, LONGEST).await
}
