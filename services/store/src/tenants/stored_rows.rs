//! Counts the stored rows of a tenant or user.

use knowhow_domain::tenants::usage::StoredOfUser;
use knowhow_domain::{Result, Stored};

use crate::TenantTx;
use crate::vault::error::refuse;

/// Maximum number of counted rows. A tenant may have many millions of rows, and a request waits for the result.
pub(crate) const MOST: i64 = 1_000_000;

/// Counts the stored rows of all users of the tenant.
pub async fn count(tx: &mut TenantTx) -> Result<Stored> {
    let tenant = tx.tenant();
    sqlx::query_as!(
        Stored,
        r#"-- stored_rows.count (an operator at a tenant: all users of the tenant)
        select c.users as "users!", c.skills as "skills!", c.bytes as "skill_bytes!", c.stored as "stored_bytes!",
               (select count(*) from (select from skill_versions where tenant_id = $1 limit $2)) as "versions!",
               (select count(*) from (select from archived_skills where tenant_id = $1 limit $2)) as "archived!",
               (select count(*) from (select from memories where tenant_id = $1 limit $2)) as "memories!",
               (select count(*) from (select from sessions where tenant_id = $1 limit $2)) as "sessions!",
               (select count(*) from (select from turns where tenant_id = $1 limit $2)) as "turns!",
               (select count(*) from (select from messages where tenant_id = $1 limit $2)) as "messages!",
               (select count(*) from (select from snapshots where tenant_id = $1 limit $2)) as "snapshots!",
               (select count(*) from (select from idempotency_keys where tenant_id = $1 limit $2))
                   as "idempotency_answers!",
               (select count(*) from (select from submissions where tenant_id = $1 and state in ('checking', 'needs_review')
                                      limit $2))
                   as "waiting_submissions!",
               (select count(*) from (select from dream_runs where tenant_id = $1 limit $2)) as "dream_runs!",
               (select count(*) from (select from skill_examples where tenant_id = $1 limit $2)) as "examples!",
               (select count(*) from (select from audit_log where tenant_id = $1 limit $2)) as "audit_entries!"
        from (select count(*) as users, coalesce(sum(skill_count), 0)::bigint as skills,
                     coalesce(sum(byte_count), 0)::bigint as bytes, coalesce(sum(stored_bytes), 0)::bigint as stored
              from user_catalogs where tenant_id = $1) c"#,
        tenant,
        MOST
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)
}

/// Counts the stored rows of the transaction's user.
pub async fn count_of_user(tx: &mut TenantTx) -> Result<StoredOfUser> {
    let (tenant, user) = (tx.tenant(), tx.user());
    sqlx::query_as!(
        StoredOfUser,
        r#"-- stored_rows.count_of_user
        select (select count(*) from (select from skill_versions where tenant_id = $1 and user_id = $2 limit $3)) as "versions!",
               (select count(*) from (select from archived_skills where tenant_id = $1 and user_id = $2 limit $3)) as "archived!",
               (select count(*) from (select from memories where tenant_id = $1 and user_id = $2 limit $3)) as "memories!",
               (select count(*) from (select from sessions where tenant_id = $1 and user_id = $2 limit $3)) as "sessions!",
               (select count(*) from (select from turns where tenant_id = $1 and user_id = $2 limit $3)) as "turns!",
               (select count(*) from (select from messages where tenant_id = $1 and user_id = $2 limit $3)) as "messages!",
               (select count(*) from (select from snapshots where tenant_id = $1 and user_id = $2 limit $3)) as "snapshots!",
               (select count(*) from (select from idempotency_keys where tenant_id = $1 and user_id = $2 limit $3)) as "idempotency_answers!",
               (select count(*) from (select from dream_runs where tenant_id = $1 and user_id = $2 limit $3)) as "dream_runs!",
               (select count(*) from (select from skill_examples where tenant_id = $1 and user_id = $2 limit $3)) as "examples!",
               (select count(*) from (select from audit_log where tenant_id = $1 and user_id = $2 limit $3)) as "audit_entries!",
               (select count(*) from (select from sessions where tenant_id = $1 and user_id = $2 and ended_at is null limit $3))
                   as "open_sessions!",
               (select count(*) from (select from submissions where tenant_id = $1 and user_id = $2
                                      and state in ('checking', 'needs_review') limit $3))
                   as "waiting_submissions!""#,
        tenant,
        user,
        MOST
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)
}
