//! What the worker does, one file for each job. A job's payload is ids; it may run twice and has one effect; it holds no
//! transaction while a model works.

mod prune;

use std::marker::PhantomData;

use knowhow_store::Principal;
use knowhow_store::queue::{Claimed, Job, JobError, Task};
use serde::de::DeserializeOwned;

use crate::App;

type JobResult = Result<(), JobError>;

/// Every kind of job there is.
pub fn tasks(app: &App) -> Vec<Task> {
    vec![of_system::<prune::Prune>(app)]
}

/// A job of one user; the members of its type are the ids it is enqueued with.
trait UserJob: DeserializeOwned + Send + 'static {
    const TASK: &'static str;

    fn run(self, app: &App, principal: &Principal) -> impl Future<Output = JobResult> + Send;
}

/// A job by the clock, for all tenants.
trait SystemJob: Send + 'static {
    const TASK: &'static str;
    /// The five fields of a crontab, in UTC.
    const SCHEDULE: &'static str;

    fn run(app: &App) -> impl Future<Output = JobResult> + Send;
}

struct OfUser<J>(App, PhantomData<fn() -> J>);

impl<J: UserJob> Job for OfUser<J> {
    const TASK: &'static str = J::TASK;

    async fn run(&self, claimed: Claimed) -> JobResult {
        let ids: J = claimed.ids()?;
        match self.0.gate.by_claimed_job(&claimed).await? {
            Some(principal) => ids.run(&self.0, &principal).await,
            // Nobody is left to do it for.
            None => Ok(()),
        }
    }
}

fn of_user<J: UserJob>(app: &App) -> Task {
    Task::new(OfUser::<J>(app.clone(), PhantomData))
}

struct OfSystem<J>(App, PhantomData<fn() -> J>);

impl<J: SystemJob> Job for OfSystem<J> {
    const TASK: &'static str = J::TASK;

    async fn run(&self, _: Claimed) -> JobResult {
        J::run(&self.0).await
    }
}

fn of_system<J: SystemJob>(app: &App) -> Task {
    Task::scheduled(OfSystem::<J>(app.clone(), PhantomData), J::SCHEDULE)
}
