//! Work in the background.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::JobId;

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum JobState {
    /// It waits for a worker.
    Waiting,
    /// A worker has it.
    Running,
    /// It failed and is tried again, later each time.
    Failed,
    /// It failed for good. It stays for 30 days.
    Dead,
}

impl JobState {
    /// The word that is served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Something that is done in the background.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// The id; later jobs have larger ones.
    #[schema(value_type = i64, example = 4711)]
    pub id: JobId,
    /// Its tenant, by slug; null for jobs of the system.
    #[schema(example = "acme")]
    pub tenant: Option<String>,
    /// The kind of work.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// How far it is.
    pub state: JobState,
    /// Whose it is, by external id, or by id where the user is gone; absent for jobs of the system.
    #[schema(example = "alice")]
    pub user: Option<String>,
    /// Times it was begun.
    pub attempts: i16,
    /// Times it may be begun.
    pub max_attempts: i16,
    /// Why it failed last.
    pub last_error: Option<String>,
    /// When it is due.
    pub run_at: DateTime<Utc>,
    /// When it was enqueued.
    pub created_at: DateTime<Utc>,
    /// What it is about. Only one job with the same key waits at a time.
    #[schema(example = "embed_skill:0193e9c2-6b1f-7d3a-9f00-2b6d1c9e4a10")]
    pub key: Option<String>,
}

/// The jobs of one kind that are not done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct JobQueue {
    /// The kind of work.
    #[schema(example = "embed_skill")]
    pub task: String,
    /// Jobs that wait for a worker, also for later.
    pub waiting: i64,
    /// Jobs that a worker has.
    pub running: i64,
    /// Jobs that failed and are tried again.
    pub failed: i64,
    /// Jobs that failed for good.
    pub dead: i64,
    /// When the oldest of those was enqueued that are not dead.
    pub oldest_at: Option<DateTime<Utc>>,
    /// For how many seconds the one has waited that should have been begun first; 0 where none is due.
    #[schema(minimum = 0)]
    pub late_s: i64,
}

impl JobQueue {
    /// Counts jobs of the same kind with them.
    pub fn add(&mut self, others: &Self) {
        self.waiting += others.waiting;
        self.running += others.running;
        self.failed += others.failed;
        self.dead += others.dead;
        self.oldest_at = self.oldest_at.into_iter().chain(others.oldest_at).min();
        self.late_s = self.late_s.max(others.late_s);
    }
}

/// What jobs are called in the queue. A name that changes leaves jobs behind that nobody works on.
pub mod task {
    /// Does one run of a dream.
    pub const DREAM: &str = "dream";
    /// Begins a user's runs of one night.
    pub const DREAM_NIGHT: &str = "dream_night";
    /// Enqueues the users whose night it is.
    pub const DREAM_NIGHTS: &str = "dream_nights";
    /// Makes the vectors of a user's examples.
    pub const EMBED_EXAMPLES: &str = "embed_examples";
    /// Makes the vectors of a user's memories.
    pub const EMBED_MEMORIES: &str = "embed_memories";
    /// Makes the vector of a skill.
    pub const EMBED_SKILL: &str = "embed_skill";
    /// Enqueues what has no vector of the present model.
    pub const EMBED_STALE: &str = "embed_stale";
    /// Has a skill found better whose author said little.
    pub const ENRICH_SKILL: &str = "enrich_skill";
    /// Enqueues the skills that wait to be enriched and have no job.
    pub const ENRICH_STALE: &str = "enrich_stale";
    /// Removes what is left of one user who was erased.
    pub const ERASE_USER: &str = "erase_user";
    /// Goes on with erasures that were not finished, and looks after those that were.
    pub const ERASE_USERS: &str = "erase_users";
    /// Ends conversations that fell silent.
    pub const END_SESSIONS: &str = "end_sessions";
    /// Tells a tenant's webhook that a submission waits.
    pub const NOTIFY_SUBMISSION: &str = "notify_submission";
    /// Offers a user merges of newer starters with their own changes.
    pub const OFFER_MERGES: &str = "offer_merges";
    /// Removes what is past its time.
    pub const PRUNE: &str = "prune";
    /// Reads those of a user's skills for relations whose texts say others than before.
    pub const RELATE_SKILLS: &str = "relate_skills";
    /// Enqueues the users whose skills are to be read for relations.
    pub const RELATE_STALE: &str = "relate_stale";
    /// Reads a user's skills with the scanner's rules of now.
    pub const RESCAN_SKILLS: &str = "rescan_skills";
    /// Enqueues the users whose skills are to be read anew.
    pub const RESCAN_STALE: &str = "rescan_stale";
    /// Makes one reflection of a user.
    pub const REFLECT: &str = "reflect";
    /// Enqueues the reflections that are due.
    pub const REFLECT_DUE: &str = "reflect_due";
    /// Seals entries of the audit log into its chain.
    pub const SEAL_AUDIT: &str = "seal_audit";
    /// Has a chat model read a submission.
    pub const REVIEW_SUBMISSION: &str = "review_submission";
    /// Has people look at submissions that no model has read in time.
    pub const REVIEW_OVERDUE: &str = "review_overdue";
    /// Renders a user's snapshot.
    pub const RENDER_SNAPSHOT: &str = "render_snapshot";
    /// Enqueues the snapshots that are about to expire.
    pub const RENDER_SNAPSHOTS: &str = "render_snapshots";
    /// Summarizes a conversation that is over.
    pub const SUMMARIZE_CONVERSATION: &str = "summarize_conversation";
    /// Writes the index line of a skill.
    pub const SUMMARIZE_SKILL: &str = "summarize_skill";

    /// All of them, also those that a process without models does not do.
    pub const ALL: [&str; 28] = [
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
