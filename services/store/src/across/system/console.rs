//! Finds sessions of the console.
//!
//! Runs across tenants because the cookie's secret is not verified yet, and only the row shows its user.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, TenantId};
use uuid::Uuid;

use crate::Database;
use crate::vault::pipeline::look_up;
use crate::vault::{row, statement};

row! {
    struct ConsoleRow {
        external_id: String, scopes: Vec<String>, key_id: Option<Uuid>, prefix: Option<String>, iss: Option<String>,
        used_at: DateTime<Utc>, ends_at: DateTime<Utc>, reason: Option<String>,
        viewed_user: Option<Uuid>, viewed_name: Option<String>,
    }
}

// An erased user has no session from the moment of the erasure on, although a job deletes the rows later. A session ends
// at once with its API key or its issuer.
statement! {
    look_up FindConsoleSession { tenant: Uuid, secret_hash: Vec<u8>, now: DateTime<Utc> } -> ConsoleRow,
    "-- console.find_session
    select u.external_id, s.scopes, s.key_id, k.prefix, i.iss, s.used_at, s.ends_at,
           case when s.reason_ends_at > $3 and (s.viewed_user is null or v.user_id is not null) then s.reason end as reason,
           v.user_id as viewed_user,
           v.external_id as viewed_name
    from console_sessions s
    join users u on u.tenant_id = s.tenant_id and u.user_id = s.user_id and u.erased_at is null
    left join api_keys k on k.tenant_id = s.tenant_id and k.key_id = s.key_id
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > $3)
    left join users v on v.tenant_id = s.tenant_id and v.user_id = s.viewed_user and v.erased_at is null
        and s.reason_ends_at > $3
    left join issuers i on i.tenant_id = s.tenant_id and i.issuer_id = s.issuer_id
    where s.tenant_id = $1 and s.secret_hash = $2 and s.ends_at > $3
      and s.used_at > $3::timestamptz - interval '1 hour' and (i.issuer_id is not null or k.key_id is not null)"
}

/// The session to find.
pub(crate) struct SearchedSession<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) secret_hash: &'a [u8; 32],
    pub(crate) now: DateTime<Utc>,
}

/// Finds a session that has not ended. `db` has the place of the tenant.
pub(crate) async fn find_console_session(db: &Database, searched: &SearchedSession<'_>) -> Result<Option<ConsoleRow>> {
    let SearchedSession { tenant, secret_hash, now } = *searched;
    let found = look_up(db, FindConsoleSession { tenant: tenant.0, secret_hash: secret_hash.to_vec(), now }).await?;
    Ok(found.into_iter().next())
}
