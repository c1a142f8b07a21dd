//! The users of a tenant, for its admins.

use knowhow_domain::{Result, User, UserId};

use crate::vault::error::refuse;
use crate::{TenantTx, Window};

/// Filter for users of the tenant.
#[derive(Debug, Clone, Copy)]
pub enum ExternalIdFilter<'a> {
    /// The user with this external id.
    One(&'a str),
    /// All users with external ids that begin with this prefix. The empty prefix selects all users.
    Beginning(&'a str),
}

impl ExternalIdFilter<'_> {
    /// Returns the range of external ids, in byte order: inclusive lower and exclusive upper bound.
    fn bounds(self) -> (String, String) {
        match self {
            // Ids contain no control characters, so this range contains no other id.
            Self::One(name) => (name.to_owned(), format!("{name}\u{1}")),
            Self::Beginning(prefix) => (prefix.to_owned(), behind(prefix)),
        }
    }
}

/// Returns the smallest text that is greater than all texts with this prefix.
fn behind(prefix: &str) -> String {
    let mut kept: Vec<char> = prefix.chars().collect();
    while let Some(last) = kept.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            kept.push(next);
            return kept.into_iter().collect();
        }
    }
    // This text is greater than any id.
    String::from(char::MAX).repeat(256)
}

/// Lists a page of users in byte order of their external ids.
pub async fn list(tx: &mut TenantTx, named: ExternalIdFilter<'_>, page: Window<&str>) -> Result<Vec<User>> {
    let (tenant, slug) = (tx.tenant(), tx.tenant_slug().to_owned());
    let (first, behind) = named.bounds();
    sqlx::query_as!(
        User,
        r#"-- users.list (a tenant's admin: all users of the tenant)
        select u.user_id as id, $5::text as "tenant!", u.external_id, u.created_at, c.skill_count, c.byte_count, c.stored_bytes,
               u.held_at, u.hold_reason, u.suspended_at, u.suspended_reason
        from users u
        join user_catalogs c on c.tenant_id = u.tenant_id and c.user_id = u.user_id
        where u.tenant_id = $1 and u.external_id collate "C" > $2 and u.external_id collate "C" >= $3
          and u.external_id collate "C" < $6
          and u.erased_at is null
        order by u.external_id collate "C"
        limit $4"#,
        tenant,
        page.behind,
        first,
        page.limit,
        slug,
        behind
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}

/// Finds the user with this external id, with the same fields as [`list`] returns.
pub async fn find(tx: &mut TenantTx, external_id: &str) -> Result<Option<User>> {
    Ok(list(tx, ExternalIdFilter::One(external_id), Window { behind: "", limit: 1 }).await?.pop())
}

/// Finds the id of the user with this external id.
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

#[cfg(test)]
mod tests;
