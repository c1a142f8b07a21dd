//! How dreams stand with a user: each pass with its mode, failures and last run, and what all took lately.

use chrono::{DateTime, Utc};
use knowhow_domain::dream::{Mode, Pass};

use crate::vault::{Word, row};

row! {
    struct StoredPass {
        pass: Word<Pass>, mode: Option<Word<Mode>>, failures: i32, paused_at: Option<DateTime<Utc>>,
        fingerprint: Option<Vec<u8>>, fingerprint_at: Option<DateTime<Utc>>, runs_today: i64,
    }
}

/// How a pass stands with a user.
#[derive(Debug, Clone)]
pub struct PassRow {
    pub pass: Pass,
    /// The user's own mode, where there is one.
    pub mode: Option<Mode>,
    /// Failed runs in a row.
    pub failures: i32,
    /// Since when it rests because of them.
    pub paused_at: Option<DateTime<Utc>>,
    /// What the last run that came to an end was made of, and when.
    pub fingerprint: Option<Vec<u8>>,
    pub fingerprint_at: Option<DateTime<Utc>>,
    /// Runs that somebody asked for within 24 hours.
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

row! { LearningRow { time_zone: Option<String>, tokens_today: i64, archived_lately: i64 } }

/// A user's own settings, and what dreams took today.
#[derive(Debug, Clone)]
pub struct LearningRow {
    pub time_zone: Option<String>,
    /// Tokens that were taken on this day in UTC.
    pub tokens_today: i64,
    /// Skills that dreams have archived within 30 days, and that were not put back.
    pub archived_lately: i64,
}
