//! Digests of skills held against the stored ones, through the pipelined door.

use knowhow_domain::Result;

use crate::door::{Durability, read};
use crate::error::refuse_read;
use crate::{Database, Principal};

/// What the comparison found.
#[derive(Debug)]
pub struct Compared {
    /// For each name in order: `None` where the user has no such skill, else whether its digest is the same.
    pub same: Vec<Option<bool>>,
    /// How many skills the user has.
    pub skill_count: i32,
}

const COMPARE: &str = "-- skills.compare
    with known as materialized (
        select s.name, s.digest from skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3::text[])
    ), owner as materialized (
        select c.skill_count from user_catalogs c where c.tenant_id = $1 and c.user_id = $2
    )
    select k.digest = given.digest, coalesce((select skill_count from owner), 0)
    from unnest($3::text[], $4::bytea[]) with ordinality as given (name, digest, place)
    left join known k on k.name = given.name
    order by given.place";

/// Compares the digests of skills, `names` and `digests` in one order, with those that the user has.
///
/// # Errors
/// `Unavailable`.
pub async fn compare(db: &Database, principal: &Principal, names: &[&str], digests: &[Vec<u8>]) -> Result<Compared> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, COMPARE, &[&tenant, &user, &names, &digests]).await?;
    let same = rows.iter().map(|row| row.try_get(0).map_err(refuse_read)).collect::<Result<_>>()?;
    let skill_count = rows.first().map(|row| row.try_get(1).map_err(refuse_read)).transpose()?.unwrap_or_default();
    Ok(Compared { same, skill_count })
}
