//! The soul: the user's overlay of the agent's personality, every version of it.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;

use crate::door::{Durability, Params, read, rows_as};
use crate::{Database, Principal};

/// One version.
#[derive(Debug, Clone)]
pub struct Soul {
    /// Counts the changes, from 1.
    pub version: i32,
    /// The text.
    pub text: String,
    /// Who wrote it.
    pub actor: String,
    /// Whether it was written in a session that had read untrusted content.
    pub tainted: bool,
    /// When.
    pub created_at: DateTime<Utc>,
}

const LIST: &str = "-- souls.list
    select s.version, s.content, s.actor, s.tainted, s.created_at
    from souls s
    where s.tenant_id = $1 and s.user_id = $2 and s.version < $3
    order by s.version desc
    limit $4";

// Of two writers at once one finds its version taken, and makes none.
const PUT: &str = "-- souls.put
    with last as (
        select s.version, s.content from souls s
        where s.tenant_id = $1 and s.user_id = $2 order by s.version desc limit 1
    ), made as (
        insert into souls (tenant_id, user_id, version, content, actor, session, tainted, created_at)
        select $1, $2, coalesce((select version from last), 0) + 1, $3, $4, $5, app.is_tainted($5), $6
        where ($7::integer is null or $7 = coalesce((select version from last), 0))
          and $3 is distinct from (select content from last)
        on conflict (tenant_id, user_id, version) do nothing
        returning version
    ), noted as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $8, $6, $4, 'soul.update', 'soul', jsonb_build_object('version', version) from made
    )
    select coalesce((select version from last), 0), (select version from made),
           $3 is not distinct from (select content from last)";

/// Versions before one, the newest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list(db: &Database, principal: &Principal, before: i32, limit: i64) -> Result<Vec<Soul>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, LIST, &[&tenant, &user, &before, &limit]).await?;
    rows_as(&rows, |row| {
        Ok(Soul {
            version: row.try_get(0)?,
            text: row.try_get(1)?,
            actor: row.try_get(2)?,
            tainted: row.try_get(3)?,
            created_at: row.try_get(4)?,
        })
    })
}

/// What a write of the soul came to.
#[derive(Debug, Clone, Copy, Default)]
pub struct PutSoul {
    /// The version before; 0 where there was none.
    pub before: i32,
    /// The version made.
    pub made: Option<i32>,
    /// Whether the text is that of the version before, so that none was made.
    pub is_same: bool,
}

/// Writes a version on top of `base`, where one is given. None is made where the text is the same, another version is
/// current, or another request writes one at this moment.
///
/// # Errors
/// `Unavailable`.
pub async fn put(
    db: &Database,
    principal: &Principal,
    (text, base): (&str, Option<i32>),
    session: Option<&str>,
    now: DateTime<Utc>,
) -> Result<PutSoul> {
    let (tenant, user, actor) = (principal.tenant().0, principal.user()?.0, principal.actor());
    let params: Params<'_> = &[&tenant, &user, &text, &actor, &session, &now, &base, &knowhow_domain::new_id()];
    let rows = read(db, principal, Durability::Full, PUT, params).await?;
    let found =
        rows_as(&rows, |row| Ok(PutSoul { before: row.try_get(0)?, made: row.try_get(1)?, is_same: row.try_get(2)? }))?;
    Ok(found.into_iter().next().unwrap_or_default())
}
