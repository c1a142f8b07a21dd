//! The users of a tenant, as its admins see them.

use knowhow_domain::{Result, User, UserId};

use crate::TenantTx;
use crate::error::refuse;

/// A page in the order of external ids, behind `after`; with `only`, that one alone.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, only: Option<&str>, after: &str, limit: i64) -> Result<Vec<User>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    sqlx::query_as!(
        User,
        r#"-- users.list (a tenant's admin: all users of the tenant)
        select u.user_id as id, $5::text as "tenant!", u.external_id, u.created_at, c.skill_count, c.byte_count,
               u.held_at, u.hold_reason, u.suspended_at, u.suspended_reason
        from users u
        join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
        where u.tenant_id = $1 and u.external_id > $2 and ($3::text is null or u.external_id = $3)
          and u.erased_at is null
        order by u.external_id
        limit $4"#,
        tenant,
        after,
        only,
        limit,
        slug
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// The user whom the tenant calls so.
///
/// # Errors
/// `Unavailable`.
pub async fn find_id(tx: &mut TenantTx, external_id: &str) -> Result<Option<UserId>> {
    let tenant = tx.tenant();
    let id = sqlx::query_scalar!(
        "-- users.find_id (a tenant's admin: the user_id is what is asked for)
        select user_id from users where tenant_id = $1 and external_id = $2",
        tenant,
        external_id
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(id.map(UserId))
}
