//! What to say where there is no skill of a name: the one that absorbed it, and the names that there are.

use knowhow_domain::Result;

use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// What a name that is no skill may have meant.
#[derive(Debug, Default)]
pub struct Misses {
    /// The skill that absorbed the one of this name.
    pub successor: Option<String>,
    /// All names of the user (at most 5,000 and the lent ones).
    pub names: Vec<String>,
}

row! { Misses { successor: Option<String>, names: Vec<String> } }

// The names are taken from the index alone: no row of up to 5,000 skills is visited. `skill_states` would visit them all. A redirect
// leads to a skill; the join is an outer one for the reason that `sessions.read_turn` has.
statement! {
    read ExplainMiss { name: String } -> Misses,
    "-- skills.explain_miss
    select (select s.name from skill_redirects d
            left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = d.skill_id
            where d.tenant_id = $1 and d.user_id = $2 and d.name = $3) as successor,
           array(select s.name from skills s where s.tenant_id = $1 and s.user_id = $2 order by s.name limit 5000)
           || array(select t.name from user_catalogs c
                    join starter_releases b on b.release = c.starters_release
                    join starter_texts t on t.starter_id = b.starter_id
                    where c.tenant_id = $1 and c.user_id = $2 and c.starters_at is not null
                    order by t.name) as names"
}

/// Looks for a successor and for names to offer.
///
/// # Errors
/// `Unavailable`.
pub async fn explain_miss(db: &Database, principal: &Principal, name: &str) -> Result<Misses> {
    Ok(read(db, principal, ExplainMiss { name: name.to_owned() }).await?.pop().unwrap_or_default())
}

/// The same in an open transaction, which sees its own changes.
///
/// # Errors
/// `Unavailable`.
pub async fn explain_miss_in(tx: &mut WriteTx, name: &str) -> Result<Misses> {
    Ok(tx.read(ExplainMiss { name: name.to_owned() }).await?.pop().unwrap_or_default())
}
