//! Removes what is left of users who were erased.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use knowhow_domain::job::task;
use knowhow_store::erasures::{self, Subject};
use knowhow_store::queue::{Claimed, JobKind, Task};

use super::{JobResult, SystemJob};
use crate::App;

/// Rows in one transaction.
const STEP: i32 = 500;
/// Users in one round.
const USERS: i64 = 1000;
/// No step begins later; the next job goes on.
const LONGEST: Duration = Duration::from_secs(300);
/// For so long it is looked whether somebody who had begun before has written after. Longer than any request or job of the user goes
/// on to write.
const AFTER: TimeDelta = TimeDelta::minutes(15);

/// By the clock: what a worker left that died, and what came late.
pub(super) struct EraseUsers;

impl SystemJob for EraseUsers {
    const TASK: &'static str = task::ERASE_USERS;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        erase(app).await
    }
}

/// At once, in the queue by the request that erases. It goes by the ledger and not by its payload, as the user is nobody any more.
struct EraseUser(App);

impl JobKind for EraseUser {
    const TASK: &'static str = task::ERASE_USER;

    async fn run(&self, _: Claimed) -> JobResult {
        erase(&self.0).await
    }
}

pub(super) fn of_ledger(app: &App) -> Task {
    Task::new(EraseUser(app.clone()))
}

async fn erase(app: &App) -> JobResult {
    let (began, mut outcome) = (Instant::now(), Ok(()));
    for subject in erasures::list_unfinished(&app.db, app.now() - AFTER, USERS).await? {
        match erase_one(app, subject, began).await {
            Ok(true) => {}
            Ok(false) => break,
            // Those behind it do not wait for it.
            Err(error) => outcome = Err(error.into()),
        }
    }
    outcome
}

/// Whether nothing is left of the user. Each step is a transaction of its own, so whoever goes on after a crash finds less.
async fn erase_one(app: &App, subject: Subject, began: Instant) -> Result<bool, knowhow_domain::Error> {
    while began.elapsed() < LONGEST {
        if erasures::take_step(&app.db, subject, STEP).await? == 0 {
            erasures::note_finished(&app.db, subject, app.now()).await?;
            return Ok(true);
        }
    }
    Ok(false)
}
