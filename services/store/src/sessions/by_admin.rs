//! Ends sessions on behalf of a tenant's admin.

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Error, Result, SessionId, new_id};

use crate::TenantTx;
use crate::vault::error::refuse;

/// Ends a session of the transaction's user and enqueues its summary. If the session has already ended, it stays
/// unchanged.
///
/// # Errors
/// `NotFound` if the session is not that user's.
pub async fn end(tx: &mut TenantTx, session: SessionId, now: DateTime<Utc>) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let found = sqlx::query!(
        r#"-- sessions.end_by_admin
        with ended as (
            update sessions set ended_at = $4
            where tenant_id = $1 and user_id = $2 and session_id = $3 and ended_at is null
            returning session_id
        ), queued as (
            select count(app.enqueue($5, jsonb_build_object('session_id', session_id), session_id::text)) as jobs from ended
        ), audited as (
            insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
            select $1, $2, $6, $4, $7, 'session.end', session_id::text from ended
        )
        select q.jobs as "jobs!" from sessions s, queued q
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3"#,
        tenant,
        user,
        session.0,
        now,
        task::SUMMARIZE_CONVERSATION,
        new_id(),
        actor
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    found.map(drop).ok_or_else(|| Error::not_found("session"))
}
