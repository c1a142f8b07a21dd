//! Sessions of the console: started by a login, ended by a logout. The gate finds them (`across/system/console.rs`).

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, UserId};
use uuid::Uuid;

use crate::vault::pipeline::write;
use crate::vault::statement;
use crate::{ConsoleSecret, Database, Principal};

statement! {
    write AddSession<'a> {
        secret_hash: Vec<u8>, scopes: Vec<&'a str>, key_id: Option<Uuid>, issuer_id: Option<Uuid>,
        now: DateTime<Utc>, ends_at: DateTime<Utc>, others: i64,
    } -> (),
    "-- console_sessions.add
    with dropped as (
        delete from console_sessions where tenant_id = $1 and user_id = $2 and secret_hash in (
            select s.secret_hash from console_sessions s where s.tenant_id = $1 and s.user_id = $2
            order by s.used_at desc offset $9)
    )
    insert into console_sessions (tenant_id, user_id, secret_hash, scopes, key_id, issuer_id, created_at, used_at, ends_at)
    values ($1, $2, $3, $4, $5, $6, $7, $7, $8)"
}

statement! {
    count NoteUse { secret_hash: Vec<u8>, now: DateTime<Utc> } -> (),
    "-- console_sessions.note_use
    update console_sessions set used_at = $4 where tenant_id = $1 and user_id = $2 and secret_hash = $3"
}

statement! {
    count StateReason<'a> {
        secret_hash: Vec<u8>, reason: Option<&'a str>, ends_at: Option<DateTime<Utc>>, viewed: Option<Uuid>,
    } -> (),
    "-- console_sessions.state_reason
    update console_sessions set reason = $4, reason_ends_at = $5, viewed_user = $6
    where tenant_id = $1 and user_id = $2 and secret_hash = $3"
}

statement! {
    write EndSession { secret_hash: Vec<u8> } -> (),
    "-- console_sessions.end
    delete from console_sessions where tenant_id = $1 and user_id = $2 and secret_hash = $3"
}

/// Maximum number of a user's sessions. A new login ends those that were used least recently.
const SESSIONS: i64 = 20;

/// Times of a new session.
#[derive(Debug, Clone, Copy)]
pub struct SessionTimes {
    pub now: DateTime<Utc>,
    pub ends_at: DateTime<Utc>,
}

/// Starts a session with the rights of the caller's credential.
pub async fn start(db: &Database, caller: &Principal, secret: &ConsoleSecret, times: SessionTimes) -> Result<()> {
    let added = AddSession {
        secret_hash: secret.hash().to_vec(),
        scopes: caller.scope_names(),
        key_id: caller.key().map(|key| key.0),
        issuer_id: caller.issuer_id().map(|issuer| issuer.0),
        now: times.now,
        ends_at: times.ends_at,
        others: SESSIONS - 1,
    };
    write(db, caller, added).await.map(drop)
}

/// Stores the time of a session's last request.
pub async fn note_use(db: &Database, caller: &Principal, secret: &ConsoleSecret, now: DateTime<Utc>) -> Result<()> {
    write(db, caller, NoteUse { secret_hash: secret.hash().to_vec(), now }).await.map(drop)
}

/// An admin's reason to read the data of other users.
#[derive(Debug, Clone, Copy)]
pub struct StatedReason<'a> {
    pub reason: &'a str,
    pub ends_at: DateTime<Utc>,
    /// The user to view; `None` for the changes of all users.
    pub viewed: Option<UserId>,
}

/// Stores the reason of a session, or removes it.
pub async fn state_reason(
    db: &Database,
    caller: &Principal,
    secret: &ConsoleSecret,
    stated: Option<StatedReason<'_>>,
) -> Result<()> {
    let (reason, ends_at) = (stated.map(|stated| stated.reason), stated.map(|stated| stated.ends_at));
    let viewed = stated.and_then(|stated| stated.viewed).map(|user| user.0);
    write(db, caller, StateReason { secret_hash: secret.hash().to_vec(), reason, ends_at, viewed }).await.map(drop)
}

/// Ends a session of the caller.
pub async fn end(db: &Database, caller: &Principal, secret: &ConsoleSecret) -> Result<()> {
    write(db, caller, EndSession { secret_hash: secret.hash().to_vec() }).await.map(drop)
}
