//! Finds tainted skills, and approves versions.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Error, Result, SkillId, UserId, new_id};
use uuid::Uuid;

use crate::vault::error::refuse;
use crate::vault::value::uuids;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, TenantTx, WriteTx};

/// Maximum time until recall notices the changed index line of a skill.
const KNOWN_BY_OLD_LINE: TimeDelta = TimeDelta::minutes(1);

row! { struct TaintedRow { skill_id: Uuid } }

statement! {
    read FindTainted { skills: Vec<Uuid>, since: DateTime<Utc> } -> TaintedRow,
    "-- skills.find_tainted
    select s.skill_id from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)
      and (s.tainted or s.updated_at > $4 and exists (
          select from skill_versions v
          where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = s.version - 1 and v.tainted))"
}

/// Returns the given skills that are tainted or were tainted within the last minute.
pub async fn find_tainted(
    db: &Database,
    principal: &Principal,
    skills: &[SkillId],
    now: DateTime<Utc>,
) -> Result<Vec<SkillId>> {
    let rows =
        read(db, principal, FindTainted { skills: uuids(skills.iter().copied()), since: now - KNOWN_BY_OLD_LINE })
            .await?;
    Ok(rows.into_iter().map(|row| SkillId(row.skill_id)).collect())
}

row! { struct TaintedNameRow { name: String } }

statement! {
    read ListTaintedNames<'a> { names: &'a [&'a str] } -> TaintedNameRow,
    "-- skills.list_tainted_names
    select s.name from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3) and s.tainted
    order by s.name"
}

/// Returns the given names that belong to tainted skills.
pub async fn list_tainted_names(db: &Database, principal: &Principal, names: &[&str]) -> Result<Vec<String>> {
    let rows = read(db, principal, ListTaintedNames { names }).await?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

statement! {
    write RefuseTainted { named: Vec<String> } -> (),
    "-- skills.refuse_tainted (the function reads the sessions of this tenant_id and user_id)
    select app.admit(t.tainted_in <> '{}', true) as admitted
    from app.find_taint($3) t
    where $1::uuid is not null and $2::uuid is not null"
}

/// Rejects the change if one of the named sessions is tainted or unknown.
///
/// # Errors
/// `MustBeReviewed`; the transaction cannot be used afterwards.
pub async fn refuse_tainted(tx: &mut WriteTx, named: &[&str]) -> Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    // A session is locked after the user's row, as when it is marked.
    tx.lock_user();
    let named = named.iter().map(|name| (*name).to_owned()).collect();
    tx.write(RefuseTainted { named }).await.map(|_| ())
}

/// Returns the user that a skill belongs to.
pub async fn find_owner(tx: &mut TenantTx, skill: SkillId) -> Result<Option<UserId>> {
    let tenant = tx.tenant();
    let row = sqlx::query_scalar!(
        "-- skills.find_owner (a tenant's admin: the user_id is what is asked for)
        select user_id from skills where tenant_id = $1 and skill_id = $2",
        tenant,
        skill.0
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(row.map(UserId))
}

/// A person's approval of a version.
#[derive(Debug, Clone, Copy)]
pub struct Approval<'a> {
    pub skill: SkillId,
    pub version: i32,
    /// Reason, for the audit log.
    pub reason: &'a str,
}

/// Approves a version for its user. The version and texts derived from it are no longer tainted, and its passages
/// count as trusted. Other versions keep their taint. Repeating an approval has no effect.
///
/// # Errors
/// `NotFound`; `Forbidden` for the author of the version; `Conflict` `not-tainted` if the version needs no approval.
pub async fn approve(tx: &mut TenantTx, approval: &Approval<'_>, now: DateTime<Utc>) -> Result<()> {
    let Approval { skill, version, reason } = *approval;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    tx.lock_user().await?;
    if !needs_approval(tx, approval, &actor).await? {
        return Ok(());
    }
    // The version's passages are trusted in all texts from now on.
    sqlx::query!(
        "-- skills.approve
        with approved as (
            update skill_versions v set tainted = false, approved_by = $5, approved_at = $6
            where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4
            returning v.digest, v.skill_id, v.version
        ), said as materialized (
            select app.added_passages(skill_id, version, 0) as passages from approved
        ), known as (
            delete from tainted_passages p using said
            where p.tenant_id = $1 and p.user_id = $2 and p.passage = any (said.passages)
        ), current as (
            update skills s set tainted = false from approved a
            where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = a.skill_id and s.version = a.version
            returning s.skill_id, s.name
        ), catalog as (
            update user_catalogs c set revision = c.revision + 1 where c.tenant_id = $1 and c.user_id = $2
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $7, $6, $5, 'skill.approve', skill_id::text, jsonb_build_object('version', version, 'reason', $8::text),
               digest
        from approved",
        tenant,
        user,
        skill.0,
        version,
        actor,
        now,
        new_id(),
        reason
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(())
}

/// Returns whether a version is tainted, so that `actor` can approve it; `false` if it was already approved.
async fn needs_approval(tx: &mut TenantTx, approval: &Approval<'_>, actor: &str) -> Result<bool> {
    let found = sqlx::query!(
        "-- skills.find_for_approval
        select v.actor, v.tainted, v.approved_at from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4",
        tx.tenant(),
        tx.user(),
        approval.skill.0,
        approval.version
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("version"))?;
    if !found.tainted {
        let detail = "the version is not tainted, so it needs no approval".into();
        return if found.approved_at.is_some() {
            Ok(false)
        } else {
            Err(Error::Conflict { code: "not-tainted", detail })
        };
    }
    if found.actor == actor {
        Err(Error::Denied("you wrote this version, so another person has to approve it"))
    } else {
        Ok(true)
    }
}
