//! Changes to a skill without a new version: the generated index line, and the pin.

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId, new_id};
use uuid::Uuid;

use crate::vault::error::refuse;
use crate::vault::statement;
use crate::{TenantTx, WriteTx};

/// Stores the generated index line of the text with this digest. Returns `false` if the skill's text has changed
/// since or the skill was deleted.
pub async fn put_made_summary(
    tx: &mut TenantTx,
    skill: SkillId,
    document_digest: &[u8],
    summary: &str,
) -> Result<bool> {
    let (tenant, user) = (tx.tenant(), tx.user());
    tx.lock_user().await?;
    let kept = sqlx::query!(
        "-- skills.put_made_summary
        with made as (
            update skills s set made_summary = $5
            where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.document_digest = $4
            returning s.skill_id
        )
        update user_catalogs c set revision = c.revision + 1 from made
        where c.tenant_id = $1 and c.user_id = $2",
        tenant,
        user,
        skill.0,
        document_digest,
        summary
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(kept.rows_affected() == 1)
}

statement! {
    write SetFlags { skill: Uuid, pinned: bool, now: DateTime<Utc>, audit_id: Uuid, actor: String } -> (),
    "-- skills.set_flags
    with flagged as (
        update skills set pinned = $4, updated_at = $5
        where tenant_id = $1 and user_id = $2 and skill_id = $3 and pinned <> $4
        returning name
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1 from flagged
        where c.tenant_id = $1 and c.user_id = $2
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    select $1, $2, $6, $5, $7, case when $4 then 'skill.pin' else 'skill.unpin' end, name from flagged"
}

/// Sets the pin, together with COMMIT. The pin is not part of the text, so no version is created.
pub fn set_flags(tx: &mut WriteTx, skill: SkillId, pinned: bool, now: DateTime<Utc>) {
    let actor = tx.actor();
    tx.send_ahead(SetFlags { skill: skill.0, pinned, now, audit_id: new_id(), actor });
}
