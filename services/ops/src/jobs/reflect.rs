//! Makes reflections, and finds reflections that are due.

use chrono::NaiveDate;
use knowhow_domain::Cadence;
use knowhow_domain::jobs::job::task;
use knowhow_store::learning::reflections::{DueReflections, enqueue_due};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::learning::reflect::make_reflection;
use crate::{App, Ctx, Priority};

/// Maximum number of reflections enqueued per round.
const MOST: i64 = 2_000;

/// Makes the reflection for one period.
#[derive(Deserialize)]
pub(super) struct Reflect {
    cadence: Cadence,
    period: NaiveDate,
}

impl UserJob for Reflect {
    const TASK: &'static str = task::REFLECT;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // Reflections are always background work, even if requested.
        Ok(make_reflection(ctx, self.cadence, self.period, Priority::Background).await?)
    }
}

/// Finds users of all tenants with a day, week or month that has ended, and enqueues their reflections.
pub(super) struct ReflectDue;

impl SystemJob for ReflectDue {
    const TASK: &'static str = task::REFLECT_DUE;
    const SCHEDULE: &'static str = "*/15 * * * *";

    async fn run(app: &App) -> JobResult {
        let jobs = enqueue_due(&app.db, DueReflections { now: app.now(), most: MOST }).await?;
        if jobs > 0 {
            tracing::info!(jobs, "enqueued due reflections");
        }
        Ok(())
    }
}
