//! Reads submissions without their texts.

use knowhow_domain::{Error, Result, Submission, SubmissionId, SubmissionState, UserId};
use uuid::Uuid;

use super::SubmissionRow;
use crate::vault::enum_text::Word;
use crate::vault::error::refuse;
use crate::vault::{read, statement};
use crate::{Database, Principal, TenantTx, WriteTx};

statement! {
    read FindSubmission { id: Uuid } -> SubmissionRow,
    "-- submissions.find
    select s.submission_id, s.name, s.kind, s.state, u.external_id,
           app.shown_actor(s.submitter) as submitter, s.submitter as author, s.reason, s.session, s.tainted, s.tainted_in,
           s.tainted_by, s.base_version, encode(s.base_digest, 'hex') as base_digest,
           encode(s.result_digest, 'hex') as result_digest, s.checks,
           app.shown_actor(s.decided_by) as decided_by, s.comment, s.decided_at,
           s.applied_version, s.created_at, s.expires_at
    from submissions s
    join users u on u.tenant_id = $1 and u.user_id = $2
    where s.tenant_id = $1 and s.user_id = $2 and s.submission_id = $3"
}

/// Returns one submission of the principal's user.
pub async fn find(db: &Database, principal: &Principal, id: SubmissionId) -> Result<Option<Submission>> {
    read(db, principal, FindSubmission { id: id.0 }).await?.pop().map(Submission::try_from).transpose()
}

/// Returns one submission in an open transaction.
///
/// # Errors
/// `NotFound`, `Unavailable`.
pub async fn find_in(tx: &mut WriteTx, id: SubmissionId) -> Result<Submission> {
    tx.read(FindSubmission { id: id.0 }).await?.pop().ok_or_else(missing)?.try_into()
}

/// Filter and page of submissions, newest first.
#[derive(Debug, Clone, Copy)]
pub struct SubmissionListQuery {
    /// State of the submissions; `None` for all states.
    pub state: Option<SubmissionState>,
    /// Last submission of the previous page; `None` for the first page.
    pub before: Option<SubmissionId>,
    pub limit: i64,
}

statement! {
    read ListSubmissions { state: Option<&'static str>, before: Uuid, limit: i64 } -> SubmissionRow,
    "-- submissions.list
    select s.submission_id, s.name, s.kind, s.state, u.external_id,
           app.shown_actor(s.submitter) as submitter, s.submitter as author, s.reason, s.session, s.tainted, s.tainted_in,
           s.tainted_by, s.base_version, encode(s.base_digest, 'hex') as base_digest,
           encode(s.result_digest, 'hex') as result_digest, s.checks,
           app.shown_actor(s.decided_by) as decided_by, s.comment, s.decided_at,
           s.applied_version, s.created_at, s.expires_at
    from submissions s
    join users u on u.tenant_id = $1 and u.user_id = $2
    where s.tenant_id = $1 and s.user_id = $2 and ($3::text is null or s.state = $3) and s.submission_id < $4
    order by s.submission_id desc
    limit $5"
}

/// Lists submissions of the principal's user.
pub async fn list(db: &Database, principal: &Principal, query: SubmissionListQuery) -> Result<Vec<Submission>> {
    let SubmissionListQuery { state, before, limit } = query;
    let asked = ListSubmissions {
        state: state.map(SubmissionState::as_str),
        before: before.unwrap_or(SubmissionId::LAST).0,
        limit,
    };
    read(db, principal, asked).await?.into_iter().map(Submission::try_from).collect()
}

/// Lists submissions of all users of the tenant. If `user` is given, lists only the submissions of the user with this
/// external id.
pub async fn list_of_tenant(
    tx: &mut TenantTx,
    user: Option<&str>,
    query: SubmissionListQuery,
) -> Result<Vec<Submission>> {
    let tenant = tx.tenant();
    let rows = sqlx::query_as!(
        SubmissionRow,
        r#"-- submissions.list_of_tenant (a tenant's admin: all users of the tenant, or the one of that external id)
        select s.submission_id, s.name, s.kind as "kind: Word<knowhow_domain::SubmissionKind>",
               s.state as "state: Word<SubmissionState>", u.external_id,
               app.shown_actor(s.submitter) as "submitter!", s.submitter as author, s.reason, s.session, s.tainted,
               s.tainted_in, s.tainted_by, s.base_version, encode(s.base_digest, 'hex') as base_digest,
               encode(s.result_digest, 'hex') as result_digest, s.checks,
           app.shown_actor(s.decided_by) as decided_by, s.comment, s.decided_at,
               s.applied_version, s.created_at, s.expires_at
        from submissions s
        join users u on u.tenant_id = s.tenant_id and u.user_id = s.user_id
        where s.tenant_id = $1 and ($2::text is null or u.external_id = $2) and ($3::text is null or s.state = $3)
          and s.submission_id < $4 and u.erased_at is null
        order by s.submission_id desc
        limit $5"#,
        tenant,
        user,
        query.state.map(SubmissionState::as_str),
        query.before.unwrap_or(SubmissionId::LAST).0,
        query.limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    rows.into_iter().map(Submission::try_from).collect()
}

/// Returns the id and external id of the user that a submission belongs to.
pub async fn find_owner(tx: &mut TenantTx, id: SubmissionId) -> Result<Option<(UserId, String)>> {
    let tenant = tx.tenant();
    let row = sqlx::query!(
        "-- submissions.find_owner (a tenant's admin: the user_id is what is asked for)
        select s.user_id, u.external_id from submissions s
        join users u on u.tenant_id = s.tenant_id and u.user_id = s.user_id
        where s.tenant_id = $1 and s.submission_id = $2 and u.erased_at is null",
        tenant,
        id.0
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(|row| (UserId(row.user_id), row.external_id)))
}

/// Returns the error for an unknown submission.
pub(crate) fn missing() -> Error {
    Error::not_found("submission")
}
