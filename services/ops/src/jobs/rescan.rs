//! Scans skills and library texts again after an update of the scanner's rules, and skills with findings after a
//! change.

use knowhow_domain::jobs::job::task;
use knowhow_domain::review::scanner;
use knowhow_store::across::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::change::scan::rules;
use crate::{App, Ctx, Priority, review};

/// Maximum number of users per round; the next round continues.
const MOST: i64 = 2_000;

/// Scans all skills of a user that are due for a scan.
#[derive(Deserialize)]
pub(super) struct RescanSkills {}

impl UserJob for RescanSkills {
    const TASK: &'static str = task::RESCAN_SKILLS;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(review::rescan(ctx).await?)
    }
}

/// Scans libraries, and enqueues jobs for users of all tenants with skills that are due for a scan.
pub(super) struct RescanStale;

impl SystemJob for RescanStale {
    const TASK: &'static str = task::RESCAN_STALE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let rules = rules();
        let jobs = due::enqueue_rescans(&app.db, rules, app.now(), MOST).await?;
        if jobs > 0 {
            tracing::info!(jobs, rules = scanner::version(), "enqueued users with skills to scan");
        }
        Ok(review::rescan_libraries(app).await?)
    }
}
