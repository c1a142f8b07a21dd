//! The one statement that applies a change: files, skill, history, usage row, revision, audit, all or nothing.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Fields, ResourceEntry, Result, SkillId, manifest, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::SkillState;
use super::change::{Change, Outcome, Written};
use crate::error::refuse;
use crate::vault::{row, statement};
use crate::{TenantTx, WriteTx};

// A version that a rollback puts back is as tainted as it was. A text that is made from another is as tainted as that
// one. A starter that gets a text of its own, with the same description and triggers, keeps the vectors that all users
// share.
row! { Outcome { is_tainted: bool = tainted, revision: i64, stamp: i64 } }

statement! {
    write WriteSkill {
        digests: Vec<Vec<u8>>,
        files: Vec<Vec<u8>>,
        id: Uuid,
        name: String,
        description: String,
        summary: Option<String>,
        category: Option<String>,
        tags: Vec<String>,
        triggers: Vec<String>,
        see_also: Vec<String>,
        role: Option<&'static str>,
        attributes: Value,
        source: &'static str,
        digest: Vec<u8>,
        document_digest: Vec<u8>,
        document_bytes: i32,
        frontmatter_at: i32,
        frontmatter_end: i32,
        content_at: i32,
        resources: Value,
        resource_bytes: i32,
        now: DateTime<Utc>,
        base_version: i32,
        change: &'static str,
        actor: String,
        session: Option<String>,
        request_digest: Option<Vec<u8>>,
        added_bytes: i64,
        audit_id: Uuid,
        frontmatter: Option<Value>,
        tasks: Vec<String>,
        outdates_summary: bool,
        outdates_vectors: bool,
        replaced_by: Option<String>,
        is_bulk: bool,
        named: Vec<String>,
        derived: bool,
        brought: Option<Vec<String>>,
        new_digests: Vec<String>,
        old_digests: Vec<String>,
    } -> Outcome,
    "-- skills.write
    with base as materialized (
        select s.skill_id, s.tainted, v.tainted_in, v.tainted_by, coalesce(s.digest, t.digest) as digest,
               coalesce(t.document, r.content) as document,
               array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements(s.resources) e)
                   || coalesce(s.document_digest, t.document_digest) as files
        from skills s
        join skill_versions v on v.tenant_id = $1 and v.user_id = $2 and v.skill_id = s.skill_id and v.version = s.version
        left join starter_texts t on t.starter_id = s.starter_id
        left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest
        where s.tenant_id = $1 and s.user_id = $2 and s.name = $6 and s.version = $25
    ), past as materialized (
        select true as is_put_back, v.tainted_in, v.tainted_by from skill_versions v join base b on v.skill_id = b.skill_id
        where v.tenant_id = $1 and v.user_id = $2 and $26 = 'rollback' and v.digest = $16 and v.tainted
        limit 1
    ), weighed as materialized (
        select w.* from (select 1) one
        left join base b on true
        left join past p on true
        cross join lateral (
            select coalesce(b.tainted and $39, false) as is_kept) from_text
        cross join lateral app.weigh($38, is_kept or coalesce(p.is_put_back, false) or $40::text[] is not null,
            app.merge_some(case when is_kept then b.tainted_in end, p.tainted_in),
            app.merge_some(app.merge_some(case when is_kept then b.tainted_by end, p.tainted_by), $40::text[]),
            $4, array(select decode(e ->> 'digest', 'hex') from jsonb_array_elements($22::jsonb) e) || $17::bytea,
            case when not b.tainted then b.document end, case when not b.tainted then b.files end,
            coalesce(b.skill_id, $5), $25 + 1) w
    ), saved as (
        insert into skills as s (tenant_id, user_id, skill_id, name, description, summary, category, tags, triggers,
            see_also, role, attributes, source, version, digest, document_digest, document_bytes,
            frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte, resources, resource_bytes,
            created_at, updated_at, frontmatter, tainted)
        select $1, $2, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 1, $16, $17, $18, $19, $20, $21, $22, $23,
               $24, $24, $32, tainted
        from weighed
        on conflict (tenant_id, user_id, name) do update set
            description = excluded.description, summary = excluded.summary, category = excluded.category,
            tags = excluded.tags, triggers = excluded.triggers, see_also = excluded.see_also, role = excluded.role,
            attributes = excluded.attributes, version = s.version + 1, digest = excluded.digest,
            document_digest = excluded.document_digest, document_bytes = excluded.document_bytes,
            frontmatter_at_byte = excluded.frontmatter_at_byte,
            frontmatter_end_at_byte = excluded.frontmatter_end_at_byte, content_at_byte = excluded.content_at_byte,
            resources = excluded.resources, resource_bytes = excluded.resource_bytes,
            made_summary = case when not $34 then s.made_summary end,
            updated_at = excluded.updated_at, frontmatter = excluded.frontmatter, starter_id = null,
            tainted = excluded.tainted
        where s.tenant_id = $1 and s.user_id = $2 and s.version = $25
        returning s.skill_id, s.version, s.created_at, s.tainted
    ), files as (
        insert into skill_resources (tenant_id, user_id, digest, content)
        select $1, $2, f.digest, f.content from unnest($3::bytea[], $4::bytea[]) as f (digest, content), saved
        on conflict do nothing
        returning bytes
    ), added as (
        insert into skill_files (tenant_id, user_id, digest, skill_id, last_version)
        select $1, $2, decode(f.digest, 'hex'), saved.skill_id, 2147483647 from unnest($41::text[]) as f (digest), saved
        on conflict (tenant_id, user_id, digest, skill_id) do update set last_version = excluded.last_version
    ), removed as (
        update skill_files f set last_version = $25 from saved
        where f.tenant_id = $1 and f.user_id = $2 and f.skill_id = saved.skill_id
          and f.digest in (select decode(d, 'hex') from unnest($42::text[]) d)
    ), history as (
        insert into skill_versions (tenant_id, user_id, skill_id, version, change, actor, session, tainted,
            tainted_in, tainted_by, derived, request_digest, digest, document_digest, document_bytes, resources,
            created_at)
        select $1, $2, saved.skill_id, version, $26, $27, $28::text, saved.tainted,
               case when saved.tainted then w.tainted_in end, case when saved.tainted then w.tainted_by end, $39,
               $29, $16, $17, $18, $22, $24
        from saved, weighed w
        returning bytes
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'skill', saved.skill_id, version from saved, weighed w, unnest(w.sessions) s
    ), counted as (
        insert into skill_usage (tenant_id, user_id, skill_id) select $1, $2, skill_id from saved where version = 1
    ), unredirected as (
        delete from skill_redirects d using saved
        where d.tenant_id = $1 and d.user_id = $2 and d.name = $6 and saved.version = 1
    ), catalog as (
        update user_catalogs c
        set revision = c.revision + 1, byte_count = c.byte_count + $30,
            stored_bytes = c.stored_bytes + (select coalesce(sum(bytes), 0) from files)
                         + (select sum(bytes) from history),
            skill_count = c.skill_count + case when saved.version = 1 then 1 else 0 end
        from saved
        where c.tenant_id = $1 and c.user_id = $2
        returning c.revision
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $31, $24, $27, 'skill.' || $26, $6, jsonb_build_object('version', version),
               (select digest from base), $16
        from saved
    ), embedded as (
        insert into skill_embeddings (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
        select $1, $2, s.skill_id, v.model, v.text_digest, v.embedding, $24
        from skills s join starter_vectors v on v.starter_id = s.starter_id
        where s.tenant_id = $1 and s.user_id = $2 and s.name = $6 and s.version = $25 and not $35
        on conflict do nothing
    ), outdated as (
        delete from skill_embeddings e using saved
        where $35 and e.tenant_id = $1 and e.user_id = $2 and e.skill_id = saved.skill_id
          and e.model is distinct from $36
    ), enqueued as (
        select count(app.enqueue(task, jsonb_build_object('skill_id', skill_id), skill_id::text, $37))
        from saved cross join unnest($33::text[]) task
    )
    select saved.tainted, coalesce(catalog.revision, 0) as revision, pg_current_xact_id()::xid::text::bigint as stamp
    from enqueued left join saved on true left join catalog on true
    where app.require_written(saved.skill_id) is not null"
}

/// Applies a change together with COMMIT. Its outcome is known before, as the user's catalogue row is locked, except
/// for what [`Written::outcome`] returns after the commit. If the skill is not at its base any more, the
/// transaction fails and nothing is kept.
///
/// # Errors
/// `Internal` for sizes that no limit lets through, and where the skill was not locked.
pub fn write(tx: &mut WriteTx, change: Change<'_>) -> Result<Written> {
    let counts = tx.counts()?;
    let fields = change.document.fields();
    let document = change.document.raw().as_bytes();
    let document_digest = change.document.digest();
    let resource_bytes: u64 = change.resources.iter().map(|r| r.size).sum();
    let mut files: Vec<&[u8]> = change.new_files.iter().map(Vec::as_slice).collect();
    files.push(document);
    files.sort_unstable();
    files.dedup();
    let [frontmatter_at, frontmatter_end, content_at] = change.document.cuts();
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let actor = tx.actor();
    let added_bytes = i64::from(size(document.len())?) + i64::try_from(resource_bytes).map_err(Error::internal)?
        - change.base.map_or(0, SkillState::bytes);
    let (base_version, base_resources) = change.base.map_or((0, &[][..]), |base| (base.version, &base.resources));
    let new_files_bytes = most_added(&files, &change, &actor);
    let id = change.base.map_or_else(|| SkillId(new_id()), |base| base.id);
    Ok(Written {
        id,
        version: base_version + 1,
        skill_count: counts.skills + i32::from(change.base.is_none()),
        byte_count: counts.bytes + added_bytes,
        most_stored_bytes: counts.stored_bytes + new_files_bytes,
        answer: tx.defer(WriteSkill {
            digests: files.iter().map(|f| manifest::digest(f).to_vec()).collect(),
            files: files.iter().map(|f| f.to_vec()).collect(),
            id: id.0,
            name: change.name.as_str().to_owned(),
            description: fields.description.clone(),
            summary: fields.summary.clone(),
            category: fields.category.clone(),
            tags: fields.tags.clone(),
            triggers: fields.triggers.clone(),
            see_also: fields.see_also.clone(),
            role: fields.role.map(|r| r.as_str()),
            attributes: attributes(fields),
            source: change.source.as_str(),
            digest: manifest::state_digest(&document_digest, change.resources).to_vec(),
            document_digest: document_digest.to_vec(),
            document_bytes: size(document.len())?,
            frontmatter_at: size(frontmatter_at)?,
            frontmatter_end: size(frontmatter_end)?,
            content_at: size(content_at)?,
            resources: json!(change.resources),
            resource_bytes: i32::try_from(resource_bytes).map_err(Error::internal)?,
            now: change.now,
            base_version,
            change: change.kind.as_str(),
            actor,
            session: change.session.map(str::to_owned),
            request_digest: change.request_digest.map(Vec::from),
            added_bytes,
            audit_id: new_id(),
            frontmatter: change.frontmatter,
            tasks: own(change.follow_up.tasks),
            outdates_summary: change.follow_up.outdates_summary,
            outdates_vectors: change.follow_up.outdates_vectors,
            replaced_by: change.follow_up.replaced_by.map(str::to_owned),
            is_bulk: change.follow_up.is_bulk,
            named: own(change.lineage.named),
            derived: change.lineage.derived,
            brought: change.lineage.brought.map(<[String]>::to_vec),
            new_digests: list_new(change.resources, base_resources),
            old_digests: list_new(base_resources, change.resources),
        }),
    })
}

/// The most by which a change may add to what is kept of the user: files may be there already.
fn most_added(files: &[&[u8]], change: &Change<'_>, actor: &str) -> i64 {
    // As Postgres prints the list, it has a blank behind each sign between members.
    let list: usize = json!(change.resources).to_string().len() + 16 * (change.resources.len() + 1);
    let session = change.session.map_or(0, str::len);
    let bytes = files.iter().map(|file| file.len()).sum::<usize>() + 300 + list + actor.len() + session;
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Digests (hex) of the files of the first that the second does not have, each once.
fn list_new(of: &[ResourceEntry], besides: &[ResourceEntry]) -> Vec<String> {
    let known: HashSet<&str> = besides.iter().map(|entry| entry.digest.as_str()).collect();
    let new: BTreeSet<&String> =
        of.iter().map(|r| &r.digest).filter(|digest| !known.contains(digest.as_str())).collect();
    new.into_iter().cloned().collect()
}

/// Keeps the index line that a model wrote of the text with this digest. `false` where the skill has another text by now,
/// or is gone; nothing is kept then.
///
/// # Errors
/// `Unavailable`.
pub async fn put_made_summary(
    tx: &mut TenantTx,
    skill: SkillId,
    document_digest: &[u8],
    summary: &str,
) -> Result<bool> {
    let (tenant, user) = (tx.tenant(), tx.user());
    tx.lock_catalog().await?;
    let kept = sqlx::query!(
        "-- skills.put_made_summary
        with made as (
            update skills s set made_summary = $5
            where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $3 and s.document_digest = $4
            returning s.skill_id
        )
        update user_catalogs c set revision = c.revision + 1 from made
        where c.tenant_id = $1 and c.user_id = $2",
        tenant,
        user,
        skill.0,
        document_digest,
        summary
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?;
    Ok(kept.rows_affected() == 1)
}

statement! {
    write SetFlags { skill: Uuid, pinned: bool, now: DateTime<Utc>, audit_id: Uuid, actor: String } -> (),
    "-- skills.set_flags
    with flagged as (
        update skills set pinned = $4, updated_at = $5
        where tenant_id = $1 and user_id = $2 and skill_id = $3 and pinned <> $4
        returning name
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1 from flagged
        where c.tenant_id = $1 and c.user_id = $2
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target)
    select $1, $2, $6, $5, $7, case when $4 then 'skill.pin' else 'skill.unpin' end, name from flagged"
}

/// Sets the flags that are not part of the text and so make no version, together with COMMIT.
pub fn set_flags(tx: &mut WriteTx, skill: SkillId, pinned: bool, now: DateTime<Utc>) {
    let actor = tx.actor();
    tx.defer(SetFlags { skill: skill.0, pinned, now, audit_id: new_id(), actor });
}

/// The members of agentskills.io that have no column of their own.
pub fn attributes(fields: &Fields) -> Value {
    let mut attributes = json!({
        "license": fields.license,
        "compatibility": fields.compatibility,
        "allowed_tools": fields.allowed_tools,
        "author": fields.author,
        "metadata": fields.metadata,
    });
    if fields.reserved {
        attributes[RESERVED] = Value::Bool(true);
    }
    attributes
}

/// The attribute of a skill that is recalled by name alone.
const RESERVED: &str = "disable_model_invocation";

fn size(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(Error::internal)
}
