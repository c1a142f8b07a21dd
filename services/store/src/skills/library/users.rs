//! Reports which version of a library skill each user has.

use knowhow_domain::{LibraryUse, LibraryUser, LibraryUses, Result};

use crate::TenantTx;
use crate::vault::Word;
use crate::vault::error::refuse;

/// Maximum number of users that are counted. Counting them takes a fraction of a second.
const COUNTED: i64 = 20_000;

/// Lists the users ordered by external id, starting after `after`, each with the state and version of the skill.
pub async fn list_users(tx: &mut TenantTx, name: &str, after: &str, limit: i64) -> Result<Vec<LibraryUser>> {
    let tenant = tx.tenant();
    let rows = sqlx::query!(
        r#"-- library.list_users (a tenant's admin: all users of the tenant)
        select u.external_id, h.version as "version?",
               case when h.version is not null then 'unchanged'
                    when s.skill_id is not null and coalesce(i.document_digest, '') = '' then 'own'
                    when s.skill_id is not null then 'changed'
                    when i.name is not null then 'deleted'
                    else 'not_yet' end as "state!: Word<LibraryUse>"
        from users u
        join user_catalogs c on c.tenant_id = $1 and c.user_id = u.user_id
        left join skills s on s.tenant_id = $1 and s.user_id = u.user_id and s.name = $2
        left join starter_installs i on i.tenant_id = $1 and i.user_id = u.user_id and i.name = $2
        left join lateral (
            select max(t.version) as version from library_texts t
            where t.tenant_id = $1 and t.name = $2
              and (t.starter_id = s.starter_id or t.document_digest = s.document_digest
                   or c.starters_at is not null and exists (
                       select from library_releases r
                       where r.tenant_id = $1 and r.release = c.starters_release and t.starter_id = any (r.starter_ids)))) h on true
        where u.tenant_id = $1 and u.external_id > $3 and u.erased_at is null
        order by u.external_id
        limit $4"#,
        tenant,
        name,
        after,
        limit
    )
    .fetch_all(tx.conn())
    .await
    .map_err(refuse)?;
    let users =
        rows.into_iter().map(|row| LibraryUser { user: row.external_id, state: row.state.0, version: row.version });
    Ok(users.collect())
}

/// Counts the states of a skill among the tenant's first 20,000 users.
pub async fn count_uses(tx: &mut TenantTx, name: &str) -> Result<LibraryUses> {
    let tenant = tx.tenant();
    let row = sqlx::query!(
        r#"-- library.count_uses (a tenant's admin: all users of the tenant)
        with counted as materialized (
            select u.user_id, c.starters_at, c.starters_release
            from users u
            join user_catalogs c on c.tenant_id = $1 and c.user_id = u.user_id
            where u.tenant_id = $1 and u.erased_at is null
            order by u.user_id
            limit $3::bigint + 1
        ), texts as materialized (
            select t.starter_id, t.document_digest from library_texts t where t.tenant_id = $1 and t.name = $2
        ), releases as materialized (
            select r.release from library_releases r
            where r.tenant_id = $1 and exists (select from texts t where t.starter_id = any (r.starter_ids))
        ), had as (
            select s.skill_id is not null as has, i.name is not null as given, coalesce(i.document_digest, '') = '' as own,
                   c.starters_at is not null and c.starters_release in (select release from releases)
                   or s.starter_id in (select starter_id from texts)
                   or s.document_digest in (select document_digest from texts) as same
            from counted c
            left join skills s on s.tenant_id = $1 and s.user_id = c.user_id and s.name = $2
            left join starter_installs i on i.tenant_id = $1 and i.user_id = c.user_id and i.name = $2
        )
        select count(*) filter (where same) as "unchanged!",
               count(*) filter (where same is not true and has and not own) as "changed!",
               count(*) filter (where same is not true and not has and given) as "deleted!",
               count(*) filter (where same is not true and has and own) as "own!",
               count(*) filter (where same is not true and not has and not given) as "not_yet!"
        from had"#,
        tenant,
        name,
        COUNTED
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    let uses = LibraryUses {
        unchanged: row.unchanged,
        changed: row.changed,
        deleted: row.deleted,
        own: row.own,
        not_yet: row.not_yet,
        is_partial: false,
    };
    let counted = uses.unchanged + uses.changed + uses.deleted + uses.own + uses.not_yet;
    Ok(LibraryUses { is_partial: counted > COUNTED, ..uses })
}
