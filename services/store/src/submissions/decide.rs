//! Deciding a submission: its text, and what becomes of it.

use chrono::{DateTime, Utc};
use knowhow_domain::{Check, Error, ResourceEntry, Result, SkillId, SubmissionId, SubmissionState, new_id};
use serde_json::Value;
use uuid::Uuid;

use super::SubmissionRow;
use super::list::missing;
use crate::error::refuse;
use crate::vault::statement::Statement;
use crate::vault::value::Files;
use crate::vault::{row, statement};
use crate::{TenantTx, WriteTx};

row! {
    struct ProposedRow {
        skill_id: Option<Uuid>, source: String, document: Option<String>, resources: Files, pinned: Option<bool>,
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

/// A submission with what it proposes, locked.
pub struct Undecided {
    /// As everybody is shown it.
    pub submission: knowhow_domain::Submission,
    /// The skill that it changes.
    pub skill: Option<SkillId>,
    /// Who a new skill is by.
    pub source: String,
    /// SKILL.md as it is to be; `None` where the skill is to go, or the text is kept no more.
    pub document: Option<String>,
    /// All resources to be.
    pub resources: Vec<ResourceEntry>,
    /// Bytes of those that may not be stored elsewhere.
    pub files: Vec<Vec<u8>>,
    /// The flag that is no part of the text.
    pub pinned: Option<bool>,
    /// Recognises the same request when it comes again.
    pub request_digest: Option<Vec<u8>>,
    /// Whether it is made by changing the state before.
    pub derived: bool,
    /// For a delete: the skill that answers to the name.
    pub successor: Option<(SkillId, String)>,
    /// The digest of the state that it was made from.
    pub base_digest: Option<Vec<u8>>,
}

/// Reads a submission to decide it. Two deciders stand in line at the user's catalogue row and at this one.
///
/// # Errors
/// `NotFound`, `Unavailable`.
pub async fn read_undecided(tx: &mut WriteTx, id: SubmissionId) -> Result<Undecided> {
    tx.lock_user();
    let (submission, row) = tx.write(ReadUndecided { id: id.0 }).await?.pop().ok_or_else(missing)?;
    Ok(Undecided {
        submission: submission.try_into()?,
        skill: row.skill_id.map(SkillId),
        source: row.source,
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

/// What becomes of a submission.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// The state that it takes.
    pub state: SubmissionState,
    /// Who decides; `None` where the checks alone do.
    pub decided_by: Option<&'a str>,
    /// In the words of whoever decides.
    pub comment: Option<&'a str>,
    /// The version that it became.
    pub applied_version: Option<i32>,
    /// When.
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

/// Closes a submission that waits, together with COMMIT.
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

/// Locks a submission of the user whose rows an admin works on; whether it still waits.
///
/// # Errors
/// `Unavailable`.
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

/// Closes a submission that waits, as [`close`] does, in an admin's transaction.
///
/// # Errors
/// `Unavailable`.
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

/// Adds a step to a submission that was locked, together with COMMIT; with `holds`, it waits for a person from now on.
///
/// # Errors
/// For a check that cannot be stored.
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

/// Marks the version that a person let in as approved, together with COMMIT: it is clean, and so is what is made of it.
pub fn approve_version(tx: &mut WriteTx, skill: SkillId, version: i32, now: DateTime<Utc>) {
    let actor = tx.actor();
    tx.send_ahead(ApproveVersion { skill: skill.0, version, actor, now });
}
