//! Compares digests of skills with the stored ones in one round trip.

use knowhow_domain::{Result, Source};

use crate::vault::enum_text::Word;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// The result of a comparison.
#[derive(Debug)]
pub struct Compared {
    /// Stored skills in the order of `names`; `None` if the user has no such skill.
    pub held: Vec<Option<ComparedSkill>>,
    /// Number of the user's skills.
    pub skill_count: i32,
}

/// A stored skill.
#[derive(Debug)]
pub struct ComparedSkill {
    /// Whether its digest equals the given one.
    pub is_same: bool,
    /// Origin of the skill.
    pub source: Source,
}

row! { struct ComparedRow { is_same: Option<bool>, source: Option<Word<Source>>, skill_count: i32 } }

statement! {
    read Compare<'a> { names: &'a [&'a str], digests: &'a [Vec<u8>] } -> ComparedRow,
    "-- skills.compare
    with known as materialized (
        select s.name, s.digest, s.source from skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3::text[])
    ), owner as materialized (
        select c.skill_count from user_catalogs c where c.tenant_id = $1 and c.user_id = $2
    )
    select k.digest = given.digest as is_same, k.source, coalesce((select skill_count from owner), 0) as skill_count
    from unnest($3::text[], $4::bytea[]) with ordinality as given (name, digest, place)
    left join known k on k.name = given.name
    order by given.place"
}

/// Compares digests of skills with the stored ones. `names` and `digests` have the same order.
pub async fn compare(db: &Database, principal: &Principal, names: &[&str], digests: &[Vec<u8>]) -> Result<Compared> {
    let rows = read(db, principal, Compare { names, digests }).await?;
    let skill_count = rows.first().map_or(0, |row| row.skill_count);
    let held =
        rows.into_iter().map(|row| Some(ComparedSkill { is_same: row.is_same?, source: row.source?.0 })).collect();
    Ok(Compared { held, skill_count })
}
