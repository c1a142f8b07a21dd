//! Sets a skill's importance and decay. They are not part of the text, so no version is created.

use chrono::{DateTime, Utc};
use knowhow_domain::{SkillId, new_id};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::statement;

// Snapshots order skills by importance, so a changed base importance invalidates current snapshots.
statement! {
    write PutImportance {
        skill: Uuid, base: Option<f32>, rate: Option<f32>, floor: Option<f32>, now: DateTime<Utc>, audit_id: Uuid,
        actor: String, sets_rate: bool, sets_floor: bool,
    } -> (),
    "-- graph.put_importance
    with wanted as (
        select coalesce($4, s.importance) as importance,
               case when $10 then $5::real else s.decay_rate end as decay_rate,
               case when $11 then $6::real else s.importance_floor end as importance_floor
        from skills s where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3
    ), put as (
        update skills s
        set importance = w.importance, decay_rate = w.decay_rate, importance_floor = w.importance_floor, updated_at = $7
        from wanted w
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3
          and (w.importance, w.decay_rate, w.importance_floor)
              is distinct from (s.importance, s.decay_rate, s.importance_floor)
        returning s.name, s.importance, s.decay_rate, s.importance_floor
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1 from put where c.tenant_id = $1 and c.user_id = $2
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
    select $1, $2, $8, $7, $9, 'skill.importance', put.name,
           jsonb_build_object('importance', put.importance, 'decay_rate', put.decay_rate,
                              'importance_floor', put.importance_floor)
    from put"
}

/// New values of a skill's importance and decay.
#[derive(Debug, Clone, Copy)]
pub struct SetImportance {
    pub skill: SkillId,
    /// Base importance; `None` leaves it unchanged.
    pub base: Option<f32>,
    /// Decay factor per idle day. `None` leaves it unchanged; an inner `None` resets it to the tenant's value.
    pub rate: Option<Option<f32>>,
    /// Lower bound of the decay. `None` leaves it unchanged; an inner `None` resets it to the tenant's value.
    pub floor: Option<Option<f32>>,
}

/// Sets the values, together with COMMIT. The user's catalogue row must be locked.
pub fn set_importance(tx: &mut WriteTx, set: SetImportance, now: DateTime<Utc>) {
    let SetImportance { skill, base, rate, floor } = set;
    let actor = tx.actor();
    tx.send_ahead(PutImportance {
        skill: skill.0,
        base,
        rate: rate.flatten(),
        floor: floor.flatten(),
        now,
        audit_id: new_id(),
        actor,
        sets_rate: rate.is_some(),
        sets_floor: floor.is_some(),
    });
}
