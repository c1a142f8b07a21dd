//! Notices to reviewers about submissions.

use chrono::{DateTime, Utc};
use knowhow_domain::{Notice, Result, SubmissionId, SubmissionKind};
use uuid::Uuid;

use crate::vault::enum_text::Word;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

row! {
    struct NoticeRow {
        submission_id: Uuid, name: String, kind: Word<SubmissionKind>, external_id: String, submitter: String, tainted: bool,
        created_at: DateTime<Utc>, expires_at: DateTime<Utc>,
    }
}

statement! {
    read FindUnnotified { id: Uuid } -> NoticeRow,
    "-- submissions.find_unnotified
    select s.submission_id, s.name, s.kind, u.external_id, app.shown_actor(s.submitter) as submitter, s.tainted, s.created_at, s.expires_at
    from submissions s
    join users u on u.tenant_id = $1 and u.user_id = $2
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3 and s.state = 'needs_review'
      and s.notified_at is null"
}

/// Returns the notice about a submission of the principal's user. Returns `None` if the notice was already sent, or
/// if the submission does not wait for a person.
pub async fn find_unnotified(db: &Database, principal: &Principal, id: SubmissionId) -> Result<Option<Notice>> {
    let found = read(db, principal, FindUnnotified { id: id.0 }).await?.pop();
    Ok(found.map(|row| Notice {
        tenant: principal.tenant_slug().to_owned(),
        submission: row.submission_id.into(),
        skill: row.name,
        kind: row.kind.0,
        user: row.external_id,
        submitter: row.submitter,
        tainted: row.tainted,
        created_at: row.created_at,
        expires_at: row.expires_at,
    }))
}

statement! {
    write NoteNotified { id: Uuid, now: DateTime<Utc> } -> (),
    "-- submissions.note_notified
    update submissions s set notified_at = $4 where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3"
}

/// Records that the notice about a submission was sent.
pub async fn note_notified(db: &Database, principal: &Principal, id: SubmissionId, now: DateTime<Utc>) -> Result<()> {
    write(db, principal, NoteNotified { id: id.0, now }).await.map(drop)
}
