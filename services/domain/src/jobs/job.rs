//! Background jobs.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::JobId;

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum JobState {
    /// Waits for a worker.
    Waiting,
    /// Runs in a worker.
    Running,
    /// Failed, and will be retried with increasing delays.
    Failed,
    /// Failed permanently. Deleted after 30 days.
    Dead,
}

impl JobState {
    /// Returns the name as served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A background job.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// Id; later jobs have larger ids.
    #[schema(value_type = i64, example = 4711)]
    pub id: JobId,
    /// Slug of the tenant; null for jobs of the system.
    #[schema(example = "acme")]
    pub tenant: Option<String>,
    /// Kind of work.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// State of the job.
    pub state: JobState,
    /// External id of the user, or internal id if the user was erased; absent for jobs of the system.
    #[schema(example = "alice")]
    pub user: Option<String>,
    /// Number of attempts so far.
    pub attempts: i16,
    /// Maximum number of attempts.
    pub max_attempts: i16,
    /// Error of the last attempt.
    pub last_error: Option<String>,
    /// Due time.
    pub run_at: DateTime<Utc>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Deduplication key. Only one job with the same key waits at a time.
    #[schema(example = "embed_skill:0193e9c2-6b1f-7d3a-9f00-2b6d1c9e4a10")]
    pub key: Option<String>,
}

/// The pending jobs of one kind.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JobQueue {
    /// Kind of work.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// Number of jobs that wait for a worker, including delayed ones.
    pub waiting: i64,
    /// Number of running jobs.
    pub running: i64,
    /// Number of failed jobs that will be retried.
    pub failed: i64,
    /// Number of jobs that failed permanently.
    pub dead: i64,
    /// Creation time of the oldest job that is not dead.
    pub oldest_at: Option<DateTime<Utc>>,
    /// Waiting time of the most overdue job, in seconds; 0 if no job is due.
    #[schema(minimum = 0)]
    pub late_s: i64,
}

impl JobQueue {
    /// Adds the counts of `others`, which are jobs of the same kind. Takes the earlier `oldest_at` and the larger
    /// `late_s`.
    pub fn add(&mut self, others: &Self) {
        self.waiting += others.waiting;
        self.running += others.running;
        self.failed += others.failed;
        self.dead += others.dead;
        self.oldest_at = self.oldest_at.into_iter().chain(others.oldest_at).min();
        self.late_s = self.late_s.max(others.late_s);
    }
}

/// Names of tasks in the queue. If a task is renamed, jobs that wait under its old name never run.
pub mod task {
    /// Runs a pass of a dream.
    pub const DREAM: &str = "dream";
    /// Starts a user's dream runs for one night.
    pub const DREAM_NIGHT: &str = "dream_night";
    /// Enqueues a job for each user at the start of the user's night.
    pub const DREAM_NIGHTS: &str = "dream_nights";
    /// Embeds a user's examples.
    pub const EMBED_EXAMPLES: &str = "embed_examples";
    /// Embeds a user's memories.
    pub const EMBED_MEMORIES: &str = "embed_memories";
    /// Embeds a skill.
    pub const EMBED_SKILL: &str = "embed_skill";
    /// Enqueues a job for each text without a vector from the current model.
    pub const EMBED_STALE: &str = "embed_stale";
    /// Enriches a skill that has a short description.
    pub const ENRICH_SKILL: &str = "enrich_skill";
    /// Enqueues a job for each skill that needs enrichment and has no job.
    pub const ENRICH_STALE: &str = "enrich_stale";
    /// Removes the remaining data of an erased user.
    pub const ERASE_USER: &str = "erase_user";
    /// Continues unfinished erasures and checks finished ones.
    pub const ERASE_USERS: &str = "erase_users";
    /// Ends silent conversations.
    pub const END_SESSIONS: &str = "end_sessions";
    /// Notifies a tenant's webhook of waiting operations of a dream or reflection.
    pub const NOTIFY_DREAM: &str = "notify_dream";
    /// Notifies a tenant's webhook of a waiting submission.
    pub const NOTIFY_SUBMISSION: &str = "notify_submission";
    /// Offers a user merges of newer starters with their own changes.
    pub const OFFER_MERGES: &str = "offer_merges";
    /// Removes expired data.
    pub const PRUNE: &str = "prune";
    /// Extracts relations from a user's changed skills.
    pub const RELATE_SKILLS: &str = "relate_skills";
    /// Enqueues a job for each user with skills that relations must be extracted from.
    pub const RELATE_STALE: &str = "relate_stale";
    /// Scans a user's skills with the current scanner rules.
    pub const RESCAN_SKILLS: &str = "rescan_skills";
    /// Enqueues a job for each user with skills that must be scanned again.
    pub const RESCAN_STALE: &str = "rescan_stale";
    /// Makes a reflection of a user.
    pub const REFLECT: &str = "reflect";
    /// Enqueues a job for each reflection that is due.
    pub const REFLECT_DUE: &str = "reflect_due";
    /// Seals entries of the audit log into its chain.
    pub const SEAL_AUDIT: &str = "seal_audit";
    /// Asks a chat model to review a submission.
    pub const REVIEW_SUBMISSION: &str = "review_submission";
    /// Moves submissions to human review if no model has reviewed them in time.
    pub const REVIEW_OVERDUE: &str = "review_overdue";
    /// Renders a user's snapshot.
    pub const RENDER_SNAPSHOT: &str = "render_snapshot";
    /// Enqueues a job for each snapshot that expires soon.
    pub const RENDER_SNAPSHOTS: &str = "render_snapshots";
    /// Summarises a finished conversation.
    pub const SUMMARIZE_CONVERSATION: &str = "summarize_conversation";
    /// Writes the index line of a skill.
    pub const SUMMARIZE_SKILL: &str = "summarize_skill";

    /// All tasks, including those that need a model.
    pub const ALL: [&str; 29] = [
        DREAM,
        DREAM_NIGHT,
        DREAM_NIGHTS,
        EMBED_EXAMPLES,
        EMBED_MEMORIES,
        EMBED_SKILL,
        EMBED_STALE,
        ENRICH_SKILL,
        ENRICH_STALE,
        ERASE_USER,
        ERASE_USERS,
        END_SESSIONS,
        NOTIFY_DREAM,
        NOTIFY_SUBMISSION,
        OFFER_MERGES,
        PRUNE,
        RELATE_SKILLS,
        RELATE_STALE,
        RESCAN_SKILLS,
        RESCAN_STALE,
        REFLECT,
        REFLECT_DUE,
        REVIEW_SUBMISSION,
        REVIEW_OVERDUE,
        RENDER_SNAPSHOT,
        RENDER_SNAPSHOTS,
        SEAL_AUDIT,
        SUMMARIZE_CONVERSATION,
        SUMMARIZE_SKILL,
    ];
}

#[cfg(test)]
mod tests;
