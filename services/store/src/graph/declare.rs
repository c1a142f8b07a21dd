//! Relations declared by users.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::RelationType;
use knowhow_domain::{Result, SkillId, new_id};
use uuid::Uuid;

use super::RELATIONS_PER_SKILL;
use super::relate::ForgetNamesakes;
use crate::WriteTx;
use crate::vault::{row, statement};

/// A relation between two skills, as declared by a user.
#[derive(Debug, Clone)]
pub struct DeclaredRelation<'a> {
    pub kind: RelationType,
    /// Skill that the relation starts at, with its name.
    pub from: (SkillId, &'a str),
    /// Skill that the relation ends at, with its name.
    pub to: (SkillId, &'a str),
    pub now: DateTime<Utc>,
}

row! { struct DeclaredRow { is_new: bool } }

// `xmax` is 0 for an inserted row and set for an updated row.
statement! {
    write DeclareRelation {
        from: Uuid, from_name: String, to: Uuid, to_name: String, kind: &'static str, now: DateTime<Utc>, low: Uuid, high: Uuid, most: i64, audit_id: Uuid, actor: String,
    } -> DeclaredRow,
    "-- graph.declare
    with room as (
        select count(*) < $11 as is_left from (
            select from relations r
            where r.tenant_id = $1 and r.user_id = $2 and r.from_id = $9 and r.source = 'declared' limit $11) taken
    ), entered as (
        insert into entities (tenant_id, user_id, entity_id, kind, canonical, name, read_by, created_at)
        select $1, $2, e.id, 'skill', replace(e.name, '-', ' '), e.name, c.related_rules, $8
        from (values ($3::uuid, $4::text), ($5::uuid, $6::text)) as e (id, name)
        join user_catalogs c on c.tenant_id = $1 and c.user_id = $2
        on conflict (tenant_id, user_id, entity_id) do nothing
    ), put as (
        insert into relations as r (tenant_id, user_id, from_id, to_id, type, source, strength, mentions, confidence,
            evidence, reinforced_at, said_by)
        select $1, $2, $9, $10, $7, 'declared', 1, 1, 1, null, $8, $9
        from room
        where room.is_left or exists (
            select from relations k
            where k.tenant_id = $1 and k.user_id = $2 and k.from_id = $9 and k.to_id = $10 and k.type = $7
              and k.source = 'declared')
        on conflict (tenant_id, user_id, from_id, to_id, type, source, said_by) do update
        set evidence = excluded.evidence, reinforced_at = excluded.reinforced_at
        returning r.xmax = 0 as is_new
    ), computed as (
        delete from relations r using put
        where r.tenant_id = $1 and r.user_id = $2 and r.source = 'computed'
          and r.from_id = least($9, $10) and r.to_id = greatest($9, $10)
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $12, $8, $13, 'relation.declare', $4, jsonb_build_object('type', $7::text, 'skill', $6::text)
        from put
    )
    select is_new from put"
}

/// Declares a relation. Returns whether the relation is new. Returns `None` if the skill has the maximum number of
/// relations. The lock on the user's catalogue row protects both skills.
pub async fn declare(tx: &mut WriteTx, declared: &DeclaredRelation<'_>) -> Result<Option<bool>> {
    tx.lock_user();
    let ((from, from_name), (to, to_name)) = (declared.from, declared.to);
    let (low, high) = ends(declared.kind, from, to);
    tx.send_ahead(ForgetNamesakes { names: vec![from_name.to_owned(), to_name.to_owned()] });
    let actor = tx.actor();
    let put = tx
        .write(DeclareRelation {
            from: from.0,
            from_name: from_name.to_owned(),
            to: to.0,
            to_name: to_name.to_owned(),
            kind: declared.kind.as_str(),
            now: declared.now,
            low,
            high,
            most: RELATIONS_PER_SKILL,
            audit_id: new_id(),
            actor,
        })
        .await?;
    Ok(put.first().map(|row| row.is_new))
}

/// Returns the two ids in their stored order. Symmetric relations are stored from the lower id.
fn ends(kind: RelationType, from: SkillId, to: SkillId) -> (Uuid, Uuid) {
    if kind.is_symmetric() { (from.0.min(to.0), from.0.max(to.0)) } else { (from.0, to.0) }
}

/// Result of removing a relation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Removed {
    /// Whether a declared or computed relation was deleted.
    pub is_removed: bool,
    /// Whether a skill's text states the relation. If so, the relation stays.
    pub is_said: bool,
}

row! { Removed { is_removed: bool, is_said: bool } }

statement! {
    write RemoveRelation {
        low: Uuid, high: Uuid, kind: &'static str, now: DateTime<Utc>, audit_id: Uuid, actor: String, name: String,
        other: String,
    } -> Removed,
    "-- graph.remove
    with removed as (
        delete from relations r
        where r.tenant_id = $1 and r.user_id = $2 and r.from_id = $3 and r.to_id = $4 and r.type = $5
          and r.source <> 'extracted'
        returning 1
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $1, $2, $7, $6, $8, 'relation.remove', $9, jsonb_build_object('type', $5::text, 'skill', $10::text)
        where exists (select from removed)
    )
    select exists (select from removed) as is_removed,
           exists (select from relations r
                   where r.tenant_id = $1 and r.user_id = $2 and r.from_id = $3 and r.to_id = $4 and r.type = $5
                     and r.source = 'extracted') as is_said"
}

/// Deletes a declared or computed relation between two skills. An extracted relation stays while the text states it.
pub async fn remove(tx: &mut WriteTx, declared: &DeclaredRelation<'_>) -> Result<Removed> {
    let ((from, name), (to, other)) = (declared.from, declared.to);
    let (low, high) = ends(declared.kind, from, to);
    let (actor, kind, now) = (tx.actor(), declared.kind.as_str(), declared.now);
    let (name, other) = (name.to_owned(), other.to_owned());
    let removed = tx.write(RemoveRelation { low, high, kind, now, audit_id: new_id(), actor, name, other }).await?;
    Ok(removed.into_iter().next().unwrap_or_default())
}
