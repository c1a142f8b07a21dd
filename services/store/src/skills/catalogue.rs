//! Search data of all of a user's skills, and the bodies of found skills.

mod stamps;
mod text;

use knowhow_domain::{Error, Result, SkillId};
use pgvector::HalfVector;
use uuid::Uuid;

pub use stamps::{Revisions, SkillStamp, Stamps};
pub use text::{Body, CatalogueRequest, CatalogueRow};

use self::stamps::CatalogueRevisionRow;
use self::text::CatalogueTextRow;
use crate::vault::value::{Utf8, uuids};
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

row! { struct CloseRow { lacks: bool, name: Option<String>, cosine: Option<f32> } }

row! { struct CosineRow { place: i64, skill_id: Uuid, cosine: f32 } }

row! { struct CatalogueDocumentRow { digest: String, content: Utf8 } }

statement! {
    read FindRevisions {} -> Revisions,
    "-- skills.find_revisions
    select c.revision, c.examples_revision from user_catalogs c where c.tenant_id = $1 and c.user_id = $2"
}

// The revision is read in the same statement as the rows, so it matches them. Each update of a row gives the row a
// new `xmin`, the number of the transaction. A shared starter has no row, so the id of its text identifies its state.
// The vector of a starter's text never changes.
statement! {
    read ListStamps<'a> { model: Option<&'a str> } -> (CatalogueRevisionRow, Option<SkillStamp>),
    "-- skills.list_stamps
    select c.revision, s.skill_id, s.stamp, coalesce(e.xmin::text::bigint, -v.starter_id) as vector, s.bytes,
           s.starter_id is not null as is_starter
    from user_catalogs c
    left join (
        select o.skill_id, o.xmin::text::bigint as stamp, coalesce(o.document_bytes, 0) as bytes, o.starter_id
        from skills o
        where o.tenant_id = $1 and o.user_id = $2
        union all
        select starter_skill_id(l.user_id, t.name), -t.starter_id, 0, t.starter_id
        from user_catalogs l
        join starter_releases b on b.release = l.starters_release
        join starter_texts t on t.starter_id = b.starter_id
        where l.tenant_id = $1 and l.user_id = $2 and l.starters_at is not null
    ) s on true
    left join skill_embeddings e
        on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
    left join starter_vectors v on v.starter_id = s.starter_id and v.model = $3
    where c.tenant_id = $1 and c.user_id = $2"
}

// Bodies and vectors are read only for the skills with that flag.
statement! {
    read ListTexts<'a> { ids: Vec<Uuid>, bodies: Vec<bool>, vectors: Vec<bool>, model: Option<&'a str> } -> CatalogueTextRow,
    "-- skills.list_texts
    select s.skill_id, s.name, coalesce(s.summary, s.made_summary) as summary,
           coalesce(s.made_description, s.description) as description, s.triggers || s.made_triggers as triggers, s.see_also,
           s.attributes ->> 'alias' as alias,
           coalesce(s.attributes -> 'disable_model_invocation', s.frontmatter -> 'disable-model-invocation', 'false')
               = 'true' as reserved,
           case when w.body then coalesce(
               (select substr(r.content, s.content_at_byte + 1) from skill_resources r
                where r.tenant_id = $1 and r.user_id = $2 and r.digest = s.document_digest),
               (select substr(t.document, s.content_at_byte + 1) from starter_texts t
                where t.starter_id = s.starter_id)) end as body,
           case when w.vector then coalesce(
               (select e.embedding::vector::real[] from skill_embeddings e
                where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $6),
               (select v.embedding::vector::real[] from starter_vectors v
                where v.starter_id = s.starter_id and v.model = $6)) end as embedding
    from unnest($3::uuid[], $4::boolean[], $5::boolean[]) as w (skill_id, body, vector)
    join skill_states s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = w.skill_id"
}

statement! {
    read ReadBodies { skills: Vec<Uuid> } -> Body,
    "-- skills.read_bodies
    select s.skill_id, s.version, substr(s.document, s.content_at_byte + 1) as content,
           array(select f ->> 'path' from jsonb_array_elements(s.resources) as f order by 1) as files,
           encode(s.document_digest, 'hex') as document, s.content_at_byte, s.tainted
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)"
}

statement! {
    read ListCosines<'a> { model: &'a str, embeddings: Vec<HalfVector> } -> CosineRow,
    "-- skills.list_cosines
    with asked as (
        select q.place, q.embedding, vector_dims(q.embedding::vector) as dims
        from unnest($4::halfvec[]) with ordinality q (embedding, place)
    )
    select q.place, e.skill_id, (1 - (e.embedding <=> q.embedding))::real as cosine
    from asked q, skill_embeddings e
    where e.tenant_id = $1 and e.user_id = $2 and e.model = $3 and vector_dims(e.embedding::vector) = q.dims
    union all
    select q.place, s.skill_id, (1 - (v.embedding <=> q.embedding))::real
    from asked q, skill_states s
    join starter_vectors v on v.starter_id = s.starter_id
    where s.tenant_id = $1 and s.user_id = $2 and v.model = $3 and vector_dims(v.embedding::vector) = q.dims"
}

// A skill without a vector from this model cannot be compared, so the statement also reports whether such skills exist.
statement! {
    read ListClose<'a> { own: Uuid, model: &'a str, embedding: &'a [f32], least: f32, most: i64 } -> CloseRow,
    "-- skills.list_close
    with vectors as materialized (
        select e.skill_id, (1 - (e.embedding <=> q.embedding))::real as cosine
        from (select $5::real[]::vector::halfvec as embedding) q, skill_embeddings e
        where e.tenant_id = $1 and e.user_id = $2 and e.model = $4 and e.skill_id <> $3
          and vector_dims(e.embedding::vector) = cardinality($5::real[])
        union all
        select s.skill_id, (1 - (v.embedding <=> q.embedding))::real
        from (select $5::real[]::vector::halfvec as embedding) q, skill_states s
        join starter_vectors v on v.starter_id = s.starter_id
        where s.tenant_id = $1 and s.user_id = $2 and v.model = $4 and s.skill_id <> $3
          and vector_dims(v.embedding::vector) = cardinality($5::real[])
    ), compared as materialized (
        select v.skill_id, max(v.cosine) as cosine from vectors v group by v.skill_id
    ), others as (
        select (select count(*) from skill_states o where o.tenant_id = $1 and o.user_id = $2 and o.skill_id <> $3)
                   > (select count(*) from compared) as lacks
    )
    select lacks, c.name, c.cosine
    from others
    left join lateral (
        select s.name, d.cosine from compared d
        join skill_states s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = d.skill_id
        where d.cosine >= $6
        order by d.cosine desc, s.name
        limit $7) c on true"
}

/// Returns the user's current revisions.
pub async fn find_revisions(db: &Database, principal: &Principal) -> Result<Revisions> {
    let found = read(db, principal, FindRevisions {}).await?.pop();
    // The row is created and deleted with the user. A caller with read access only does not create the user, so that
    // user has no skills.
    Ok(found.unwrap_or(Revisions { skills: 0, examples: 0 }))
}

/// Returns the stamps of all skills, including the stamps of their vectors made by `model`.
pub async fn list_stamps(db: &Database, principal: &Principal, model: Option<&str>) -> Result<Stamps> {
    let rows = read(db, principal, ListStamps { model }).await?;
    let revision = rows.first().map_or(0, |(row, _)| row.revision);
    // A user without skills has one row with only the revision.
    Ok(Stamps { revision, skills: rows.into_iter().filter_map(|(_, stamp)| stamp).collect() })
}

/// Reads the search data of skills, unordered. Missing skills are skipped. The vectors are those made by `model`.
pub async fn list_texts(
    db: &Database,
    principal: &Principal,
    wanted: &[CatalogueRequest],
    model: Option<&str>,
) -> Result<Vec<CatalogueRow>> {
    let ids: Vec<Uuid> = uuids(wanted.iter().map(|skill| skill.id));
    let (bodies, vectors): (Vec<bool>, Vec<bool>) = wanted.iter().map(|skill| (skill.body, skill.vector)).unzip();
    let rows = read(db, principal, ListTexts { ids, bodies, vectors, model }).await?;
    Ok(rows.into_iter().map(CatalogueRow::from).collect())
}

statement! {
    read ReadDocuments<'a> { digests: &'a [String] } -> CatalogueDocumentRow,
    "-- skills.read_documents
    select encode(r.digest, 'hex') as digest, r.content from skill_resources r
    where r.tenant_id = $1 and r.user_id = $2 and r.digest in (select decode(d, 'hex') from unnest($3::text[]) d)
    union all
    select encode(t.document_digest, 'hex'), t.document from starter_texts t
    where t.document_digest in (select decode(d, 'hex') from unnest($3::text[]) d)"
}

/// Reads SKILL.md files of any version by their hex digests, unordered. Deleted files are skipped.
pub async fn read_documents(db: &Database, principal: &Principal, digests: &[String]) -> Result<Vec<(String, String)>> {
    let rows = read(db, principal, ReadDocuments { digests }).await?;
    Ok(rows.into_iter().map(|row| (row.digest, row.content.into())).collect())
}

/// Reads the bodies of skills, unordered. Missing skills are skipped.
pub async fn read_bodies(db: &Database, principal: &Principal, skills: &[SkillId]) -> Result<Vec<Body>> {
    read(db, principal, ReadBodies { skills: uuids(skills.iter().copied()) }).await
}

/// The cosine similarity between a vector and a skill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosine {
    /// Index of the vector in the parameter `embeddings` of `list_cosines`.
    pub vector: usize,
    pub skill: SkillId,
    pub cosine: f32,
}

/// Returns the exact cosine similarity between each vector and each skill that has a vector made by `model`. Used for
/// catalogues that are too large for memory.
///
/// # Errors
/// `Unavailable`.
pub async fn list_cosines(
    db: &Database,
    principal: &Principal,
    model: &str,
    embeddings: &[&[f32]],
) -> Result<Vec<Cosine>> {
    let embeddings = embeddings.iter().map(|embedding| HalfVector::from_f32_slice(embedding)).collect();
    let rows = read(db, principal, ListCosines { model, embeddings }).await?;
    let cosine = |row: CosineRow| {
        let vector = usize::try_from(row.place - 1).map_err(Error::internal)?;
        Ok(Cosine { vector, skill: SkillId(row.skill_id), cosine: row.cosine })
    };
    rows.into_iter().map(cosine).collect()
}

/// A vector to compare other skills with.
#[derive(Debug, Clone, Copy)]
pub struct CloseTo<'a> {
    /// Skill that the vector belongs to. It is not compared.
    pub own: SkillId,
    pub model: &'a str,
    pub embedding: &'a [f32],
    /// Minimum cosine similarity of a close skill.
    pub least: f32,
    /// Maximum number of skills to return.
    pub most: i64,
}

/// Lists skills with close vectors, closest first, with their cosine similarities. Returns `None` if some skills cannot
/// be compared, because they have no vector from this model and dimension.
pub async fn list_close(
    db: &Database,
    principal: &Principal,
    close_to: CloseTo<'_>,
) -> Result<Option<Vec<(String, f32)>>> {
    let CloseTo { own, model, embedding, least, most } = close_to;
    let rows = read(db, principal, ListClose { own: own.0, model, embedding, least, most }).await?;
    if rows.iter().any(|row| row.lacks) {
        return Ok(None);
    }
    Ok(Some(rows.into_iter().filter_map(|row| row.name.zip(row.cosine)).collect()))
}
