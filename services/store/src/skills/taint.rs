//! Taint of skills: which of a few are tainted, and what a person approves.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{Error, Result, SkillId, UserId, new_id};
use uuid::Uuid;

use crate::error::refuse;
use crate::vault::value::uuids;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, TenantTx};

/// Recall may know a skill for so long by the line that it had before.
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

/// Those of these skills that are tainted, or were until a minute ago.
///
/// # Errors
/// `Unavailable`.
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

row! { struct NameRow { name: String } }

statement! {
    read ListTaintedNames<'a> { names: &'a [&'a str] } -> NameRow,
    "-- skills.list_tainted_names
    select s.name from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3) and s.tainted
    order by s.name"
}

/// Those of these names whose skills are tainted.
///
/// # Errors
/// `Unavailable`.
pub async fn list_tainted_names(db: &Database, principal: &Principal, names: &[&str]) -> Result<Vec<String>> {
    let rows = read(db, principal, ListTaintedNames { names }).await?;
    Ok(rows.into_iter().map(|row| row.name).collect())
}

/// Whose skill this is.
///
/// # Errors
/// `Unavailable`.
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

/// A person's word that a version can be trusted.
#[derive(Debug, Clone, Copy)]
pub struct Approval<'a> {
    pub skill: SkillId,
    pub version: i32,
    /// For the audit log.
    pub reason: &'a str,
}

/// Approves a version for its user: it is tainted no more, nor is what is made of it, and what it says is known as good.
/// Other versions keep their taint. Approved again, nothing changes.
///
/// # Errors
/// `NotFound`; `Forbidden` for the author of the version; `Conflict` `not-tainted` for one that needs no approval.
pub async fn approve(tx: &mut TenantTx, approval: &Approval<'_>, now: DateTime<Utc>) -> Result<()> {
    let Approval { skill, version, reason } = *approval;
    let (tenant, user, actor) = (tx.tenant(), tx.user(), tx.actor().to_owned());
    tx.lock_user().await?;
    let found = sqlx::query!(
        "-- skills.find_for_approval
        select v.actor, v.tainted, v.approved_at from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4",
        tenant,
        user,
        skill.0,
        version
    )
    .fetch_optional(tx.conn())
    .await
    .map_err(refuse)?
    .ok_or_else(|| Error::not_found("version"))?;
    if !found.tainted {
        let detail = "the version is not tainted, so there is nothing to approve".into();
        return if found.approved_at.is_some() { Ok(()) } else { Err(Error::Conflict { code: "not-tainted", detail }) };
    }
    if found.actor == actor {
        return Err(Error::Forbidden("a person who did not write it"));
    }
    // Its passages are good from now on, wherever they are.
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
