//! The statement that creates a version of an existing skill. References to files have their own statement, which is
//! only sent if the files changed.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use uuid::Uuid;

use super::SkillState;
use super::change::WrittenRow;
use super::columns::SkillColumns;
use super::follow_up;
use super::planned_change::PlannedChange;
use crate::WriteTx;
use crate::vault::batch::PendingRows;
use crate::vault::statement;

// A version restored by a rollback keeps its taint. A derived text inherits the taint of the previous one.
//
// A change prepared from cached data is rejected if the skill or the quota is not as expected. The text of a version
// never changes. The pin, the generated summary and the enrichment can change without a new version, so the statement
// compares them too. A patch that already made the current version is not applied again.
statement! {
    write UpdateSkill {
        skill: Uuid,
        base_version: i32,
        ..columns: SkillColumns,
        request_digest: Option<Vec<u8>>,
        outdates_summary: bool,
        is_reviewed: bool,
        is_unread: bool,
        updated_at: DateTime<Utc>,
        pinned: bool,
        made_summary: Option<String>,
        made_by: Option<&'static str>,
        most_bytes: i64,
        most_stored_bytes: i64,
        uses: Option<i64>,
        last_used_at: Option<DateTime<Utc>>,
    } -> WrittenRow,
    "-- skills.update
    with base as materialized (
        select s.skill_id, s.tainted, v.tainted_in, v.tainted_by, coalesce(s.digest, t.digest) as digest,
               coalesce(t.document, r.content) as document,
               array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements(s.resources) e)
                   || coalesce(s.document_digest, t.document_digest) as files
        from skills s
        join skill_versions v on v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.version = $4
        left join starter_texts t on t.starter_id = s.starter_id
        left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.version = $4
          and (not $41 or (
              s.updated_at = $42 and s.pinned = $43 and s.made_summary is not distinct from $44
              and case when s.enriched then s.made_by end is not distinct from $45
              and exists (
                  select from user_catalogs c
                  where c.tenant_id = $1 and c.user_id = $2
                    and c.starters_at is null and c.byte_count <= $46 and c.stored_bytes <= $47)
              and not exists (
                  select from (select v.request_digest from skill_versions v
                               where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and v.change <> 'enrich'
                               order by v.version desc
                               limit 1) authored
                  where authored.request_digest = $38)
              and ($48::bigint is null or exists (
                  select from skill_usage u
                  where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3 and u.times_used = $48
                    and u.last_used_at is not distinct from $49::timestamptz))))
    ), past as materialized (
        select true as is_put_back, v.tainted_in, v.tainted_by from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.skill_id = $3 and $25 = 'rollback' and v.digest = $13 and v.tainted
        limit 1
    ), weighed as materialized (
        select w.* from base b
        left join past p on true
        cross join lateral (select b.tainted and $31 as is_kept) from_text
        cross join lateral app.weigh($30, is_kept or coalesce(p.is_put_back, false) or $32::text[] is not null,
            app.merge_some(case when is_kept then b.tainted_in end, p.tainted_in),
            app.merge_some(app.merge_some(case when is_kept then b.tainted_by end, p.tainted_by), $32::text[]),
            $24, array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements($19::jsonb) e) || $14::bytea,
            case when not b.tainted then b.document end, case when not b.tainted then b.files end,
            -- The passages of an earlier version are stored already, without those of its clean base.
            case when p.is_put_back is null then $3::uuid end, $4 + 1) w
    ), saved as (
        update skills s set
            description = $5, summary = $6, category = $7, tags = $8, triggers = $9, see_also = $10, role = $11,
            attributes = $12, version = s.version + 1, digest = $13, document_digest = $14, document_bytes = $15,
            frontmatter_at_byte = $16, frontmatter_end_at_byte = $17, content_at_byte = $18, resources = $19,
            resource_bytes = $20, made_summary = case when not $39 then s.made_summary end, updated_at = $21,
            frontmatter = $22, starter_id = null, tainted = weighed.tainted,
            made_description = case when s.document_digest = $14 then s.made_description end,
            made_triggers = case when s.document_digest = $14 then s.made_triggers else '{}' end,
            made_by = case when s.document_digest = $14 then s.made_by end,
            enriched = $25 = 'enrich' or s.enriched and s.description = $5 and s.triggers = $9
                and (s.made_by is null or s.document_digest = $14),
            enrich_tries = case
                when $25 = 'enrich' or s.description = $5 and s.triggers = $9
                    or s.enrich_of = sha256(convert_to(jsonb_build_array($5::text, $9::text[])::text, 'UTF8'))
                then s.enrich_tries else 0 end
        from weighed
        where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.version = $4
        returning s.skill_id, s.name, s.version, s.tainted
    ), files as (
        insert into skill_resources (tenant_id, user_id, digest, content)
        select $1, $2, f.digest, f.content from unnest($23::bytea[], $24::bytea[]) as f (digest, content), saved
        on conflict do nothing
        returning bytes
    ), history as (
        insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, session, tainted,
            tainted_in, tainted_by, derived, request_digest, digest, document_digest, document_bytes, resources,
            created_at)
        select $1, $2, $3, saved.version, $25, $26, $27::text, saved.tainted,
               case when saved.tainted then w.tainted_in end, case when saved.tainted then w.tainted_by end, $31,
               $38, $13, $14, $15, $19, $21
        from saved, weighed w
        returning bytes
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'skill', $3, version from saved, weighed w, unnest(w.sessions) s
    ), catalog as (
        update user_catalogs c
        set revision = c.revision + 1, byte_count = c.byte_count + $28,
            stored_bytes = c.stored_bytes + (select coalesce(sum(bytes), 0) from files)
                         + (select sum(bytes) from history)
        from saved
        where c.tenant_id = $1 and c.user_id = $2
        returning c.revision
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $29, $21, $26, 'skill.' || $25, saved.name, jsonb_build_object('version', version),
               (select digest from base), $13
        from saved
    )
    select saved.tainted, coalesce(u.times_used, 0) as times_used, u.last_used_at,
           coalesce(catalog.revision, 0) as revision, pg_current_xact_id()::xid::text::bigint as stamp
    from (select 1) one
    left join saved on true
    left join catalog on true
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = $3
    where app.require_written(saved.skill_id) is not null and app.admit(saved.tainted, $40)
      and app.follow_text(saved.skill_id, saved.name, $33, $34, $35, $36, $37)"
}

/// Sends the next version of a skill and its follow-up. The skill is locked at `base`, or the statement checks it.
pub(super) fn send(
    tx: &mut WriteTx,
    planned: &PlannedChange<'_>,
    base: &SkillState,
) -> Result<PendingRows<WrittenRow>> {
    let change = &planned.change;
    let (most_bytes, most_stored_bytes) =
        planned.expected.as_ref().map_or((i64::MAX, i64::MAX), |expected| planned.room(expected));
    let (uses, last_used_at) = planned.expected.and_then(|expected| expected.used).unzip();
    follow_up::before_update(tx, change, base);
    let answer = tx.send_ahead(UpdateSkill {
        skill: base.id.0,
        base_version: base.version,
        columns: SkillColumns::of(planned)?,
        request_digest: change.request_digest.map(Vec::from),
        outdates_summary: change.follow_up.outdates_summary,
        is_reviewed: change.is_reviewed,
        is_unread: planned.expected.is_some(),
        updated_at: base.updated_at,
        pinned: base.pinned,
        made_summary: base.made_summary.clone(),
        made_by: base.discovery.as_ref().map(|made| made.made_by.as_str()),
        most_bytes,
        most_stored_bytes,
        uses,
        last_used_at: last_used_at.flatten(),
    });
    follow_up::after_update(tx, change, base);
    Ok(answer)
}
