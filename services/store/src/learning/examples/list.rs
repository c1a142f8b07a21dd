//! The list of a skill's examples for its owner.

use chrono::{DateTime, Utc};
use knowhow_domain::{Example, ExampleId, Result, SkillId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

row! {
    Example {
        id: Uuid, message: String, counter_example: bool, learned_at: DateTime<Utc>, confirmed_at: DateTime<Utc>,
        confirmations: i32,
    }
}

statement! {
    read ListExamples { skill: Uuid, before: Option<Uuid>, limit: i64 } -> Example,
    "-- examples.list
    select e.example_id as id, e.message, e.is_counter as counter_example, e.learned_at, e.confirmed_at, e.confirmations
    from skill_examples e
    where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = $3 and ($4::uuid is null or e.example_id < $4)
    order by e.example_id desc
    limit $5"
}

/// Lists examples of a skill that are older than `before`, the newest first.
///
/// # Errors
/// `Unavailable`.
pub async fn list(tx: &mut WriteTx, skill: SkillId, before: Option<ExampleId>, limit: i64) -> Result<Vec<Example>> {
    tx.read(ListExamples { skill: skill.0, before: before.map(|example| example.0), limit }).await
}
