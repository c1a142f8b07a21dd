//! Skills as hosts see them over MCP (SEP-2640): entries with all their files, single files, folders.

use knowhow_domain::{ResourceEntry, Result};
use serde_json::Value;

use super::Moment;
use crate::vault::value::Files;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window};

/// What is published of a skill. SKILL.md comes along only where it has to be derived before it is served.
#[derive(Debug, Clone)]
pub struct PublishedRow {
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// SHA-256 of the stored SKILL.md.
    pub document_digest: Vec<u8>,
    /// Its size in bytes.
    pub document_bytes: i32,
    pub resources: Vec<ResourceEntry>,
    /// The frontmatter as JSON; `None` where the stored one lacks what hosts require.
    pub frontmatter: Option<Value>,
    /// The stored SKILL.md, where `frontmatter` is `None`, or it is to be marked.
    pub document: Option<Vec<u8>>,
    /// Whether text of it came from what is not to be trusted, and no person has approved it.
    pub tainted: bool,
    /// Asked for itself; `false` for a skill that came along because its folder lies in another one's.
    pub asked: bool,
}

row! {
    PublishedRow {
        name: String, description: String, document_digest: Vec<u8>, document_bytes: i32, resources: Files,
        frontmatter: Option<Value>, document: Option<Vec<u8>> = content, tainted: bool, asked: bool,
    }
}

row! { Moment { revision: i64, skill_count: i32 } }

/// Skills as hosts see them, all of one moment.
#[derive(Debug, Clone, Default)]
pub struct PublishedRows {
    pub moment: Moment,
    pub rows: Vec<PublishedRow>,
}

row! { FoundFile { name: String, path: String, content: Vec<u8>, complete: bool, tainted: bool } }

row! { struct SegmentsRow { segments: Vec<String> } }

// A skill's folder holds the folders of the skills below it, so their files belong to its entry (SEP-2640, Nested
// Skills). '0' is the character behind '/', so that the names below one are a range of the index. A page is all names
// of a range: what of a folder is not in it lies behind its last name. Only a document that has to be derived is
// looked up, or marked: the digest of all others is null to the join.
statement! {
    read ListPublished<'a> { after: &'a str, limit: i64, nested: bool, most_nested: i64 } -> (PublishedRow, Moment),
    "-- skills.list_published
    with page as materialized (
        (select s.name, coalesce(s.description, t.description) as description,
                coalesce(s.document_digest, t.document_digest) as document_digest,
                coalesce(s.document_bytes, t.document_bytes) as document_bytes, coalesce(s.resources, '[]') as resources,
                coalesce(s.frontmatter, t.frontmatter) as frontmatter, s.tainted
         from skills s
         left join starter_texts t on t.starter_id = s.starter_id
         where s.tenant_id = $1 and s.user_id = $2 and s.name > $3
         order by s.name
         limit $4)
        union all
        select l.name, l.description, l.document_digest, l.document_bytes, l.resources, l.frontmatter, l.tainted
        from skill_states l
        where l.tenant_id = $1 and l.user_id = $2 and l.lent and l.name > $3
        order by name
        limit $4
    ), nested as (
        select distinct on (s.name) s.*
        from (select name, max(name) over () as last from page) p
        cross join lateral (
            select s.name, s.description, s.document_digest, s.document_bytes, s.resources, s.frontmatter, s.tainted
            from skills s
            where s.tenant_id = $1 and s.user_id = $2
              and s.name > greatest(p.name || '/', p.last) and s.name < p.name || '0'
            order by s.name
            limit $6
        ) s
        where $5 and p.name || '0' > p.last
        order by s.name
    ), wanted as (
        select *, true as asked from page
        union all
        select *, false from nested
    )
    select s.name, s.description, s.document_digest, s.document_bytes, s.resources, s.frontmatter, r.content, s.asked, s.tainted,
           c.revision, c.skill_count
    from wanted s
    left join skill_resources r
        on r.tenant_id = $1 and r.user_id = $2
        and r.digest = case when s.frontmatter is null or s.tainted then s.document_digest end
    cross join (select k.revision, k.skill_count from user_catalogs k where k.tenant_id = $1 and k.user_id = $2) c
    order by s.name"
}

statement! {
    read FindPublished<'a> { name: &'a str, limit: i64 } -> PublishedRow,
    "-- skills.find_published
    select s.name, s.description, s.document_digest, s.document_bytes, s.resources, s.frontmatter, r.content,
           s.name = $3 as asked, s.tainted
    from skill_states s
    left join skill_resources r
        on r.tenant_id = $1 and r.user_id = $2
        and r.digest = case when s.frontmatter is null or s.tainted then s.document_digest end
    where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or (s.name > $3 || '/' and s.name < $3 || '0'))
    order by s.name
    limit $4"
}

statement! {
    read FindFile<'a> { names: Vec<&'a str>, paths: Vec<&'a str> } -> FoundFile,
    "-- skills.find_file
    with candidates as (
        select c.name, c.path, c.place from unnest($3::text[], $4::text[]) with ordinality as c (name, path, place)
    ), found as materialized (
        select s.name, c.path, c.place, coalesce(s.frontmatter, t.frontmatter) is not null as complete, t.document,
               case when c.path = 'SKILL.md' then s.document_digest else decode(e.digest, 'hex') end as digest, s.tainted
        from candidates c
        join skills s on s.tenant_id = $1 and s.user_id = $2 and s.name = c.name
        left join starter_texts t on t.starter_id = s.starter_id and c.path = 'SKILL.md'
        left join lateral jsonb_to_recordset(s.resources) as e (path text, digest text) on e.path = c.path
    )
    select name, path, content, complete, tainted from (
    (select f.name, f.path, coalesce(r.content, f.document) as content, f.complete, f.place, f.tainted
     from found f
     left join skill_resources r on r.tenant_id = $1 and r.user_id = $2 and r.digest = f.digest
     where coalesce(r.content, f.document) is not null
     order by f.place
     limit 1)
    union all
    select l.name, c.path, l.document, true, c.place, false
    from candidates c
    join skill_states l on l.tenant_id = $1 and l.user_id = $2 and l.lent and l.name = c.name and c.path = 'SKILL.md') stored
    order by place
    limit 1"
}

statement! {
    read ReadFolder<'a> { prefix: &'a str, end: String, names: &'a [&'a str] } -> (Option<PublishedRow>, SegmentsRow),
    "-- skills.read_folder
    with below as (
        select array(
            select distinct split_part(substr(s.name, length($3) + 1), '/', 1) collate \"C\" as segment
            from skill_states s
            where s.tenant_id = $1 and s.user_id = $2 and s.name > $3 and s.name < $4
            order by segment
        ) as segments
    )
    select s.name, s.description, s.document_digest, s.document_bytes, s.resources, s.frontmatter, r.content, true as asked, s.tainted,
           b.segments
    from below b
    left join skill_states s on s.tenant_id = $1 and s.user_id = $2 and s.name = any ($5)
    left join skill_resources r
        on r.tenant_id = $1 and r.user_id = $2
        and r.digest = case when s.frontmatter is null or s.tainted then s.document_digest end
    order by s.name"
}

/// Most skills that come along because they lie in the folder of another: more than 512 files are listed of none.
const NESTED: i64 = 513;

/// Skills in the order of their names, with those in their folders where these are wanted, the first 513 of each.
///
/// # Errors
/// `Unavailable`.
pub async fn list_published(
    db: &Database,
    principal: &Principal,
    page: Window<&str>,
    nested: bool,
) -> Result<PublishedRows> {
    let Window { behind: after, limit } = page;
    let read = read(db, principal, ListPublished { after, limit, nested, most_nested: NESTED }).await?;
    let moment = read.first().map(|(_, moment)| *moment).unwrap_or_default();
    Ok(PublishedRows { moment, rows: read.into_iter().map(|(row, _)| row).collect() })
}

/// One skill with those in its folder, likewise; empty where it is not there.
///
/// # Errors
/// `Unavailable`.
pub async fn find_published(db: &Database, principal: &Principal, name: &str) -> Result<Vec<PublishedRow>> {
    read(db, principal, FindPublished { name, limit: NESTED + 1 }).await
}

/// A stored file and whose it is.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// The skill's full name.
    pub name: String,
    /// Relative to the skill's folder.
    pub path: String,
    /// The stored bytes.
    pub content: Vec<u8>,
    /// Whether a SKILL.md may be served as it is stored.
    pub complete: bool,
    /// Whether text of the skill came from what is not to be trusted, and no person has approved it.
    pub tainted: bool,
}

/// The first file of these (skill, path) pairs that there is.
///
/// # Errors
/// `Unavailable`.
pub async fn find_file(db: &Database, principal: &Principal, splits: &[(&str, &str)]) -> Result<Option<FoundFile>> {
    let (names, paths) = splits.iter().copied().unzip();
    Ok(read(db, principal, FindFile { names, paths }).await?.into_iter().next())
}

/// What lies at and below a place among the names.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    /// The segments that names below it go on with, each once, sorted.
    pub segments: Vec<String>,
    /// The skills whose files may lie in it.
    pub skills: Vec<PublishedRow>,
}

/// Reads the names below `prefix` (empty, or ending in `/`) and the skills called `names`.
///
/// # Errors
/// `Unavailable`.
pub async fn read_folder(db: &Database, principal: &Principal, prefix: &str, names: &[&str]) -> Result<Folder> {
    let end = prefix.strip_suffix('/').map_or_else(|| "~".to_owned(), |p| format!("{p}0"));
    let mut folder = Folder::default();
    for (skill, SegmentsRow { segments }) in read(db, principal, ReadFolder { prefix, end, names }).await? {
        folder.segments = segments;
        folder.skills.extend(skill);
    }
    Ok(folder)
}
