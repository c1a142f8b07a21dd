//! Jobs for dreams: a single run, all runs of a user's night, and the periodic search for users with night in their
//! time zone.

use chrono::NaiveDate;
use knowhow_domain::DreamId;
use knowhow_domain::jobs::job::task;
use knowhow_store::learning::dreams::{DueNights, end_lost_runs, enqueue_nights};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::learning::dream;
use crate::{App, Ctx, Priority};

/// Maximum number of users per round; the next round continues.
const MOST: i64 = 5_000;
/// First and last starting hour of nightly dreams, in the user's time zone. Dreams start at three, or later if the
/// workers were down.
const HOURS: (i32, i32) = (3, 7);

/// Runs one dream.
#[derive(Deserialize)]
pub(super) struct Dream {
    run_id: DreamId,
}

impl UserJob for Dream {
    const TASK: &'static str = task::DREAM;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // Dreams are always background work, even if requested.
        Ok(dream::run_dream(ctx, self.run_id, Priority::Background).await?)
    }
}

/// Starts the dreams of one night of a user.
#[derive(Deserialize)]
pub(super) struct DreamNight {
    night: NaiveDate,
}

impl UserJob for DreamNight {
    const TASK: &'static str = task::DREAM_NIGHT;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(dream::start_night(ctx, self.night).await?)
    }
}

/// Finds users of all tenants with night in their time zone, and enqueues their jobs. Ends dreams that no worker has
/// run within a day.
pub(super) struct DreamNights;

impl SystemJob for DreamNights {
    const TASK: &'static str = task::DREAM_NIGHTS;
    const SCHEDULE: &'static str = "*/15 * * * *";

    async fn run(app: &App) -> JobResult {
        let jobs = enqueue_nights(&app.db, DueNights { now: app.now(), hours: HOURS, most: MOST }).await?;
        if jobs > 0 {
            tracing::info!(jobs, "enqueued the dreams of nights");
        }
        let lost = end_lost_runs(&app.db, app.now(), MOST).await?;
        if lost > 0 {
            tracing::warn!(lost, "dreams were not run by a worker within a day");
        }
        Ok(())
    }
}
