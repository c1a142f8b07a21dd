//! Reads a user's memories for recall: stamps, texts and vectors.

use knowhow_domain::{Error, MemoryId, MemoryKind, Result};
use uuid::Uuid;

use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

// The exclusive or of hashed ids changes whenever a memory is added, changed or deleted, and whenever a vector is added
// or deleted. A vector changes only together with its memory.
statement! {
    read FindStamp<'a> { model: Option<&'a str> } -> MemoriesStamp,
    "-- memories.find_stamp
    select coalesce((select bit_xor(uuid_hash_extended(m.memory_id, m.version)) from memories m
                     where m.tenant_id = $1 and m.user_id = $2), 0) as memories,
           coalesce((select bit_xor(uuid_hash_extended(e.memory_id, 0)) from memory_embeddings e
                     where e.tenant_id = $1 and e.user_id = $2 and e.model = $3), 0) as vectors"
}

statement! {
    read ListHeads<'a> { model: Option<&'a str> } -> (MemoriesStamp, Option<Head>),
    "-- memories.list_heads
    select t.memories, t.vectors, m.memory_id, m.version, m.kind, octet_length(m.content) as bytes, e.memory_id is not null as has_vector
    from (select coalesce((select bit_xor(uuid_hash_extended(m.memory_id, m.version)) from memories m
                           where m.tenant_id = $1 and m.user_id = $2), 0) as memories,
                 coalesce((select bit_xor(uuid_hash_extended(e.memory_id, 0)) from memory_embeddings e
                           where e.tenant_id = $1 and e.user_id = $2 and e.model = $3), 0) as vectors) t
    left join memories m on m.tenant_id = $1 and m.user_id = $2
    left join memory_embeddings e
        on e.tenant_id = $1 and e.user_id = $2 and e.memory_id = m.memory_id and e.model = $3
    order by m.memory_id"
}

statement! {
    read ReadTexts<'a> { ids: Vec<Uuid>, texts: Vec<bool>, vectors: Vec<bool>, model: Option<&'a str> } -> ReadText,
    "-- memories.read_texts
    select m.memory_id, case when w.text then m.content end as content,
           case when w.vector then (
               select e.embedding::vector::real[] from memory_embeddings e
               where e.tenant_id = $1 and e.user_id = $2 and e.memory_id = w.memory_id and e.model = $6) end as embedding
    from unnest($3::uuid[], $4::boolean[], $5::boolean[]) as w (memory_id, text, vector)
    join memories m on m.tenant_id = $1 and m.user_id = $2 and m.memory_id = w.memory_id"
}

/// State of a user's memories, and of their vectors, as one number each. Cached copies are current while both numbers
/// are unchanged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoriesStamp {
    pub memories: i64,
    /// State of the vectors made by one model.
    pub vectors: i64,
}

/// A memory without its text.
#[derive(Debug, Clone)]
pub struct Head {
    pub id: MemoryId,
    pub version: i32,
    pub kind: MemoryKind,
    /// Size of the text in bytes.
    pub bytes: i32,
    /// Whether the memory has a vector made by the requested model.
    pub has_vector: bool,
}

/// A memory to read, and the requested parts.
#[derive(Debug, Clone, Copy)]
pub struct WantedText {
    pub id: MemoryId,
    pub text: bool,
    pub vector: bool,
}

/// The requested parts of a memory.
#[derive(Debug, Clone)]
pub struct ReadText {
    pub id: MemoryId,
    /// Text of the memory, if requested.
    pub content: Option<String>,
    /// Vector of the memory made by the requested model, if requested and available.
    pub embedding: Option<Vec<f32>>,
}

row! { MemoriesStamp { memories: i64, vectors: i64 } }

row! { Head { id: Uuid = memory_id, version: i32, kind: Word<MemoryKind>, bytes: i32, has_vector: bool } }

row! { ReadText { id: Uuid = memory_id, content: Option<String>, embedding: Option<Vec<f32>> } }

impl ReadText {
    /// Returns the approximate size in a cache, in bytes.
    pub fn size(&self) -> usize {
        self.content.as_ref().map_or(0, String::len) + self.embedding.as_ref().map_or(0, |vector| vector.len() * 2)
    }
}

/// Returns the current stamp of the user's memories.
pub async fn find_stamp(db: &Database, principal: &Principal, model: Option<&str>) -> Result<MemoriesStamp> {
    let stamp = read(db, principal, FindStamp { model }).await?.pop();
    stamp.ok_or_else(|| Error::internal("memories.find_stamp answers with one row, also without memories"))
}

/// Lists the user's memories, oldest first, and their stamp at that moment.
pub async fn list_heads(
    db: &Database,
    principal: &Principal,
    model: Option<&str>,
) -> Result<(MemoriesStamp, Vec<Head>)> {
    let rows = read(db, principal, ListHeads { model }).await?;
    // A user without memories has one row with only the stamp.
    let stamp = rows.first().map(|(stamp, _)| *stamp);
    let stamp = stamp.ok_or_else(|| Error::internal("memories.list_heads answers with one row at least"))?;
    Ok((stamp, rows.into_iter().filter_map(|(_, head)| head).collect()))
}

/// Reads the texts of memories and their vectors made by `model`, unordered. Missing memories are skipped.
pub async fn read_texts(
    db: &Database,
    principal: &Principal,
    wanted: &[WantedText],
    model: Option<&str>,
) -> Result<Vec<ReadText>> {
    let ids: Vec<Uuid> = wanted.iter().map(|memory| memory.id.0).collect();
    let (texts, vectors): (Vec<bool>, Vec<bool>) = wanted.iter().map(|memory| (memory.text, memory.vector)).unzip();
    read(db, principal, ReadTexts { ids, texts, vectors, model }).await
}
