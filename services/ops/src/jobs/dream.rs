//! Dreams: one run, the runs of a user's night, and whose night it is.

use chrono::NaiveDate;
use knowhow_domain::DreamId;
use knowhow_domain::job::task;
use knowhow_store::dreams::{Night, end_lost_runs, enqueue_nights};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::{App, Ctx, Priority, dream};

/// Users of one round; the next one goes on.
const MOST: i64 = 5_000;
/// The hours of a user's night: from three o'clock on, and until eight where the workers were away.
const HOURS: (i32, i32) = (3, 7);

/// A run.
#[derive(Deserialize)]
pub(super) struct Dream {
    run_id: DreamId,
}

impl UserJob for Dream {
    const TASK: &'static str = task::DREAM;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // Nobody waits for a dream, whoever asked for it.
        Ok(dream::run_dream(ctx, self.run_id, Priority::Background).await?)
    }
}

/// The runs of one night of a user.
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

/// Finds, over all tenants, the users whose night it is.
pub(super) struct DreamNights;

impl SystemJob for DreamNights {
    const TASK: &'static str = task::DREAM_NIGHTS;
    const SCHEDULE: &'static str = "*/15 * * * *";

    async fn run(app: &App) -> JobResult {
        let jobs = enqueue_nights(&app.db, Night { now: app.now(), hours: HOURS, most: MOST }).await?;
        if jobs > 0 {
            tracing::info!(jobs, "nights begin");
        }
        let lost = end_lost_runs(&app.db, app.now(), MOST).await?;
        if lost > 0 {
            tracing::warn!(lost, "dreams were done by no worker within a day");
        }
        Ok(())
    }
}
