//! Decides submissions.

use chrono::{DateTime, Utc};
use knowhow_domain::{Check, Error, ResourceEntry, Result, SkillId, Source, SubmissionId, SubmissionState, new_id};
use serde_json::Value;
use uuid::Uuid;

use super::SubmissionRow;
use super::list::missing;
use crate::vault::enum_text::Word;
use crate::vault::error::refuse;
use crate::vault::statement::Statement;
use crate::vault::value::Files;
use crate::vault::{row, statement};
use crate::{TenantTx, WriteTx};

row! {
    struct ProposedRow {
        skill_id: Option<Uuid>, source: Word<Source>, document: Option<String>, resources: Files, pinned: Option<bool>,
        request_digest: Option<Vec<u8>>, derived: bool, successor_id: Option<Uuid>, successor_name: Option<String>,
        base_hash: Option<Vec<u8>>, files: Vec<Vec<u8>>,
    }
}

statement! {
    write ReadUndecided { id: Uuid } -> (SubmissionRow, ProposedRow),
    "-- submissions.read_undecided
    select s.submission_id, s.name, s.kind, s.state, u.external_id,
           app.shown_actor(s.submitter) as submitter, s.submitter as author, s.reason, s.session, s.tainted, s.tainted_in,
           s.tainted_by, s.base_version, encode(s.base_digest, 'hex') as base_digest,
           encode(s.result_digest, 'hex') as result_digest, s.checks,
           app.shown_actor(s.decided_by) as decided_by, s.comment, s.decided_at,
           s.applied_version, s.created_at, s.expires_at,
           s.skill_id, s.source, s.document, s.resources, s.pinned, s.request_digest, s.derived, s.successor_id,
           s.successor_name, s.base_digest as base_hash,
           array(select f.content from submission_files f
                 where f.tenant_id = $1 and f.user_id = $2 and f.submission_id = $3) as files
    from submissions s
    join users u on u.tenant_id = $1 and u.user_id = $2
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3
    for update of s"
}

/// A locked submission with its proposed state.
pub struct Undecided {
    /// The public data of the submission.
    pub submission: knowhow_domain::Submission,
    /// The skill to change; `None` for a new skill.
    pub skill: Option<SkillId>,
    /// Origin to record if the skill is new.
    pub source: Source,
    /// The new SKILL.md. `None` for a deletion, or if the stored text was deleted.
    pub document: Option<String>,
    /// All resources of the new state.
    pub resources: Vec<ResourceEntry>,
    /// Contents of resources that might not be stored elsewhere.
    pub files: Vec<Vec<u8>>,
    /// The proposed pin, if it changes. The pin is not part of the text.
    pub pinned: Option<bool>,
    /// Digest of the request, which identifies a repeated request.
    pub request_digest: Option<Vec<u8>>,
    /// Whether the new state is derived from the previous state and inherits its taint.
    pub derived: bool,
    /// Skill that replaces the deleted skill; `None` if no skill replaces it.
    pub successor: Option<(SkillId, String)>,
    /// Digest of the state that the proposal is based on; `None` for a new skill.
    pub base_digest: Option<Vec<u8>>,
}

/// Locks and reads a submission for a decision. Locks on the user's catalogue row and on the submission serialize
/// concurrent decisions.
///
/// # Errors
/// `NotFound`, `Unavailable`.
pub async fn read_undecided(tx: &mut WriteTx, id: SubmissionId) -> Result<Undecided> {
    tx.lock_user();
    let (submission, row) = tx.write(ReadUndecided { id: id.0 }).await?.pop().ok_or_else(missing)?;
    Ok(Undecided {
        submission: submission.try_into()?,
        skill: row.skill_id.map(SkillId),
        source: row.source.into(),
        document: row.document,
        resources: row.resources.into(),
        files: row.files,
        pinned: row.pinned,
        request_digest: row.request_digest,
        derived: row.derived,
        successor: row.successor_id.map(SkillId).zip(row.successor_name),
        base_digest: row.base_hash,
    })
}

/// Decision about a submission.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// New state of the submission.
    pub state: SubmissionState,
    /// Reviewer; `None` if only checks decided.
    pub decided_by: Option<&'a str>,
    /// The reviewer's comment, if there is one.
    pub comment: Option<&'a str>,
    /// Version that the approved submission created; `None` if it created no version.
    pub applied_version: Option<i32>,
    pub now: DateTime<Utc>,
}

statement! {
    write CloseSubmission {
        id: Uuid, state: &'static str, decided_by: Option<String>, comment: Option<String>, version: Option<i32>,
        now: DateTime<Utc>, audit_id: Uuid, actor: String,
    } -> (),
    "-- submissions.close
    with closed as (
        update submissions s
        set state = $4, decided_by = $5, comment = $6, applied_version = $7, decided_at = $8,
            document = case when $4 <> 'approved' then s.document end
        where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3 and s.state in ('checking', 'needs_review')
        returning s.submission_id, s.name, s.base_digest, s.result_digest
    ), files as (
        delete from submission_files f using closed
        where f.tenant_id = $1 and f.user_id = $2 and f.submission_id = $3 and $4 = 'approved'
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $9, $8, $10, 'submission.' || $4, name,
               jsonb_build_object('submission', $3::uuid, 'comment', $6::text, 'version', $7::integer), base_digest, result_digest
        from closed
    )
    select submission_id from (select (select submission_id from closed) as submission_id) one
    where app.require_written(submission_id) is not null"
}

/// Closes a pending submission, together with COMMIT.
pub fn close(tx: &mut WriteTx, id: SubmissionId, decision: Decision<'_>) {
    let actor = tx.actor();
    tx.send_ahead(CloseSubmission {
        id: id.0,
        state: decision.state.as_str(),
        decided_by: decision.decided_by.map(str::to_owned),
        comment: decision.comment.map(str::to_owned),
        version: decision.applied_version,
        now: decision.now,
        audit_id: new_id(),
        actor,
    });
}

/// Locks a submission of the admin transaction's user. Returns whether it is still pending.
pub async fn lock_waiting(tx: &mut TenantTx, id: SubmissionId) -> Result<bool> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let waits = sqlx::query_scalar!(
        r#"-- submissions.lock_waiting
        select s.state in ('checking', 'needs_review') as "waits!" from submissions s
        where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3
        for update"#,
        tenant,
        user,
        id.0
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(waits == Some(true))
}

/// Closes a pending submission like [`close`], in an admin's transaction.
pub async fn close_for_admin(tx: &mut TenantTx, id: SubmissionId, decision: Decision<'_>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    sqlx::query(CloseSubmission::SQL)
        .bind(tenant)
        .bind(user)
        .bind(id.0)
        .bind(decision.state.as_str())
        .bind(decision.decided_by)
        .bind(decision.comment)
        .bind(decision.applied_version)
        .bind(decision.now)
        .bind(new_id())
        .bind(actor)
        .execute(tx.conn())
        .await
        .map_err(refuse)?;
    Ok(())
}

statement! {
    write NoteCheck { id: Uuid, check: Value, holds: bool } -> (),
    "-- submissions.note_check
    update submissions s
    set checks = s.checks || jsonb_build_array($4::jsonb), state = case when $5 then 'needs_review' else s.state end
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3"
}

/// Appends a check to a locked submission, together with COMMIT. If `holds`, the submission then waits for a person.
///
/// # Errors
/// `Internal` if the check cannot be serialized.
pub fn note_check(tx: &mut WriteTx, id: SubmissionId, check: &Check, holds: bool) -> Result<()> {
    let check = serde_json::to_value(check).map_err(Error::internal)?;
    tx.send_ahead(NoteCheck { id: id.0, check, holds });
    Ok(())
}

statement! {
    write ApproveVersion { skill: Uuid, version: i32, actor: String, now: DateTime<Utc> } -> (),
    "-- submissions.approve_version
    with approved as (
        update skill_versions v
        set tainted = false, approved_by = $5, approved_at = $6
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4
    ), said as materialized (
        select app.added_passages($3, $4, $4 - 1) as passages
    ), known as (
        delete from tainted_passages p
        where p.tenant_id = $1 and p.user_id = $2 and p.passage = any (array(select unnest(s.passages) from said s))
    )
    update skills s set tainted = false
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.version = $4"
}

/// Marks a version as approved because a person accepted it, together with COMMIT. The version and texts derived from
/// it are no longer tainted.
pub fn approve_version(tx: &mut WriteTx, skill: SkillId, version: i32, now: DateTime<Utc>) {
    let actor = tx.actor();
    tx.send_ahead(ApproveVersion { skill: skill.0, version, actor, now });
}
