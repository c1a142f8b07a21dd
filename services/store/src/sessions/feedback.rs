//! Feedback on sessions, and the effect of feedback on learned examples.

use chrono::{DateTime, Utc};
use knowhow_domain::{FeedbackKind, Result, Session, SessionId, new_id};
use uuid::Uuid;

use super::find::find_in;
use crate::WriteTx;
use crate::learning::examples;
use crate::vault::statement;

/// A user's judgement of a session.
#[derive(Debug, Clone, Copy)]
pub struct Feedback<'a> {
    pub kind: FeedbackKind,
    /// Rating for the kind `quality`: `good`, `fair` or `poor`. `None` for all other kinds.
    pub value: Option<&'a str>,
    pub note: Option<&'a str>,
}

/// Maximum number of judgements per session.
pub const FEEDBACK: i64 = 100;

statement! {
    write AddFeedback {
        session: Uuid, kind: String, value: Option<String>, note: Option<String>, feedback_id: Uuid,
        now: DateTime<Utc>, audit_id: Uuid, actor: String, most: i64,
    } -> (),
    "-- sessions.add_feedback
    with judged as (
        update sessions s set quality = case when $4::text = 'quality' then $5 else s.quality end
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and $11 > (
            select count(*) from session_feedback f
            where f.tenant_id = $1 and f.user_id = $2 and f.session_id = $3)
        returning s.turns as number
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $9, $8, $10, 'session.feedback', $3::uuid::text, jsonb_build_object('kind', $4::text) from judged
    )
    insert into session_feedback (tenant_id, user_id, session_id, feedback_id, kind, value, note, turn, at)
    select $1, $2, $3, $7, $4, $5, $6, number, $8 from judged
    returning feedback_id"
}

/// A session and the result of storing a judgement.
pub struct RatedSession {
    /// The session after the judgement.
    pub session: Session,
    /// Whether the judgement was stored. `false` if the session already has the maximum number of judgements.
    pub is_stored: bool,
}

/// Stores a judgement. Returns `None` if the session is not the caller's. A judgement of kind `quality` sets the
/// session's quality. A correction or thumbs down deletes the examples that skills learned in the current turn.
pub async fn add_feedback(
    tx: &mut WriteTx,
    session: SessionId,
    feedback: Feedback<'_>,
    now: DateTime<Utc>,
) -> Result<Option<RatedSession>> {
    let unlearns = matches!(feedback.kind, FeedbackKind::Correction | FeedbackKind::ThumbsDown);
    if unlearns {
        tx.lock_user();
    }
    let add = AddFeedback {
        session: session.0,
        kind: feedback.kind.as_str().to_owned(),
        value: feedback.value.map(str::to_owned),
        note: feedback.note.map(str::to_owned),
        feedback_id: new_id(),
        now,
        audit_id: new_id(),
        actor: tx.actor(),
        most: FEEDBACK,
    };
    let added = tx.send_ahead(add);
    let Some(found) = find_in(tx, session).await? else { return Ok(None) };
    if unlearns {
        examples::remove_of_turn(tx, session);
    }
    Ok(Some(RatedSession { session: found.session, is_stored: !added.take()?.is_empty() }))
}
