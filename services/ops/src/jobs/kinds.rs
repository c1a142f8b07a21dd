//! The two kinds of jobs: user jobs, which a change enqueues, and system jobs, which run by a schedule.

use std::marker::PhantomData;

use knowhow_store::jobs::{Claimed, JobError, JobKind, Task};
use serde::de::DeserializeOwned;

use crate::{App, Ctx, Priority};

pub(super) type JobResult = Result<(), JobError>;

/// A job for one user. The members of the type are the ids in the job's payload.
pub(super) trait UserJob: DeserializeOwned + Send + 'static {
    const TASK: &'static str;

    /// Runs the job. `priority` applies to its model requests.
    fn run(self, ctx: &Ctx, priority: Priority) -> impl Future<Output = JobResult> + Send;
}

/// A job over all tenants.
pub(super) trait SystemJob: Send + 'static {
    const TASK: &'static str;
    /// Five crontab fields, in UTC.
    const SCHEDULE: &'static str;

    fn run(app: &App) -> impl Future<Output = JobResult> + Send;
}

pub(super) fn of_user<J: UserJob>(app: &App) -> Task {
    Task::new(OfUser::<J>(app.clone(), PhantomData))
}

pub(super) fn of_system<J: SystemJob>(app: &App) -> Task {
    Task::scheduled(OfSystem::<J>(app.clone(), PhantomData), J::SCHEDULE)
}

struct OfUser<J>(App, PhantomData<fn() -> J>);

impl<J: UserJob> JobKind for OfUser<J> {
    const TASK: &'static str = J::TASK;

    async fn run(&self, claimed: Claimed) -> JobResult {
        let ids: J = claimed.ids()?;
        let priority = if claimed.is_bulk() { Priority::Background } else { Priority::Change };
        match self.0.gate.by_claimed_job(&claimed).await? {
            Some(principal) => ids.run(&Ctx::of(&self.0, &principal), priority).await,
            // The user no longer exists.
            None => Ok(()),
        }
    }
}

struct OfSystem<J>(App, PhantomData<fn() -> J>);

impl<J: SystemJob> JobKind for OfSystem<J> {
    const TASK: &'static str = J::TASK;

    async fn run(&self, _: Claimed) -> JobResult {
        J::run(&self.0).await
    }
}
