//! What recall keeps of a user's memories: which there are, their texts and vectors.

use knowhow_domain::Result;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::door::{Durability, Params, read, rows_as};
use crate::error::refuse_read;
use crate::{Database, Principal};

// The hashes of what there is, taken together: they change with every memory and every vector that comes or goes. A memory
// and its vector never change otherwise.
const FIND_STAMP: &str = "-- memories.find_stamp
    select coalesce((select bit_xor(uuid_hash_extended(m.memory_id, 0)) from memories m
                     where m.tenant_id = $1 and m.user_id = $2), 0),
           coalesce((select bit_xor(uuid_hash_extended(e.memory_id, 0)) from memory_embeddings e
                     where e.tenant_id = $1 and e.user_id = $2 and e.model = $3), 0)";

const LIST_HEADS: &str = "-- memories.list_heads
    select t.memories, t.vectors, m.memory_id, m.kind, octet_length(m.content), e.memory_id is not null
    from (select coalesce((select bit_xor(uuid_hash_extended(m.memory_id, 0)) from memories m
                           where m.tenant_id = $1 and m.user_id = $2), 0) as memories,
                 coalesce((select bit_xor(uuid_hash_extended(e.memory_id, 0)) from memory_embeddings e
                           where e.tenant_id = $1 and e.user_id = $2 and e.model = $3), 0) as vectors) t
    left join memories m on m.tenant_id = $1 and m.user_id = $2
    left join memory_embeddings e
        on e.tenant_id = $1 and e.user_id = $2 and e.memory_id = m.memory_id and e.model = $3
    order by m.memory_id";

const READ_TEXTS: &str = "-- memories.read_texts
    select m.memory_id, case when w.text then m.content end,
           case when w.vector then (
               select e.embedding::vector::real[] from memory_embeddings e
               where e.tenant_id = $1 and e.user_id = $2 and e.memory_id = w.memory_id and e.model = $6) end
    from unnest($3::uuid[], $4::boolean[], $5::boolean[]) as w (memory_id, text, vector)
    join memories m on m.tenant_id = $1 and m.user_id = $2 and m.memory_id = w.memory_id";

/// Which memories a user has, and which of them have a vector, as one number each: what is kept from the same stamp is
/// fresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Of the memories.
    pub memories: i64,
    /// Of their vectors by one model.
    pub vectors: i64,
}

/// What is known of a memory without reading its text.
#[derive(Debug, Clone)]
pub struct Head {
    /// Which.
    pub id: Uuid,
    /// See [`Memory`](super::Memory).
    pub kind: String,
    /// Size of its text.
    pub bytes: i32,
    /// Whether it has a vector by the model.
    pub has_vector: bool,
}

/// What is wanted of a memory.
#[derive(Debug, Clone, Copy)]
pub struct WantedText {
    /// Which.
    pub id: Uuid,
    /// Whether its text is wanted,
    pub text: bool,
    /// and its vector.
    pub vector: bool,
}

/// What was read of a memory: what was wanted and is there.
#[derive(Debug, Clone)]
pub struct ReadText {
    /// Which.
    pub id: Uuid,
    /// See [`Memory`](super::Memory).
    pub content: Option<String>,
    /// Its vector by the model.
    pub embedding: Option<Vec<f32>>,
}

/// The stamp of all memories of the user now.
///
/// # Errors
/// `Unavailable`.
pub async fn find_stamp(db: &Database, principal: &Principal, model: Option<&str>) -> Result<Stamp> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, FIND_STAMP, &[&tenant, &user, &model]).await?;
    Ok(rows_as(&rows, stamp_of)?.pop().unwrap_or_default())
}

/// All memories of the user, the oldest first, and their stamp at that moment.
///
/// # Errors
/// `Unavailable`.
pub async fn list_heads(db: &Database, principal: &Principal, model: Option<&str>) -> Result<(Stamp, Vec<Head>)> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, LIST_HEADS, &[&tenant, &user, &model]).await?;
    let stamp = rows.first().map(stamp_of).transpose().map_err(refuse_read)?.unwrap_or_default();
    // A user without memories has one row, of nothing but the stamp.
    let heads = rows_as(&rows, |row| {
        let Some(id) = row.try_get(2)? else { return Ok(None) };
        Ok(Some(Head { id, kind: row.try_get(3)?, bytes: row.try_get(4)?, has_vector: row.try_get(5)? }))
    })?;
    Ok((stamp, heads.into_iter().flatten().collect()))
}

/// Texts and vectors by `model` of some memories, in no order; what is gone is left out.
///
/// # Errors
/// `Unavailable`.
pub async fn read_texts(
    db: &Database,
    principal: &Principal,
    wanted: &[WantedText],
    model: Option<&str>,
) -> Result<Vec<ReadText>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let ids: Vec<Uuid> = wanted.iter().map(|memory| memory.id).collect();
    let (texts, vectors): (Vec<bool>, Vec<bool>) = wanted.iter().map(|memory| (memory.text, memory.vector)).unzip();
    let params: Params<'_> = &[&tenant, &user, &ids, &texts, &vectors, &model];
    let rows = read(db, principal, Durability::Full, READ_TEXTS, params).await?;
    rows_as(&rows, |row| Ok(ReadText { id: row.try_get(0)?, content: row.try_get(1)?, embedding: row.try_get(2)? }))
}

fn stamp_of(row: &Row) -> Result<Stamp, tokio_postgres::Error> {
    Ok(Stamp { memories: row.try_get(0)?, vectors: row.try_get(1)? })
}
