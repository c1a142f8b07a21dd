//! Submissions: proposed changes to skills, stored separately until they are decided.

pub(crate) mod add;
pub(crate) mod decide;
pub(crate) mod list;
pub(crate) mod notice;

pub use add::{
    KnownSubmissions, MAX_WAITING, MAX_WAITING_BYTES, ModelReads, Proposed, Proposing, SameResult, add, find_known,
    find_known_share, notify_reviewers,
};
pub use decide::{
    Decision, Undecided, approve_version, close, close_for_admin, lock_waiting, note_check, read_undecided,
};
pub use list::{SubmissionListQuery, find, find_in, find_owner, list, list_of_tenant};
pub use notice::{find_unnotified, note_notified};

use chrono::{DateTime, Utc};
use knowhow_domain::{Check, Submission, SubmissionKind, SubmissionState};
use serde_json::Value;
use uuid::Uuid;

use crate::vault::enum_text::Word;
use crate::vault::row;

row! {
    struct SubmissionRow {
        submission_id: Uuid, name: String, kind: Word<SubmissionKind>, state: Word<SubmissionState>, external_id: String,
        submitter: String, author: String, reason: Option<String>, session: Option<String>, tainted: bool, tainted_in: Vec<String>,
        tainted_by: Vec<String>, base_version: i32, base_digest: Option<String>, result_digest: Option<String>,
        checks: Value, decided_by: Option<String>, comment: Option<String>, decided_at: Option<DateTime<Utc>>,
        applied_version: Option<i32>, created_at: DateTime<Utc>, expires_at: DateTime<Utc>,
    }
}

impl TryFrom<SubmissionRow> for Submission {
    type Error = knowhow_domain::Error;

    fn try_from(row: SubmissionRow) -> Result<Self, Self::Error> {
        Ok(Self {
            id: row.submission_id.into(),
            skill: row.name,
            kind: row.kind.0,
            state: row.state.0,
            user: row.external_id,
            submitter: row.submitter,
            author: row.author,
            reason: row.reason,
            session: row.session,
            tainted: row.tainted,
            tainted_in: row.tainted_in,
            tainted_by: row.tainted_by,
            base_version: row.base_version,
            base_digest: row.base_digest,
            result_digest: row.result_digest,
            checks: checks(row.checks)?,
            decided_by: row.decided_by,
            comment: row.comment,
            decided_at: row.decided_at,
            applied_version: row.applied_version,
            created_at: row.created_at,
            expires_at: row.expires_at,
        })
    }
}

fn checks(stored: Value) -> knowhow_domain::Result<Vec<Check>> {
    serde_json::from_value(stored).map_err(knowhow_domain::Error::internal)
}
