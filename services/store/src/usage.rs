//! Counts that a caller reports. (A load counts itself, in `skills/load.rs`.)

use chrono::{DateTime, Utc};
use knowhow_domain::{Result, SkillId, new_id};

use crate::TenantTx;
use crate::error::refuse;

/// One reported use.
#[derive(Debug, Clone)]
pub struct Use<'a> {
    /// Of which skill.
    pub skill: SkillId,
    /// At which version.
    pub version: i32,
    /// The conversation, by the caller's key.
    pub session_key: Option<&'a str>,
    /// The memory it belongs to.
    pub memory_id: Option<&'a str>,
    /// The caller's project.
    pub project: Option<&'a str>,
    /// Where the file lay that was used.
    pub runtime_path: Option<&'a str>,
    /// `success`, `failure` or `partial`.
    pub outcome: Option<&'a str>,
    /// When; its UTC day is part of what makes a use the same.
    pub now: DateTime<Utc>,
}

/// Counts a use once per skill, session key, memory and UTC day. An outcome that comes later for a use that is already
/// counted is added to it. Returns whether it counted and the count now.
///
/// # Errors
/// `Unavailable`.
pub async fn count(tx: &mut TenantTx, used: &Use<'_>) -> Result<(bool, i64)> {
    let (tenant, user) = (tx.tenant(), tx.user());
    let row = sqlx::query!(
        r#"-- usage.count
        with usage as materialized (
            select u.skill_id from skill_usage u where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $4 for update
        ), event as (
            insert into usage_events as e (tenant_id, user_id, event_id, skill_id, version, kind, session_key, memory_id,
                project, runtime_path, outcome, day, at)
            select $1, $2, $3, usage.skill_id, $5, 'used', $6, $7, $8, $9, $10,
                   ($11::timestamptz at time zone 'UTC')::date, $11
            from usage
            on conflict (tenant_id, user_id, skill_id, session_key, memory_id, day) where kind = 'used'
            do update set outcome = excluded.outcome where e.outcome is null and excluded.outcome is not null
            returning e.event_id = $3 as fresh
        ), counted as (
            update skill_usage u set
                times_used = u.times_used + case when event.fresh then 1 else 0 end,
                last_used_at = greatest(u.last_used_at, $11),
                successes = u.successes + case when $10 = 'success' then 1 else 0 end,
                failures = u.failures + case when $10 = 'failure' then 1 else 0 end,
                partials = u.partials + case when $10 = 'partial' then 1 else 0 end
            from event
            where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $4
            returning u.times_used
        )
        select coalesce((select fresh from event), false) as "counted!",
               coalesce((select times_used from counted),
                        (select times_used from skill_usage
                         where tenant_id = $1 and user_id = $2 and skill_id = $4), 0) as "times_used!""#,
        tenant,
        user,
        new_id(),
        used.skill.0,
        used.version,
        used.session_key,
        used.memory_id,
        used.project,
        used.runtime_path,
        used.outcome,
        used.now
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    Ok((row.counted, row.times_used))
}
