//! State of dreams for a user: each pass with its mode, failures and last run, and recent usage.

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::{Mode, Pass};

use crate::vault::{Word, row};

row! {
    struct StoredPass {
        pass: Word<Pass>, mode: Option<Word<Mode>>, failures: i32, paused_at: Option<DateTime<Utc>>,
        fingerprint: Option<Vec<u8>>, fingerprint_at: Option<DateTime<Utc>>, runs_today: i64,
    }
}

/// State of a pass for a user.
#[derive(Debug, Clone)]
pub struct PassRow {
    pub pass: Pass,
    /// The user's own mode, if set.
    pub mode: Option<Mode>,
    /// Number of consecutive failed runs.
    pub failures: i32,
    /// Time at which failures paused the pass; `None` if it is not paused.
    pub paused_at: Option<DateTime<Utc>>,
    /// Digest of the last completed run's inputs.
    pub fingerprint: Option<Vec<u8>>,
    pub fingerprint_at: Option<DateTime<Utc>>,
    /// Number of runs requested within 24 hours.
    pub runs_today: i64,
}

impl From<StoredPass> for PassRow {
    fn from(row: StoredPass) -> Self {
        Self {
            pass: row.pass.0,
            mode: row.mode.map(|mode| mode.0),
            failures: row.failures,
            paused_at: row.paused_at,
            fingerprint: row.fingerprint,
            fingerprint_at: row.fingerprint_at,
            runs_today: row.runs_today,
        }
    }
}

row! {
    LearningRow {
        time_zone: Option<String>, tokens_today: i64, archived_lately: i64, waiting_in_dreams: i64,
        waiting_in_reflections: i64,
    }
}

/// A user's own settings, and today's usage.
#[derive(Debug, Clone, Default)]
pub struct LearningRow {
    pub time_zone: Option<String>,
    /// Number of tokens used on the current UTC day.
    pub tokens_today: i64,
    /// Number of skills that dreams archived within 30 days and that were not restored.
    pub archived_lately: i64,
    /// Number of operations of dreams that wait for a decision.
    pub waiting_in_dreams: i64,
    /// Number of operations of reflections that wait for a decision.
    pub waiting_in_reflections: i64,
}
