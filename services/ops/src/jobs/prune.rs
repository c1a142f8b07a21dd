//! Deletes expired data.

use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;
use knowhow_store::across::months::{self, EndedMonths};
use std::time::{Duration, Instant};

use super::{JobResult, SystemJob};
use crate::App;

/// Maximum number of rows of each kind per round.
const BATCH: i64 = 5000;
/// Maximum number of usage rows summed up per transaction.
const ROWS_SUMMED: i32 = 5000;
/// No round starts after this time; the next job continues.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) struct Prune;

impl SystemJob for Prune {
    const TASK: &'static str = task::PRUNE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let began = Instant::now();
        // An error in one step must not prevent the other steps.
        let months = keep_months(app).await;
        let snapshots = knowhow_store::prune_snapshots(&app.db, app.now(), BATCH).await;
        loop {
            let pruned = knowhow_store::prune(&app.db, app.now(), BATCH).await?;
            tracing::info!(
                idempotency_keys = pruned.idempotency_keys,
                usage_days = pruned.usage_days,
                offers = pruned.offers,
                judge_days = pruned.judge_days,
                archived_skills = pruned.archived_skills,
                files = pruned.files,
                jobs = pruned.jobs,
                sessions = pruned.sessions,
                examples = pruned.examples,
                idle_snapshots = pruned.idle_snapshots,
                audit_entries = pruned.audit_entries,
                api_keys = pruned.api_keys,
                console_sessions = pruned.console_sessions,
                submissions = pruned.submissions,
                dreams = pruned.dreams,
                reflections = pruned.reflections,
                "deleted expired data"
            );
            if !pruned.has_more(BATCH) || began.elapsed() > LONGEST {
                break;
            }
        }
        tracing::info!(snapshots = snapshots?, "deleted snapshots without a session");
        let EndedMonths { rows, months } = months?;
        tracing::info!(rows, months, "summed up the usage of past months");
        Ok(())
    }
}

/// Creates partitions for the coming months; sums up and drops the partitions of past months.
async fn keep_months(app: &App) -> Result<EndedMonths> {
    let today = app.now().date_naive();
    let made = months::ensure(&app.db, today).await?;
    if made > 0 {
        tracing::info!(made, "created partitions of usage_events for coming months");
    }
    months::end(&app.db, today, ROWS_SUMMED, LONGEST).await
}
