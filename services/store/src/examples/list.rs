//! The examples of a skill, as their owner sees them.

use knowhow_domain::{Example, Result, SkillId};
use uuid::Uuid;

use crate::TenantTx;
use crate::error::refuse;

/// Examples of a skill, the newest first, from before one.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut TenantTx, skill: SkillId, before: Option<Uuid>, limit: i64) -> Result<Vec<Example>> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query_as!(
        Example,
        "-- examples.list
        select e.example_id as id, e.message, e.learned_at, e.confirmed_at, e.confirmations
        from skill_examples e
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and ($4::uuid is null or e.example_id < $4)
        order by e.example_id desc
        limit $5",
        tenant,
        user,
        skill.0,
        before,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)
}
