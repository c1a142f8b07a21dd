//! The statement that creates a skill.

use knowhow_domain::Result;
use uuid::Uuid;

use super::change::WrittenRow;
use super::columns::SkillColumns;
use super::follow_up;
use super::planned_change::PlannedChange;
use crate::WriteTx;
use crate::vault::batch::PendingRows;
use crate::vault::statement;

statement! {
    write InsertSkill {
        skill: Uuid,
        name: String,
        ..columns: SkillColumns,
        source: &'static str,
        is_reviewed: bool,
    } -> WrittenRow,
    "-- skills.insert
    with weighed as materialized (
        select w.* from app.weigh($30, $32::text[] is not null, null, $32::text[], $24,
            array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements($19::jsonb) e) || $14::bytea,
            null, null, $3, 1) w
    ), saved as (
        insert into skills (tenant_id, user_id, skill_id, name, description, summary, category, tags, triggers,
            see_also, role, attributes, source, version, digest, document_digest, document_bytes,
            frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources, resource_bytes,
            created_at, updated_at, frontmatter, tainted)
        select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $38, 1, $13, $14, $15, $16, $17, $18, $19, $20,
               $21, $21, $22, tainted
        from weighed
        on conflict (tenant_id, user_id, name) do nothing
        returning skill_id, tainted
    ), files as (
        insert into skill_resources (tenant_id, user_id, digest, content)
        select $1, $2, f.digest, f.content from unnest($23::bytea[], $24::bytea[]) as f (digest, content), saved
        on conflict do nothing
        returning bytes
    ), history as (
        insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, session, tainted,
            tainted_in, tainted_by, derived, digest, document_digest, document_bytes, resources, created_at)
        select $1, $2, $3, 1, $25, $26, $27::text, saved.tainted,
               case when saved.tainted then w.tainted_in end, case when saved.tainted then w.tainted_by end, $31,
               $13, $14, $15, $19, $21
        from saved, weighed w
        returning bytes
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'skill', $3, 1 from saved, weighed w, unnest(w.sessions) s
    ), counted as (
        insert into skill_usage (tenant_id, user_id, skill_id) select $1, $2, skill_id from saved
    ), unredirected as (
        delete from skill_redirects d using saved
        where d.tenant_id = $1 and d.user_id = $2 and d.name = $4
    ), catalog as (
        update user_catalogs c
        set revision = c.revision + 1, byte_count = c.byte_count + $28, skill_count = c.skill_count + 1,
            stored_bytes = c.stored_bytes + (select coalesce(sum(bytes), 0) from files)
                         + (select sum(bytes) from history)
        from saved
        where c.tenant_id = $1 and c.user_id = $2
        returning c.revision
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $29, $21, $26, 'skill.' || $25, $4, jsonb_build_object('version', 1), $13
        from saved
    )
    select saved.tainted, 0::bigint as times_used, null::timestamptz as last_used_at,
           coalesce(catalog.revision, 0) as revision, pg_current_xact_id()::xid::text::bigint as stamp
    from (select 1) one
    left join saved on true
    left join catalog on true
    where app.require_written(saved.skill_id) is not null and app.admit(saved.tainted, $39)
      and app.follow_text(saved.skill_id, $4, $33, $34, $35, $36, $37)"
}

/// Sends the first version of a skill and its follow-up.
pub(super) fn send(tx: &mut WriteTx, planned: &PlannedChange<'_>) -> Result<PendingRows<WrittenRow>> {
    let change = &planned.change;
    let answer = tx.send_ahead(InsertSkill {
        skill: planned.id.0,
        name: change.name.as_str().to_owned(),
        columns: SkillColumns::of(planned)?,
        source: change.source.as_str(),
        is_reviewed: change.is_reviewed,
    });
    follow_up::after_insert(tx, change, planned.id);
    Ok(answer)
}
