//! Suggestions for an unknown skill name: the successor of a merged skill, and existing names.

use knowhow_domain::Result;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// Suggestions for an unknown skill name.
#[derive(Debug, Default)]
pub struct Misses {
    /// Name of the skill that absorbed a deleted skill with the unknown name, if there is one.
    pub successor: Option<String>,
    /// Skills with the unknown name in their frontmatter, at most two.
    pub aliased: Vec<String>,
    /// All of the user's skill names (at most 5,000, plus shared starters).
    pub names: Vec<String>,
}

row! { Misses { successor: Option<String>, aliased: Vec<String>, names: Vec<String> } }

// Reads the names from the index only, without visiting the rows of up to 5,000 skills. `skill_states` would visit
// all of them. A redirect always has a skill. The join is still an outer one, for the reason given at
// `sessions.read_turn`.
statement! {
    read ExplainMiss { name: String } -> Misses,
    "-- skills.explain_miss
    select (select s.name from skill_redirects d
            left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = d.skill_id
            where d.tenant_id = $1 and d.user_id = $2 and d.name = $3) as successor,
           array(select s.name from skills s
                 where s.tenant_id = $1 and s.user_id = $2 and s.attributes ? 'alias' and s.attributes ->> 'alias' = $3
                 order by s.name limit 2) as aliased,
           array(select s.name from skills s where s.tenant_id = $1 and s.user_id = $2 order by s.name limit 5000)
           || array(select t.name from user_catalogs c
                    join starter_releases b on b.release = c.starters_release
                    join starter_texts t on t.starter_id = b.starter_id
                    where c.tenant_id = $1 and c.user_id = $2 and c.starters_at is not null
                    order by t.name) as names"
}

/// Looks up the successor of the name, and existing names.
pub async fn explain_miss(db: &Database, principal: &Principal, name: &str) -> Result<Misses> {
    Ok(read(db, principal, ExplainMiss { name: name.to_owned() }).await?.pop().unwrap_or_default())
}

/// Does the same as `explain_miss` in an open transaction, including its own changes.
pub async fn explain_miss_in(tx: &mut WriteTx, name: &str) -> Result<Misses> {
    Ok(tx.read(ExplainMiss { name: name.to_owned() }).await?.pop().unwrap_or_default())
}
