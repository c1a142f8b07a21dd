//! Digests of skills held against the stored ones, in one round trip.

use knowhow_domain::Result;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// The result of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// For each name in order: `None` where the user has no such skill, else whether its digest is the same.
    pub same: Vec<Option<bool>>,
    /// How many skills the user has.
    pub skill_count: i32,
}

row! { struct ComparedRow { is_same: Option<bool>, skill_count: i32 } }

statement! {
    read Compare<'a> { names: &'a [&'a str], digests: &'a [Vec<u8>] } -> ComparedRow,
    "-- skills.compare
    with known as materialized (
        select s.name, s.digest from skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3::text[])
    ), owner as materialized (
        select c.skill_count from user_catalogs c where c.tenant_id = $1 and c.user_id = $2
    )
    select k.digest = given.digest as is_same, coalesce((select skill_count from owner), 0) as skill_count
    from unnest($3::text[], $4::bytea[]) with ordinality as given (name, digest, place)
    left join known k on k.name = given.name
    order by given.place"
}

/// Compares the digests of skills, `names` and `digests` in one order, with those that the user has.
///
/// # Errors
/// `Unavailable`.
pub async fn compare(db: &Database, principal: &Principal, names: &[&str], digests: &[Vec<u8>]) -> Result<Compared> {
    let rows = read(db, principal, Compare { names, digests }).await?;
    let skill_count = rows.first().map_or(0, |row| row.skill_count);
    Ok(Compared { same: rows.into_iter().map(|row| row.is_same).collect(), skill_count })
}
