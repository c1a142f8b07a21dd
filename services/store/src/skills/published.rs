//! Skills as MCP resources (SEP-2640): skills with all their files, single files, folders.

use knowhow_domain::{ResourceEntry, Result};
use serde_json::Value;

use super::Moment;
use crate::vault::value::Files;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, Window};

/// A published skill. SKILL.md is only included if it must be modified before serving.
#[derive(Debug, Clone)]
pub struct PublishedRow {
    pub name: String,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// SHA-256 of the stored SKILL.md.
    pub document_digest: Vec<u8>,
    /// Size of the stored SKILL.md in bytes.
    pub document_bytes: i32,
    pub resources: Vec<ResourceEntry>,
    /// The frontmatter as JSON; `None` if the stored frontmatter lacks members that hosts require.
    pub frontmatter: Option<Value>,
    /// The stored SKILL.md, if it must be modified because `frontmatter` is `None` or the skill is tainted.
    pub document: Option<Vec<u8>>,
    /// Whether a part of the skill's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
    /// Whether the skill itself was requested. `false` if it is included because its folder is inside a requested
    /// skill's folder.
    pub asked: bool,
}

row! {
    PublishedRow {
        name: String, description: String, document_digest: Vec<u8>, document_bytes: i32, resources: Files,
        frontmatter: Option<Value>, document: Option<Vec<u8>> = content, tainted: bool, asked: bool,
    }
}

row! { Moment { revision: i64, skill_count: i32 } }

/// Published skills at one state of the catalogue.
#[derive(Debug, Clone, Default)]
pub struct PublishedRows {
    pub moment: Moment,
    pub rows: Vec<PublishedRow>,
}

row! { FoundFile { name: String, path: String, content: Vec<u8>, complete: bool, tainted: bool } }

row! { struct SegmentsRow { segments: Vec<String> } }

// A skill's folder includes the folders of the skills below it, so their files belong to its entry (SEP-2640, Nested
// Skills). '0' is the character after '/', so the names below a skill are a range of the index. A page has all names
// of a range, so further skills of a folder have names after the last one. The SKILL.md is only joined if it must be
// modified; otherwise the digest is null in the join.
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

/// Maximum number of nested skills per folder. It exceeds the limit of 512 listed files.
const NESTED: i64 = 513;

/// Lists skills ordered by name, optionally with the first 513 nested skills of each.
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

/// Returns one skill with its nested skills; empty if it does not exist.
pub async fn find_published(db: &Database, principal: &Principal, name: &str) -> Result<Vec<PublishedRow>> {
    read(db, principal, FindPublished { name, limit: NESTED + 1 }).await
}

/// A stored file and its skill.
#[derive(Debug, Clone)]
pub struct FoundFile {
    pub name: String,
    /// Path relative to the skill's folder.
    pub path: String,
    pub content: Vec<u8>,
    /// Whether a SKILL.md has all members that hosts require, so that it may be served unchanged.
    pub complete: bool,
    /// Whether a part of the skill's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
}

/// Returns the first of these (skill, path) pairs that exists as a file.
pub async fn find_file(db: &Database, principal: &Principal, splits: &[(&str, &str)]) -> Result<Option<FoundFile>> {
    let (names, paths) = splits.iter().copied().unzip();
    Ok(read(db, principal, FindFile { names, paths }).await?.into_iter().next())
}

/// Contents of a folder of skill names.
#[derive(Debug, Clone, Default)]
pub struct PublishedFolder {
    /// Next segments of the names below the folder, unique and sorted.
    pub segments: Vec<String>,
    /// Skills that may have files in the folder.
    pub skills: Vec<PublishedRow>,
}

/// Reads the names below `prefix` (empty, or ending in `/`), and the skills named `names`.
pub async fn read_folder(
    db: &Database,
    principal: &Principal,
    prefix: &str,
    names: &[&str],
) -> Result<PublishedFolder> {
    let end = prefix.strip_suffix('/').map_or_else(|| "~".to_owned(), |p| format!("{p}0"));
    let mut folder = PublishedFolder::default();
    for (skill, SegmentsRow { segments }) in read(db, principal, ReadFolder { prefix, end, names }).await? {
        folder.segments = segments;
        folder.skills.extend(skill);
    }
    Ok(folder)
}
