//! Counts recent usage of users and tenants.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::tenants::usage::{USE_DAYS, Used, UsedByTenant};

use crate::TenantTx;
use crate::tenants::stored_rows::MOST;
use crate::vault::error::refuse;

/// Counts the usage of the transaction's user in the last days.
pub async fn count_of_user(tx: &mut TenantTx, now: DateTime<Utc>) -> Result<Used> {
    let (tenant, user, since) = (tx.tenant(), tx.user(), now - TimeDelta::days(USE_DAYS));
    sqlx::query_as!(
        Used,
        r#"-- recent_usage.count_of_user
        select s.sessions as "sessions!", s.last_message_at,
               (select count(*) from turns where tenant_id = $1 and user_id = $2 and created_at >= $3) as "turns!",
               e.views as "skill_views!", e.uses as "skill_uses!",
               (select coalesce(sum(tokens), 0)::bigint from dream_runs where tenant_id = $1 and user_id = $2 and created_at >= $3)
                   as "dream_tokens!",
               (select coalesce(sum(tokens), 0)::bigint from judge_usage where tenant_id = $1 and user_id = $2 and day >= $4)
                   as "judge_tokens!"
        from (select count(*) filter (where started_at >= $3) as sessions, max(last_message_at) as last_message_at
              from sessions where tenant_id = $1 and user_id = $2) s,
             (select coalesce(sum(times) filter (where kind = 'view'), 0)::bigint as views,
                     coalesce(sum(times) filter (where kind = 'used'), 0)::bigint as uses
              from usage_events where tenant_id = $1 and user_id = $2 and day >= $4) e"#,
        tenant,
        user,
        since,
        since.date_naive()
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)
}

/// Counts the usage of all users of the tenant in the last days.
pub async fn count_of_tenant(tx: &mut TenantTx, now: DateTime<Utc>) -> Result<UsedByTenant> {
    let (tenant, since) = (tx.tenant(), now - TimeDelta::days(USE_DAYS));
    let row = sqlx::query!(
        r#"-- recent_usage.count_of_tenant (an operator at a tenant: all users of the tenant)
        select s.active_users as "active_users!", s.sessions as "sessions!", s.last_message_at,
               (select count(*) filter (where created_at >= $2)
                from (select created_at from turns where tenant_id = $1 limit $3)) as "turns!",
               e.views as "views!", e.uses as "uses!",
               (select coalesce(sum(tokens) filter (where created_at >= $2), 0)::bigint
                from (select created_at, tokens from dream_runs where tenant_id = $1 limit $3)) as "dream_tokens!",
               (select coalesce(sum(tokens), 0)::bigint
                from (select tokens from judge_usage where tenant_id = $1 and day >= $4 limit $3)) as "judge_tokens!"
        from (select count(distinct user_id) filter (where greatest(started_at, last_message_at) >= $2) as active_users,
                     count(*) filter (where started_at >= $2) as sessions, max(last_message_at) as last_message_at
              from (select user_id, started_at, last_message_at from sessions where tenant_id = $1 limit $3)) s,
             (select coalesce(sum(times) filter (where kind = 'view'), 0)::bigint as views,
                     coalesce(sum(times) filter (where kind = 'used'), 0)::bigint as uses
              from (select kind, times from usage_events where tenant_id = $1 and day >= $4 limit $3)) e"#,
        tenant,
        since,
        MOST,
        since.date_naive()
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    let used = Used {
        sessions: row.sessions,
        turns: row.turns,
        skill_views: row.views,
        skill_uses: row.uses,
        dream_tokens: row.dream_tokens,
        judge_tokens: row.judge_tokens,
        last_message_at: row.last_message_at,
    };
    Ok(UsedByTenant { active_users: row.active_users, used })
}
