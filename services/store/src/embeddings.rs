//! The vectors that stand for texts: which texts lack one, and putting them. Skills, memories
//! and examples have tables of their own, so that a vector goes with what it stands for; all else is the same.

use chrono::{DateTime, Utc};
use knowhow_domain::lesson::SAME_MEANING;
use knowhow_domain::recall::{EmbeddedKind, embedded_text};
use knowhow_domain::{Error, Result, SkillId, manifest};
use uuid::Uuid;

use crate::examples::vectors::PutVector;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// A text that has no vector, or one of another text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The skill, memory or example.
    pub id: Uuid,
    /// The text to embed.
    pub text: String,
    /// Digest of what the text was made of, where that may change. If it has changed, the vector is not stored.
    made_of: Option<Vec<u8>>,
}

/// A vector, and the text that it stands for.
pub type Made = (Pending, Vec<f32>);

row! { struct SkillRow {
    skill_id: Uuid, name: String, description: String, triggers: Vec<String>, made_of: Vec<u8>, text_digest: Option<Vec<u8>>,
} }

row! { struct TextRow { id: Uuid, text: String } }

row! { struct PutRow { id: Uuid, revision: i64, stamp: i64 } }

statement! {
    read FindSkill<'a> { model: &'a str, skill: Uuid } -> SkillRow,
    "-- embeddings.find_skill
    select s.skill_id, s.name, coalesce(s.made_description, s.description) as description,
           s.triggers || s.made_triggers as triggers, e.text_digest,
           sha256(convert_to(jsonb_build_array(s.name, coalesce(s.made_description, s.description), s.triggers || s.made_triggers)::text,
                               'UTF8')) as made_of
    from skills s
    left join skill_embeddings e on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = $4 and s.starter_id is null"
}

// In an order by the skill that is asked about: of jobs that run at once each finds others.
statement! {
    read ListSkills<'a> { model: &'a str, asked: Uuid, limit: i64 } -> SkillRow,
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
    read ListMemories<'a> { model: &'a str, after: Uuid, limit: i64 } -> TextRow,
    "-- embeddings.list_memories
    select m.memory_id as id, m.content as text from memories m
    where m.tenant_id = $1 and m.user_id = $2 and m.memory_id > $4 and not exists (
        select from memory_embeddings e
        where e.tenant_id = $1 and e.user_id = $2 and e.memory_id = m.memory_id and e.model = $3)
    order by m.memory_id
    limit $5"
}

statement! {
    read ListExamples<'a> { model: &'a str, after: Uuid, limit: i64 } -> TextRow,
    "-- embeddings.list_examples
    select e.example_id as id, e.message as text from skill_examples e
    where e.tenant_id = $1 and e.user_id = $2 and e.example_id > $4 and e.model is distinct from $3
    order by e.example_id
    limit $5"
}

// The vectors stand one behind the other in one list. The revision goes up with vectors of skills: it is what
// catalogues are checked against.
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

/// A skill of the caller that its vector does not fit; `None` where it does, and where the skill is gone.
///
/// # Errors
/// `Unavailable`.
pub async fn find_pending(
    db: &Database,
    principal: &Principal,
    model: &str,
    skill: SkillId,
) -> Result<Option<Pending>> {
    let row = read(db, principal, FindSkill { model, skill: skill.0 }).await?.pop();
    Ok(row.and_then(SkillRow::pending))
}

/// Some of the caller's texts that have no vector of this model. Memories and examples are those behind the one with the id
/// `after`, in order; skills are all but that one, in an order by it.
///
/// # Errors
/// `Unavailable`.
pub async fn list_pending(
    db: &Database,
    principal: &Principal,
    kind: EmbeddedKind,
    page: Page<'_>,
) -> Result<Vec<Pending>> {
    let Page { model, after, limit } = page;
    let texts = match kind {
        EmbeddedKind::Skill => {
            let rows = read(db, principal, ListSkills { model, asked: after, limit }).await?;
            return Ok(rows.into_iter().filter_map(SkillRow::pending).collect());
        }
        EmbeddedKind::Memory => read(db, principal, ListMemories { model, after, limit }).await?,
        EmbeddedKind::Example => read(db, principal, ListExamples { model, after, limit }).await?,
    };
    Ok(texts.into_iter().map(|row| Pending { id: row.id, text: row.text, made_of: None }).collect())
}

/// Which texts without a vector of a model are listed.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The model.
    pub model: &'a str,
    /// See [`list_pending`].
    pub after: Uuid,
    /// Most of them.
    pub limit: i64,
}

/// Puts vectors of one model, and makes them durable. What is gone by now, and a skill that has another name, description
/// or trigger, is left out: a job about the new text waits behind this one. Of an example that says what another one of its
/// skill says, that one is confirmed. Returns which skills or memories were given one.
///
/// # Errors
/// `Unavailable`; `RateLimited` where too many requests of the user wait; `Internal` for a vector that Postgres does not
/// take.
pub async fn put(db: &Database, principal: &Principal, kind: EmbeddedKind, made: Vectors<'_>) -> Result<Put> {
    let Vectors { model, vectors, now } = made;
    let mut tx = WriteTx::begin(db, principal, "embeddings.put").await?;
    if kind != EmbeddedKind::Memory {
        tx.lock_user();
    }
    if kind == EmbeddedKind::Example {
        for (of, embedding) in vectors {
            let (model, embedding, same_up_to) = (model.to_owned(), embedding.clone(), 1.0 - SAME_MEANING);
            drop(tx.send_ahead(PutVector { example: of.id, model, embedding, same_up_to }));
        }
        tx.commit().await?;
        return Ok(Put::default());
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
    Ok(Put { ids: rows.into_iter().map(|row| row.id).collect(), revision, stamp })
}

/// Vectors to put.
#[derive(Debug)]
pub struct Vectors<'a> {
    /// The model that made them.
    pub model: &'a str,
    /// All of the same length.
    pub vectors: &'a [Made],
    /// When they were made.
    pub now: DateTime<Utc>,
}

/// What was put.
#[derive(Debug, Clone, Default)]
pub struct Put {
    /// The skills or memories that were given a vector.
    pub ids: Vec<Uuid>,
    /// Of skills: the revision of the user's catalogue that it has made.
    pub revision: i64,
    /// Of skills: the stamp of each vector, see [`Stamp`](crate::skills::Stamp).
    pub stamp: i64,
}

impl SkillRow {
    /// `None` where its vector is of this very text.
    fn pending(self) -> Option<Pending> {
        let text = embedded_text(&self.name, &self.description, &self.triggers);
        let is_good = self.text_digest.is_some_and(|of| of == manifest::digest(text.as_bytes()));
        (!is_good).then_some(Pending { id: self.skill_id, text, made_of: Some(self.made_of) })
    }
}
