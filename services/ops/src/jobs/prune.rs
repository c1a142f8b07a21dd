//! Removes what is past its time.

use knowhow_domain::job::task;
use std::time::{Duration, Instant};

use super::{JobResult, SystemJob};
use crate::App;

/// Rows of each kind in one round.
const BATCH: i64 = 5000;
/// No round begins later; the next job goes on.
const LONGEST: Duration = Duration::from_secs(300);

pub(super) struct Prune;

impl SystemJob for Prune {
    const TASK: &'static str = task::PRUNE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let began = Instant::now();
        // One of the two that fails is no reason to leave the other.
        let snapshots = knowhow_store::prune_snapshots(&app.db, app.now(), BATCH).await;
        loop {
            let pruned = knowhow_store::prune(&app.db, app.now(), BATCH).await?;
            tracing::info!(
                idempotency_keys = pruned.idempotency_keys,
                usage_events = pruned.usage_events,
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
        Ok(())
    }
}
