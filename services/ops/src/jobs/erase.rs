//! Deletes the remaining data of erased users.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use knowhow_domain::jobs::job::task;
use knowhow_store::jobs::{Claimed, JobKind, Task};
use knowhow_store::tenants::erasures::{self, Subject};

use super::{JobResult, SystemJob};
use crate::App;

/// Maximum number of rows deleted per transaction.
const STEP: i32 = 500;
/// Maximum number of users per round.
const USERS: i64 = 1000;
/// No step starts after this time; the next job continues.
const LONGEST: Duration = Duration::from_secs(300);
/// Time after an erasure during which rows that are written late are deleted too. No request or job that was running
/// at the erasure writes for longer.
const AFTER: TimeDelta = TimeDelta::minutes(15);

/// Periodic job for erasures that a crashed worker left unfinished, and for rows written late.
pub(super) struct EraseUsers;

impl SystemJob for EraseUsers {
    const TASK: &'static str = task::ERASE_USERS;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        erase(app).await
    }
}

/// Immediate job, enqueued by the erasing request. It reads the ledger instead of its payload, as the user no longer
/// exists.
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
            // An error for one user does not delay the other users.
            Err(error) => outcome = Err(error.into()),
        }
    }
    outcome
}

/// Deletes a user's data step by step. Returns whether all is deleted. Each step is a transaction, so that progress
/// survives a crash.
async fn erase_one(app: &App, subject: Subject, began: Instant) -> Result<bool, knowhow_domain::Error> {
    while began.elapsed() < LONGEST {
        if erasures::take_step(&app.db, subject, STEP).await? == 0 {
            erasures::note_finished(&app.db, subject, app.now()).await?;
            return Ok(true);
        }
    }
    Ok(false)
}
