//! Makes reflections, and finds those that are due.

use chrono::NaiveDate;
use knowhow_domain::Cadence;
use knowhow_domain::job::task;
use knowhow_store::reflections::{Due, enqueue_due};
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::reflect::make_reflection;
use crate::{App, Ctx, Priority};

/// Reflections that one round enqueues at most.
const MOST: i64 = 2_000;

/// The reflection of one period.
#[derive(Deserialize)]
pub(super) struct Reflect {
    cadence: Cadence,
    period: NaiveDate,
}

impl UserJob for Reflect {
    const TASK: &'static str = task::REFLECT;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        // Nobody waits for a reflection, whoever asked for it.
        Ok(make_reflection(ctx, self.cadence, self.period, Priority::Background).await?)
    }
}

/// Finds, over all tenants, the users whose day, week or month is at its end.
pub(super) struct ReflectDue;

impl SystemJob for ReflectDue {
    const TASK: &'static str = task::REFLECT_DUE;
    const SCHEDULE: &'static str = "*/15 * * * *";

    async fn run(app: &App) -> JobResult {
        let jobs = enqueue_due(&app.db, Due { now: app.now(), most: MOST }).await?;
        if jobs > 0 {
            tracing::info!(jobs, "reflections are due");
        }
        Ok(())
    }
}
