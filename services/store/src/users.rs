//! The users of a tenant, as its admins see them.

use knowhow_domain::{Result, User, UserId};

use crate::error::refuse;
use crate::{TenantTx, Window};

/// Which users of the tenant.
#[derive(Debug, Clone, Copy)]
pub enum Named<'a> {
    /// The one whom the tenant calls so.
    One(&'a str),
    /// All whose names begin so; the empty beginning is everybody's.
    Beginning(&'a str),
}

impl Named<'_> {
    /// The first name, and the first one behind them all, in the order of bytes.
    fn bounds(self) -> (String, String) {
        match self {
            // Whatever goes on after the name goes on with no control character.
            Self::One(name) => (name.to_owned(), format!("{name}\u{1}")),
            Self::Beginning(prefix) => (prefix.to_owned(), behind(prefix)),
        }
    }
}

/// The first text that is behind all with that beginning.
fn behind(prefix: &str) -> String {
    let mut kept: Vec<char> = prefix.chars().collect();
    while let Some(last) = kept.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            kept.push(next);
            return kept.into_iter().collect();
        }
    }
    // Longer than any name, of the last character that there is.
    String::from(char::MAX).repeat(256)
}

/// A page of users in the order of their names' bytes.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, named: Named<'_>, page: Window<&str>) -> Result<Vec<User>> {
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

/// The user whom the tenant calls so, as a list has it.
///
/// # Errors
/// `Unavailable`.
pub async fn find(tx: &mut TenantTx, external_id: &str) -> Result<Option<User>> {
    Ok(list(tx, Named::One(external_id), Window { behind: "", limit: 1 }).await?.pop())
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

#[cfg(test)]
mod tests;
