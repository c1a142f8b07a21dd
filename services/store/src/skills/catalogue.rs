//! Everything of a user's skills that recall works on, and what a turn needs of the few that it found.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use uuid::Uuid;

use super::text;
use crate::door::{Durability, read, rows_as};
use crate::error::refuse_read;
use crate::{Database, Principal};

/// A skill as recall reads it.
#[derive(Debug, Clone)]
pub struct CatalogueRow {
    /// Its id.
    pub id: Uuid,
    /// Full name.
    pub name: String,
    /// Index line.
    pub summary: Option<String>,
    /// What it does and when.
    pub description: String,
    /// Phrases that call for it.
    pub triggers: Vec<String>,
    /// Names of others.
    pub see_also: Vec<String>,
    /// 0 to 1.
    pub importance: f32,
    /// Whether its author wants it recalled by name alone.
    pub reserved: bool,
    /// The markdown body.
    pub body: String,
    /// The vector of name, description and triggers by the model asked for, where there is one.
    pub embedding: Option<Vec<f32>>,
    /// Whether its text, and so its vector, is that of all users.
    pub is_starter: bool,
}

/// All skills of a user at one revision.
#[derive(Debug, Clone, Default)]
pub struct CatalogueRows {
    /// The revision.
    pub revision: i64,
    /// By name.
    pub skills: Vec<CatalogueRow>,
}

const REVISIONS: &str = "-- skills.find_revisions
    select c.revision, c.examples_revision from user_catalogs c where c.tenant_id = $1 and c.user_id = $2";

// The revision is read in the same statement, so it is that of the rows.
const LIST_CATALOGUE: &str = "-- skills.list_catalogue
    select c.revision, s.skill_id, s.name, coalesce(s.summary, s.made_summary), s.description, s.triggers, s.see_also, s.importance,
           substr(s.document, s.content_at_byte + 1) as body,
           coalesce(e.embedding, v.embedding)::vector::real[] as embedding,
           coalesce(s.attributes -> 'disable_model_invocation', s.frontmatter -> 'disable-model-invocation') = 'true',
           s.starter_id is not null
    from user_catalogs c
    left join skill_states s on s.tenant_id = $1 and s.user_id = $2
    left join skill_embeddings e
        on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
    left join starter_vectors v on v.starter_id = s.starter_id and v.model = $3
    where c.tenant_id = $1 and c.user_id = $2
    order by s.name";

const READ_BODIES: &str = "-- skills.read_bodies
    select s.skill_id, s.version, substr(s.document, s.content_at_byte + 1),
           array(select f ->> 'path' from jsonb_array_elements(s.resources) as f order by 1), s.tainted
    from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)";

const LIST_LAST_USES: &str = "-- skills.list_last_uses
    select u.skill_id, u.last_used_at from skill_usage u
    where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = any ($3) and u.last_used_at is not null";

const LIST_COSINES: &str = "-- skills.list_cosines
    select e.skill_id, (1 - (e.embedding <=> q.embedding))::real
    from (select $4::real[]::vector::halfvec as embedding) q, skill_embeddings e
    where e.tenant_id = $1 and e.user_id = $2 and e.model = $3
      and vector_dims(e.embedding::vector) = cardinality($4::real[])
    union all
    select s.skill_id, (1 - (v.embedding <=> q.embedding))::real
    from (select $4::real[]::vector::halfvec as embedding) q, skill_states s
    join starter_vectors v on v.starter_id = s.starter_id
    where s.tenant_id = $1 and s.user_id = $2 and v.model = $3
      and vector_dims(v.embedding::vector) = cardinality($4::real[])";

const LIST_CLAIMS: &str = "-- skills.list_claims
    select s.name, s.description, s.triggers,
           (1 - (coalesce(e.embedding, v.embedding) <=> $5::real[]::vector::halfvec))::real
    from skill_states s
    left join skill_embeddings e
        on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $4
        and vector_dims(e.embedding::vector) = cardinality($5::real[])
    left join starter_vectors v
        on v.starter_id = s.starter_id and v.model = $4 and vector_dims(v.embedding::vector) = cardinality($5::real[])
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id <> $3
    order by s.name";

/// What a skill says it is for.
#[derive(Debug, Clone)]
pub struct Claims {
    /// Full name.
    pub name: String,
    /// What it does and when.
    pub description: String,
    /// Phrases that call for it.
    pub triggers: Vec<String>,
    /// How near its vector is to the one asked with, where both are.
    pub cosine: Option<f32>,
}

/// What all skills but one say they are for, and how near each is to a vector by `model`.
///
/// # Errors
/// `Unavailable`.
pub async fn list_claims(
    db: &Database,
    principal: &Principal,
    but: Uuid,
    embedding: Option<(&str, &[f32])>,
) -> Result<Vec<Claims>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let (model, embedding) = embedding.unzip();
    let rows = read(db, principal, Durability::Full, LIST_CLAIMS, &[&tenant, &user, &but, &model, &embedding]).await?;
    rows_as(&rows, |row| {
        Ok(Claims {
            name: row.try_get(0)?,
            description: row.try_get(1)?,
            triggers: row.try_get(2)?,
            cosine: row.try_get(3)?,
        })
    })
}

/// How far a user's catalogue has come: what is kept from that very moment is fresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Revisions {
    /// Of the skills.
    pub skills: i64,
    /// Of the vectors of their examples.
    pub examples: i64,
}

/// The user's revisions now.
///
/// # Errors
/// `Unavailable`.
pub async fn find_revisions(db: &Database, principal: &Principal) -> Result<Revisions> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, REVISIONS, &[&tenant, &user]).await?;
    let found = rows_as(&rows, |row| Ok(Revisions { skills: row.try_get(0)?, examples: row.try_get(1)? }))?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// All skills for recall, with their vectors by `model`.
///
/// # Errors
/// `Unavailable`.
pub async fn list_catalogue(db: &Database, principal: &Principal, model: Option<&str>) -> Result<CatalogueRows> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, LIST_CATALOGUE, &[&tenant, &user, &model]).await?;
    let mut found = CatalogueRows { revision: 0, skills: Vec::with_capacity(rows.len()) };
    for row in &rows {
        found.revision = row.try_get(0).map_err(refuse_read)?;
        // A user without skills has one row, of nothing but the revision.
        let Some(id) = row.try_get::<_, Option<Uuid>>(1).map_err(refuse_read)? else { continue };
        let body = text(row.try_get(8).map_err(refuse_read)?)?;
        let read = || -> Result<CatalogueRow, tokio_postgres::Error> {
            Ok(CatalogueRow {
                id,
                name: row.try_get(2)?,
                summary: row.try_get(3)?,
                description: row.try_get(4)?,
                triggers: row.try_get(5)?,
                see_also: row.try_get(6)?,
                importance: row.try_get(7)?,
                reserved: row.try_get::<_, Option<bool>>(10)?.unwrap_or_default(),
                body,
                embedding: row.try_get(9)?,
                is_starter: row.try_get(11)?,
            })
        };
        found.skills.push(read().map_err(refuse_read)?);
    }
    Ok(found)
}

/// A skill's body as a turn brings it.
#[derive(Debug, Clone)]
pub struct Body {
    /// Whose.
    pub skill: Uuid,
    /// The version it is of.
    pub version: i32,
    /// The markdown.
    pub content: String,
    /// Paths of the skill's other files, in order.
    pub files: Vec<String>,
    /// Whether text of that version came from what is not to be trusted, and nobody has approved it.
    pub tainted: bool,
}

/// The bodies of skills, in no order; what is gone is left out.
///
/// # Errors
/// `Unavailable`.
pub async fn read_bodies(db: &Database, principal: &Principal, skills: &[Uuid]) -> Result<Vec<Body>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, READ_BODIES, &[&tenant, &user, &skills]).await?;
    rows_as(&rows, |row| {
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get::<_, Vec<u8>>(2)?, row.try_get(3)?, row.try_get(4)?))
    })?
    .into_iter()
    .map(|(skill, version, body, files, tainted)| Ok(Body { skill, version, content: text(body)?, files, tainted }))
    .collect()
}

/// When skills were last used; those never used are left out.
///
/// # Errors
/// `Unavailable`.
pub async fn list_last_uses(
    db: &Database,
    principal: &Principal,
    skills: &[Uuid],
) -> Result<Vec<(Uuid, DateTime<Utc>)>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, LIST_LAST_USES, &[&tenant, &user, &skills]).await?;
    rows_as(&rows, |row| Ok((row.try_get(0)?, row.try_get(1)?)))
}

/// The cosine of a vector to each skill that has one by `model`: exact, for catalogues too large to keep in memory.
///
/// # Errors
/// `Unavailable`.
pub async fn list_cosines(
    db: &Database,
    principal: &Principal,
    model: &str,
    embedding: &[f32],
) -> Result<Vec<(Uuid, f32)>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, LIST_COSINES, &[&tenant, &user, &model, &embedding]).await?;
    rows_as(&rows, |row| Ok((row.try_get(0)?, row.try_get(1)?)))
}
