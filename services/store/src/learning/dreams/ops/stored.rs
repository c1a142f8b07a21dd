//! A stored operation: proposal, outcome, and undo data.

use std::collections::BTreeMap;

use knowhow_domain::Check;
use knowhow_domain::learning::dream::{DreamOp, OpOutcome, Undone};
use serde_json::Value;
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::vault::{Word, row};

row! {
    struct OpRow {
        position: i32, kind: String, op: Value, outcome: Word<OpOutcome>, reasons: Vec<String>, checks: Json<Vec<Check>>,
        tainted_by: Vec<String>, undo: Option<Word<Undone>>, undo_reason: Option<String>, undo_submission: Option<Uuid>,
        decided_by: Option<String>, journal: Value, sessions: Vec<Uuid>, bases: Json<BTreeMap<String, i32>>,
        tainted_now: Vec<String>,
    }
}

/// A stored operation.
#[derive(Debug, Clone)]
pub struct StoredOp {
    pub op: DreamOp,
    /// Record of the changes that applying the operation made.
    pub journal: Value,
    /// Conversations that the operation is based on.
    pub sessions: Vec<Uuid>,
    /// Versions of the skills that the operation names, by skill name.
    pub bases: BTreeMap<String, i32>,
    /// Untrusted sources that its conversations have now, while the operation is pending. A conversation may have
    /// been marked after the proposal.
    pub tainted_now: Vec<String>,
}

impl From<OpRow> for StoredOp {
    fn from(row: OpRow) -> Self {
        let op = DreamOp {
            position: row.position,
            kind: row.kind.parse().ok(),
            op: row.op,
            outcome: row.outcome.0,
            reasons: row.reasons,
            checks: row.checks.0,
            tainted_by: row.tainted_by,
            diff: None,
            undo: row.undo.map(|undo| undo.0),
            undo_reason: row.undo_reason,
            undo_submission: row.undo_submission.map(Into::into),
            decided_by: row.decided_by,
        };
        let OpRow { journal, sessions, tainted_now, .. } = row;
        Self { op, journal, sessions, bases: row.bases.0, tainted_now }
    }
}
