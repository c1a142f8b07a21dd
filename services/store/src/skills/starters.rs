//! Starter skills of a user: built-in starters, and starters of the tenant's library. Their texts are stored once for
//! all users (`library`), and users' skills refer to them.
//!
//! At first a new user only refers to a release, without rows for its skills; the code calls such starters *lent*.
//! `skill_states` shows them like other skills. `settle` creates the rows later: at the first use or change of any
//! skill, or if a release has other starters. The new rows still refer to the shared texts. If a starter is changed,
//! it gets a text of its own. `starter_installs` records the installed rows, so that a release never overwrites a
//! changed starter or brings back a deleted one.

mod outdated;

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::{Result, new_id};
use uuid::Uuid;

pub use crate::across::library::{
    NewVector, StarterText, TenantRelease, Unembedded, list_unembedded, list_unembedded_of_tenant, publish,
    publish_for_tenant, put_vectors, put_vectors_of_tenant,
};
pub(crate) use outdated::{ListOutdatedCopies, ListWithdrawn};
pub use outdated::{OutdatedCopy, list_outdated_copies, list_withdrawn};

use crate::vault::error::refuse;
use crate::vault::statement::Statement;
use crate::vault::{row, statement};
use crate::{Database, Principal, TenantTx, WriteTx};

statement! {
    write Lend { release: Vec<u8>, now: DateTime<Utc> } -> (),
    "-- starters.lend
    with library as (
        select count(*)::integer as skills, coalesce(sum(t.document_bytes), 0) as bytes
        from starter_releases b join starter_texts t on t.starter_id = b.starter_id
        where b.release = $3
    )
    update user_catalogs c
    set starters_release = $3, starters_at = $4, revision = c.revision + 1, skill_count = library.skills,
        byte_count = c.byte_count + library.bytes
    from library
    where c.tenant_id = $1 and c.user_id = $2 and c.starters_release is null and c.skill_count = 0
    returning c.user_id"
}

/// Gives a user the starters of a release, without creating rows. Has an effect only for a user without skills who
/// never got starters, and returns `false` for all others.
pub async fn lend(tx: &mut WriteTx, release: &[u8], now: DateTime<Utc>) -> Result<bool> {
    Ok(!tx.write(Lend { release: release.to_vec(), now }).await?.is_empty())
}

row! { struct ReleaseRow { starters_release: Option<Vec<u8>> } }

statement! {
    write LockRelease {} -> ReleaseRow,
    "-- starters.lock
    select starters_release from user_catalogs where tenant_id = $1 and user_id = $2 for update"
}

/// Locks the user's catalogue and reads the user's release.
pub async fn lock(tx: &mut WriteTx) -> Result<Option<Vec<u8>>> {
    let locked = tx.write(LockRelease {}).await?;
    Ok(locked.into_iter().next().and_then(|row| row.starters_release))
}

row! { struct LentRow { release: Vec<u8>, at: DateTime<Utc> } }

statement! {
    write Settle {} -> LentRow,
    "-- starters.settle
    select starters_release as release, starters_at as at from user_catalogs
    where tenant_id = $1 and user_id = $2 and starters_at is not null for update"
}

/// Creates rows for the user's starters without rows. Locks the user's catalogue only if there are such starters.
pub async fn settle(tx: &mut WriteTx) -> Result<()> {
    match tx.write(Settle {}).await?.pop() {
        Some(lent) => bring(tx, &lent.release, lent.at).await,
        None => Ok(()),
    }
}

/// Creates rows for the user's starters without rows, in an admin's transaction over the user's data.
pub(crate) async fn settle_for_admin(tx: &mut TenantTx) -> Result<()> {
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    let lent: Option<(Vec<u8>, DateTime<Utc>)> =
        sqlx::query_as(Settle::SQL).bind(tenant).bind(user).fetch_optional(tx.conn()).await.map_err(refuse)?;
    let Some((release, at)) = lent else { return Ok(()) };
    let bring = sqlx::query(Bring::SQL)
        .bind(tenant)
        .bind(user)
        .bind(release)
        .bind(at)
        .bind(actor)
        .bind(new_id())
        .bind(task::OFFER_MERGES);
    bring.execute(tx.conn()).await.map_err(refuse)?;
    Ok(())
}

/// Creates rows for the user's starters without rows, in its own transaction.
pub(crate) async fn settle_alone(db: &Database, principal: &Principal) -> Result<()> {
    let mut tx = WriteTx::begin(db, principal, "starters.settle").await?;
    settle(&mut tx).await?;
    tx.commit().await
}

statement! {
    write ForgetInstall { name: String } -> (),
    "-- starters.forget_install
    delete from starter_installs where tenant_id = $1 and user_id = $2 and name = $3"
}

/// Deletes the record that a starter was installed, together with COMMIT. Called for starters that the user did not
/// delete, so that a release can install them again.
pub fn forget_install(tx: &mut WriteTx, name: &str) {
    tx.send_ahead(ForgetInstall { name: name.to_owned() });
}

statement! {
    write Bring { release: Vec<u8>, now: DateTime<Utc>, actor: String, audit_id: Uuid, task: &'static str } -> (),
    "-- starters.bring
    with catalog as materialized (
        select c.starters_at is not null as lent from user_catalogs c where c.tenant_id = $1 and c.user_id = $2
    ), wanted as materialized (
        select t.starter_id, t.name, t.digest, t.document_digest, t.document_bytes, s.skill_id,
               s.document_digest as own_digest, old.starter_id as had, old.document_bytes as had_bytes,
               i.name is not null as given, i.document_digest as given_digest, i.offered_digest
        from starter_releases b
        join starter_texts t on t.starter_id = b.starter_id
        left join skills s on s.tenant_id = $1 and s.user_id = $2 and s.name = t.name
        left join starter_texts old on old.starter_id = s.starter_id
        left join starter_installs i on i.tenant_id = $1 and i.user_id = $2 and i.name = t.name
        where b.release = $3
    ), added as (
        insert into skills (tenant_id, user_id, skill_id, name, source, version, starter_id, created_at, updated_at)
        -- A skill removed from the library and added again gets a new id: the archive has the first one.
        select $1, $2, starter_skill_id($2, case when exists (
                   select from skill_versions v
                   where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = starter_skill_id($2, name))
               then name || ' ' || $4::timestamptz else name end), name, 'starter', 1, starter_id, $4, $4
        from wanted where skill_id is null and not given
        returning skill_id, starter_id, version
    ), moved as (
        update skills s set starter_id = w.starter_id, version = s.version + 1, updated_at = $4
        from wanted w
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = w.skill_id and w.had <> w.starter_id
        returning s.skill_id, s.starter_id, s.version
    ), changed as (
        select skill_id, starter_id, version from added union all select skill_id, starter_id, version from moved
    ), history as (
        insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, digest, starter_id,
            document_bytes, resources, created_at)
        select $1, $2, c.skill_id, c.version, 'sync', $5, w.digest, c.starter_id, w.document_bytes, '[]', $4
        from changed c join wanted w on w.starter_id = c.starter_id
    ), counted as (
        insert into skill_usage (tenant_id, user_id, skill_id) select $1, $2, skill_id from added
    ), unredirected as (
        delete from skill_redirects d using wanted w, added a
        where d.tenant_id = $1 and d.user_id = $2 and d.name = w.name and a.starter_id = w.starter_id
    ), noted as (
        insert into starter_installs (tenant_id, user_id, name, document_digest, installed_at)
        select $1, $2, name,
               case when skill_id is null or had is not null or own_digest = document_digest then document_digest else '' end, $4
        from wanted where not given or had is not null or own_digest = document_digest
        on conflict (tenant_id, user_id, name)
        do update set document_digest = excluded.document_digest, installed_at = excluded.installed_at
    ), sums as (
        select count(*)::integer as changes, coalesce(sum((w.had is null)::integer), 0) as skills,
               coalesce(sum(w.document_bytes - coalesce(w.had_bytes, 0)), 0) as bytes,
               jsonb_agg(w.name order by w.name) as names
        from changed c join wanted w on w.starter_id = c.starter_id
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $6, $4, $5, 'skill.sync', 'starters', jsonb_build_object('skills', names)
        from sums, catalog where changes > 0 and not lent
    ), offers as (
        select count(app.enqueue($7, '{}', 'all', true)) as jobs
        from (select from wanted
              where had is null and given_digest not in ('', document_digest, own_digest) and own_digest <> document_digest
                and offered_digest is distinct from document_digest
              limit 1) changed
    )
    update user_catalogs c
    set starters_release = $3, starters_at = null, related_rules = 0,
        revision = c.revision + case when changes > 0 and not lent then 1 else 0 end,
        skill_count = c.skill_count + case when lent then 0 else skills end,
        byte_count = c.byte_count + case when lent then 0 else bytes end
    from sums, catalog, offers
    where c.tenant_id = $1 and c.user_id = $2 and jobs >= 0"
}

/// Installs the starters of a release as rows for the user. The user's catalogue must be locked. A new starter is
/// added unless a skill with its name exists or existed. A starter that refers to an earlier text gets a new version
/// that refers to this release's text. Texts changed by the user stay, and a job offers to merge them.
pub async fn bring(tx: &mut WriteTx, release: &[u8], now: DateTime<Utc>) -> Result<()> {
    // Starters without rows are already counted, so the totals do not change.
    let actor = tx.actor();
    tx.write(Bring { release: release.to_vec(), now, actor, audit_id: new_id(), task: task::OFFER_MERGES }).await?;
    Ok(())
}
