//! A stored run with the counts of its operations and its retention.

use chrono::{DateTime, Utc};
use knowhow_domain::DreamId;
use knowhow_domain::learning::dream::{Cause, DreamRun, Mode, OpCounts, RunPass, RunState};
use uuid::Uuid;

use crate::vault::{Word, row};

row! {
    struct RunRow {
        run_id: Uuid, pass: Word<RunPass>, cause: Word<Cause>, mode: Word<Mode>, dry_run: bool, state: Word<RunState>,
        reason: Option<String>, tokens: i64, started_by: String, created_at: DateTime<Utc>,
        finished_at: Option<DateTime<Utc>>, undone_at: Option<DateTime<Utc>>, proposed: i64, waiting: i64, applied: i64,
        refused: i64, conflict: i64, rejected: i64,
    }
}

row! { struct RetentionRow { texts_until: DateTime<Utc> } }

impl From<RunRow> for DreamRun {
    fn from(row: RunRow) -> Self {
        let RunRow { proposed, waiting, applied, refused, conflict, rejected, .. } = row;
        Self {
            id: DreamId(row.run_id),
            pass: row.pass.0,
            cause: row.cause.0,
            mode: row.mode.0,
            dry_run: row.dry_run,
            state: row.state.0,
            reason: row.reason,
            counts: OpCounts { proposed, waiting, applied, refused, conflict, rejected },
            tokens: row.tokens,
            started_by: row.started_by,
            created_at: row.created_at,
            finished_at: row.finished_at,
            undone_at: row.undone_at,
        }
    }
}

/// A run and its retention.
#[derive(Debug, Clone)]
pub struct RunDetail {
    pub run: DreamRun,
    /// Time until which the run can be undone.
    pub texts_until: DateTime<Utc>,
}

impl RunDetail {
    pub(super) fn of(run: RunRow, kept: &RetentionRow) -> Self {
        Self { run: run.into(), texts_until: kept.texts_until }
    }
}
