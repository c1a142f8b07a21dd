//! Extracts relations and entities from changed skills, or from all skills after a change to the rules. A reconciler
//! finds skills that were missed.

use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;
use knowhow_store::across::due;
use serde::Deserialize;

use super::{JobResult, SystemJob, UserJob};
use crate::graph::{RULES, relate_skills};
use crate::{App, Ctx, Priority};

/// Maximum number of users per round; the next round continues.
const MOST: i64 = 2_000;

/// Extracts relations from a user's unread skills.
#[derive(Deserialize)]
pub(super) struct RelateSkills {
    /// Whether the reconciler enqueued the job, not a change to a skill.
    #[serde(default)]
    repair: bool,
}

impl UserJob for RelateSkills {
    const TASK: &'static str = task::RELATE_SKILLS;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(relate_skills(ctx, self.repair).await?)
    }
}

/// Finds users of all tenants with unread skills, because the rules are new or a job was lost.
pub(super) struct RelateStale;

impl SystemJob for RelateStale {
    const TASK: &'static str = task::RELATE_STALE;
    const SCHEDULE: &'static str = "* * * * *";

    async fn run(app: &App) -> JobResult {
        Ok(reconcile(app).await.map(drop)?)
    }
}

/// Enqueues jobs for users with unread skills, at most 2,000. Returns the number of jobs.
pub async fn reconcile(app: &App) -> Result<i64> {
    let jobs = due::enqueue_relating(&app.db, RULES, app.now(), MOST).await?;
    if jobs > 0 {
        tracing::info!(jobs, rules = RULES, "enqueued users with skills to read for the graph");
    }
    Ok(jobs)
}

/// The remaining work for the graph, over all tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Number of users with unread skills.
    pub users: i64,
    /// Number of queued and running jobs.
    pub jobs: i64,
    /// Whether a count reached its limit.
    pub is_cut: bool,
}

/// Maximum value of each count.
const MOST_COUNTED: i64 = 100_000;

impl Backlog {
    /// Returns whether all skills are read.
    pub fn is_empty(self) -> bool {
        self.users + self.jobs == 0
    }
}

/// Counts the users with unread skills, and their jobs.
pub async fn find_backlog(app: &App) -> Result<Backlog> {
    let due::Unrelated { users, jobs } = due::count_unrelated(&app.db, RULES, MOST_COUNTED).await?;
    Ok(Backlog { users, jobs, is_cut: users.max(jobs) == MOST_COUNTED })
}
