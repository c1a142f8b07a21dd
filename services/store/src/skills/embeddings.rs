//! Vectors of texts: finds texts without a vector, and stores vectors. Skills, memories and examples have separate
//! tables, so that vectors are deleted with their rows.

use chrono::{DateTime, Utc};
use knowhow_domain::learning::lesson::SAME_MEANING;
use knowhow_domain::recall::{EmbeddedKind, embedded_text};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, SkillId};
use uuid::Uuid;

use crate::learning::examples::vectors::PutVector;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// A text without a vector, or with an outdated one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextToEmbed {
    /// Id of the skill, memory or example.
    pub id: Uuid,
    pub text: String,
    /// Digest of the fields that the text was built from, if they may change. If the fields have changed, the vector
    /// is not stored.
    made_of: Option<Vec<u8>>,
}

/// A text and its vector.
pub type TextWithVector = (TextToEmbed, Vec<f32>);

row! { struct EmbeddingSkillRow {
    skill_id: Uuid, name: String, description: String, triggers: Vec<String>, made_of: Vec<u8>, text_digest: Option<Vec<u8>>,
} }

row! { struct EmbeddingTextRow { id: Uuid, text: String } }

row! { struct PutRow { id: Uuid, revision: i64, stamp: i64 } }

statement! {
    read FindSkill<'a> { model: &'a str, skill: Uuid } -> EmbeddingSkillRow,
    "-- embeddings.find_skill
    select s.skill_id, s.name, coalesce(s.made_description, s.description) as description,
           s.triggers || s.made_triggers as triggers, e.text_digest,
           sha256(convert_to(jsonb_build_array(s.name, coalesce(s.made_description, s.description), s.triggers || s.made_triggers)::text,
                               'UTF8')) as made_of
    from skills s
    left join skill_embeddings e on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4 and s.starter_id is null"
}

// The order depends on the skill that the caller passes, so that concurrent jobs find different skills.
statement! {
    read ListSkills<'a> { model: &'a str, asked: Uuid, limit: i64 } -> EmbeddingSkillRow,
    "-- embeddings.list_skills
    select s.skill_id, s.name, coalesce(s.made_description, s.description) as description,
           s.triggers || s.made_triggers as triggers, null::bytea as text_digest,
           sha256(convert_to(jsonb_build_array(s.name, coalesce(s.made_description, s.description), s.triggers || s.made_triggers)::text,
                               'UTF8')) as made_of
    from skills s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id <> $4 and s.starter_id is null and not exists (
        select from skill_embeddings e
        where e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3)
    order by hashtextextended(s.skill_id::text, hashtextextended($4::uuid::text, 0))
    limit $5"
}

statement! {
    read ListMemories<'a> { model: &'a str, after: Uuid, limit: i64 } -> EmbeddingTextRow,
    "-- embeddings.list_memories
    select m.memory_id as id, m.content as text from memories m
    where m.tenant_id = $1 and m.user_id = $2 and m.memory_id > $4 and not exists (
        select from memory_embeddings e
        where e.tenant_id = $1 and e.user_id = $2 and e.memory_id = m.memory_id and e.model = $3)
    order by m.memory_id
    limit $5"
}

statement! {
    read ListExamples<'a> { model: &'a str, after: Uuid, limit: i64 } -> EmbeddingTextRow,
    "-- embeddings.list_examples
    select e.example_id as id, e.message as text from skill_examples e
    where e.tenant_id = $1 and e.user_id = $2 and e.example_id > $4 and e.model is distinct from $3
    order by e.example_id
    limit $5"
}

// The vectors are concatenated in one array. Vectors of skills increase the revision, so that cached catalogues are
// refreshed.
statement! {
    write PutVectors {
        kind: &'static str, model: String, ids: Vec<Uuid>, made_of: Vec<Option<Vec<u8>>>, digests: Vec<Vec<u8>>,
        numbers: Vec<f32>, dims: i32, now: DateTime<Utc>,
    } -> PutRow,
    "-- embeddings.put_vectors
    with made as materialized (
        select u.id, u.made_of, u.text_digest,
               ($8::real[])[(u.at::integer - 1) * $9 + 1 : u.at::integer * $9]::vector::halfvec as embedding
        from unnest($5::uuid[], $6::bytea[], $7::bytea[]) with ordinality as u (id, made_of, text_digest, at)
    ), of_skills as (
        insert into skill_embeddings as e (tenant_id, user_id, skill_id, model, text_digest, embedding, updated_at)
        select $1, $2, s.skill_id, $4, made.text_digest, made.embedding, $10
        from made
        join skills s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = made.id
            and sha256(convert_to(jsonb_build_array(s.name, coalesce(s.made_description, s.description), s.triggers || s.made_triggers)::text,
                               'UTF8')) = made.made_of
        where $3 = 'skill'
        on conflict (tenant_id, user_id, skill_id, model) do update set
            text_digest = excluded.text_digest, embedding = excluded.embedding, updated_at = excluded.updated_at
        returning e.skill_id
    ), of_memories as (
        insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding, updated_at)
        select $1, $2, m.memory_id, $4, made.embedding, $10
        from made
        join memories m on m.tenant_id = $1 and m.user_id = $2 and m.memory_id = made.id
            and sha256(convert_to(m.content, 'UTF8')) = made.text_digest
        where $3 = 'memory'
        on conflict (tenant_id, user_id, memory_id, model) do nothing
        returning memory_id
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1
        where c.tenant_id = $1 and c.user_id = $2 and exists (select from of_skills)
        returning c.revision
    )
    select put.id, coalesce(catalog.revision, 0) as revision, pg_current_xact_id()::xid::text::bigint as stamp
    from (select skill_id as id from of_skills union all select memory_id from of_memories) put
    left join catalog on true"
}

/// Returns a skill of the caller if its vector is missing or outdated.
pub async fn find_pending(
    db: &Database,
    principal: &Principal,
    model: &str,
    skill: SkillId,
) -> Result<Option<TextToEmbed>> {
    let row = read(db, principal, FindSkill { model, skill: skill.0 }).await?.pop();
    Ok(row.and_then(EmbeddingSkillRow::pending))
}

/// Lists some of the caller's texts without a vector from this model. For memories and examples, these are the texts
/// after the id `after`, in order. For skills, the skill `after` is left out, and the order depends on its id.
pub async fn list_pending(
    db: &Database,
    principal: &Principal,
    kind: EmbeddedKind,
    page: Page<'_>,
) -> Result<Vec<TextToEmbed>> {
    let Page { model, after, limit } = page;
    let texts = match kind {
        EmbeddedKind::Skill => {
            let rows = read(db, principal, ListSkills { model, asked: after, limit }).await?;
            return Ok(rows.into_iter().filter_map(EmbeddingSkillRow::pending).collect());
        }
        EmbeddedKind::Memory => read(db, principal, ListMemories { model, after, limit }).await?,
        EmbeddedKind::Example => read(db, principal, ListExamples { model, after, limit }).await?,
    };
    Ok(texts.into_iter().map(|row| TextToEmbed { id: row.id, text: row.text, made_of: None }).collect())
}

/// A page of texts without a vector.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    pub model: &'a str,
    /// Id of the last text or current skill, see [`list_pending`].
    pub after: Uuid,
    pub limit: i64,
}

/// Stores vectors from one model. Skips texts that were deleted or changed, because a job embeds the new text. If an
/// example has the same meaning as another example of its skill, it confirms that example instead. Returns the skills
/// or memories that got a vector.
///
/// # Errors
/// `Unavailable`; `RateLimited` if too many requests of the user wait; `Internal` for an invalid vector.
pub async fn put(db: &Database, principal: &Principal, kind: EmbeddedKind, made: Vectors<'_>) -> Result<StoredVectors> {
    let Vectors { model, vectors, now } = made;
    let mut tx = WriteTx::begin(db, principal, "embeddings.put").await?;
    // A concurrent change of the text waits, or is seen.
    tx.lock_user();
    if kind == EmbeddedKind::Example {
        for (of, embedding) in vectors {
            let (model, embedding, same_up_to) = (model.to_owned(), embedding.clone(), 1.0 - SAME_MEANING);
            drop(tx.send_ahead(PutVector { example: of.id, model, embedding, same_up_to }));
        }
        tx.commit().await?;
        return Ok(StoredVectors::default());
    }
    let dims = vectors.first().map_or(0, |(_, vector)| vector.len());
    let put = tx.send_ahead(PutVectors {
        kind: kind.as_str(),
        model: model.to_owned(),
        ids: vectors.iter().map(|(of, _)| of.id).collect(),
        digests: vectors.iter().map(|(of, _)| manifest::digest(of.text.as_bytes()).to_vec()).collect(),
        numbers: vectors.iter().flat_map(|(_, vector)| vector.iter().copied()).collect(),
        made_of: vectors.iter().map(|(of, _)| of.made_of.clone()).collect(),
        dims: i32::try_from(dims).map_err(Error::internal)?,
        now,
    });
    tx.commit().await?;
    let rows = put.take()?;
    let (revision, stamp) = rows.first().map_or((0, 0), |row| (row.revision, row.stamp));
    Ok(StoredVectors { ids: rows.into_iter().map(|row| row.id).collect(), revision, stamp })
}

/// Vectors to store.
#[derive(Debug)]
pub struct Vectors<'a> {
    /// Model that made the vectors.
    pub model: &'a str,
    /// Texts with their vectors, which have equal length.
    pub vectors: &'a [TextWithVector],
    pub now: DateTime<Utc>,
}

/// Result of storing vectors.
#[derive(Debug, Clone, Default)]
pub struct StoredVectors {
    /// The skills or memories that got a vector.
    pub ids: Vec<Uuid>,
    /// New revision of the user's catalogue, for skills.
    pub revision: i64,
    /// Stamp of each vector, for skills; see [`SkillStamp`](crate::skills::SkillStamp).
    pub stamp: i64,
}

impl EmbeddingSkillRow {
    /// Returns the text to embed; `None` if the skill has a vector for its current text.
    fn pending(self) -> Option<TextToEmbed> {
        let text = embedded_text(&self.name, &self.description, &self.triggers);
        let is_good = self.text_digest.is_some_and(|of| of == manifest::digest(text.as_bytes()));
        (!is_good).then_some(TextToEmbed { id: self.skill_id, text, made_of: Some(self.made_of) })
    }
}
