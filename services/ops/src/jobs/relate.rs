//! Reads skills for what their texts say of other skills and name, where a text has changed or the rules have; and the
//! reconciler, which finds those that were not read.

use knowhow_domain::Result;
use knowhow_domain::job::task;
use knowhow_store::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::graph::{RULES, relate_skills};
use crate::{App, Ctx, Priority};

/// Users of one round; the next one goes on.
const MOST: i64 = 2_000;

/// Those of a user's skills that are to be read.
#[derive(Deserialize)]
pub(super) struct RelateSkills {
    /// Whether the reconciler has found them, and no change of a skill.
    #[serde(default)]
    repair: bool,
}

impl UserJob for RelateSkills {
    const TASK: &'static str = task::RELATE_SKILLS;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(relate_skills(ctx, self.repair).await?)
    }
}

/// Finds, over all tenants, whose skills are to be read: the rules are new, or a job was lost.
pub(super) struct RelateStale;

impl SystemJob for RelateStale {
    const TASK: &'static str = task::RELATE_STALE;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        Ok(reconcile(app).await.map(drop)?)
    }
}

/// Enqueues the users whose skills are to be read, at most 2,000; how many.
///
/// # Errors
/// `Unavailable`.
pub async fn reconcile(app: &App) -> Result<i64> {
    let jobs = due::enqueue_relating(&app.db, RULES, app.now(), MOST).await?;
    if jobs > 0 {
        tracing::info!(jobs, rules = RULES, "skills are to be read for the graph");
    }
    Ok(jobs)
}

/// What is still to be read for the graph, of all tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Users whose skills are to be read.
    pub users: i64,
    /// Jobs that wait, or are at work.
    pub jobs: i64,
    /// Whether there may be more of either.
    pub is_cut: bool,
}

/// Most users and jobs that are counted.
const MOST_COUNTED: i64 = 100_000;

impl Backlog {
    /// Whether all is read.
    pub fn is_empty(self) -> bool {
        self.users + self.jobs == 0
    }
}

/// Counts what is still to be read for the graph.
///
/// # Errors
/// `Unavailable`.
pub async fn find_backlog(app: &App) -> Result<Backlog> {
    let due::Unrelated { users, jobs } = due::count_unrelated(&app.db, RULES, MOST_COUNTED).await?;
    Ok(Backlog { users, jobs, is_cut: users.max(jobs) == MOST_COUNTED })
}
