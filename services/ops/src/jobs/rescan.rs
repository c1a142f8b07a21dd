//! Reads live skills, and the texts of libraries, anew when the scanner's rules have changed; and those that have changed since
//! something was found in them.

use knowhow_domain::job::task;
use knowhow_domain::scanner;
use knowhow_store::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::{App, Ctx, Priority, review};

/// Users of one round; the next one goes on.
const MOST: i64 = 2_000;

/// All skills of a user that are to be read.
#[derive(Deserialize)]
pub(super) struct RescanSkills {}

impl UserJob for RescanSkills {
    const TASK: &'static str = task::RESCAN_SKILLS;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(review::rescan(ctx).await?)
    }
}

/// Reads libraries, and finds, over all tenants, whose skills are to be read.
pub(super) struct RescanStale;

impl SystemJob for RescanStale {
    const TASK: &'static str = task::RESCAN_STALE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let rules = review::rules();
        let jobs = due::enqueue_rescans(&app.db, rules, app.now(), MOST).await?;
        if jobs > 0 {
            tracing::info!(jobs, rules = scanner::version(), "skills are to be read for attacks");
        }
        Ok(review::rescan_libraries(app).await?)
    }
}
