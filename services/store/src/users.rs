//! The users of a tenant, as its admins see them.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, UserId};

use crate::TenantTx;
use crate::error::refuse;

/// One end user.
#[derive(Debug, Clone)]
pub struct UserRow {
    /// The id.
    pub id: UserId,
    /// The tenant's own name for them.
    pub external_id: String,
    /// First seen.
    pub created_at: DateTime<Utc>,
    /// Skills they keep.
    pub skill_count: i32,
    /// Bytes of them.
    pub byte_count: i64,
}

/// A page in the order of external ids, behind `after`; with `only`, that one alone.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, only: Option<&str>, after: &str, limit: i64) -> Result<Vec<UserRow>> {
    let tenant = tx.tenant();
    let rows = sqlx::query!(
        "-- users.list (a tenant's admin: all users of the tenant)
        select u.user_id, u.external_id, u.created_at, c.skill_count, c.byte_count
        from users u
        join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
        where u.tenant_id = $1 and u.external_id > $2 and ($3::text is null or u.external_id = $3)
        order by u.external_id
        limit $4",
        tenant,
        after,
        only,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(rows
        .into_iter()
        .map(|r| UserRow {
            id: UserId(r.user_id),
            external_id: r.external_id,
            created_at: r.created_at,
            skill_count: r.skill_count,
            byte_count: r.byte_count,
        })
        .collect())
}
