//! The index: one page of a user's skills through the pipelined door.

use knowhow_domain::index::Standing;
use knowhow_domain::{IndexItem, Result, SummaryBy};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::door::{Durability, read, rows_as};
use crate::error::refuse_read;
use crate::{Database, Principal};

/// Which skills, and from where on.
#[derive(Debug, Clone, Default)]
pub struct ListQuery {
    /// Names that begin so.
    pub prefix: Option<String>,
    /// Exactly this category.
    pub category: Option<String>,
    /// Carrying this tag.
    pub tag: Option<String>,
    /// The last row of the page before.
    pub after: Option<Position>,
    /// Most rows to return.
    pub limit: i64,
}

/// Where a page ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// Name of the last row.
    pub name: String,
    /// Its importance, which a ranked list is ordered by first.
    pub importance: f32,
}

// The usage of a page is looked up at once: joined row by row, the policies would be checked again for each.
const BY_NAME: &str = "-- skills.list_page
    with page as materialized (
        (select s.skill_id, s.name, coalesce(s.summary, t.summary) as summary,
                coalesce(s.description, t.description) as description, coalesce(s.category, t.category) as category,
                coalesce(s.tags, t.tags) as tags, s.version, s.updated_at, s.pinned, s.importance, s.made_summary, s.tainted
         from skills s
         left join starter_texts t on t.starter_id = s.starter_id
         where s.tenant_id = $1 and s.user_id = $2 and s.name > $3 and s.name < $4 and s.name >= $5
           and ($6::text is null or coalesce(s.category, t.category) = $6)
           and ($7::text is null or $7 = any (coalesce(s.tags, t.tags)))
         order by s.name
         limit $8)
        union all
        select l.skill_id, l.name, l.summary, l.description, l.category, l.tags, l.version, l.updated_at, l.pinned,
               l.importance, l.made_summary, l.tainted
        from skill_states l
        where l.tenant_id = $1 and l.user_id = $2 and l.lent and l.name > $3 and l.name < $4 and l.name >= $5
          and ($6::text is null or l.category = $6) and ($7::text is null or $7 = any (l.tags))
        order by name
        limit $8
    ), used as materialized (
        select u.skill_id, u.times_used, u.last_used_at from skill_usage u
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = any (array(select skill_id from page))
    )
    select p.name, p.summary, p.description, p.category, p.tags, p.version, u.times_used, u.last_used_at, p.updated_at,
           p.pinned, p.importance, p.made_summary, p.tainted
    from page p left join used u on u.skill_id = p.skill_id
    order by p.name";

const BY_IMPORTANCE: &str = "-- skills.list_ranked_page
    with page as materialized (
        select s.skill_id, s.name, s.summary, s.description, s.category, s.tags, s.version, s.updated_at, s.pinned,
               s.importance, s.made_summary, s.tainted
        from skill_states s
        where s.tenant_id = $1 and s.user_id = $2 and s.name < $4 and s.name >= $5
          and (s.importance < $9 or (s.importance = $9 and s.name > $3))
          and ($6::text is null or s.category = $6) and ($7::text is null or $7 = any (s.tags))
        order by s.importance desc, s.name
        limit $8
    ), used as materialized (
        select u.skill_id, u.times_used, u.last_used_at from skill_usage u
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = any (array(select skill_id from page))
    )
    select p.name, p.summary, p.description, p.category, p.tags, p.version, u.times_used, u.last_used_at, p.updated_at,
           p.pinned, p.importance, p.made_summary, p.tainted
    from page p left join used u on u.skill_id = p.skill_id
    order by p.importance desc, p.name";

const ROWS: &str = "-- skills.list_rows
    select s.name, s.summary, s.description, s.category, s.tags, s.version, u.times_used, u.last_used_at, s.updated_at,
           s.pinned, s.importance, s.made_summary, s.tainted, s.skill_id
    from skill_states s
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)";

const INDEX: &str = "-- skills.list_index
    select s.name, s.summary, s.made_summary, s.description, s.importance, s.pinned, coalesce(g.times_used, 0),
           greatest(g.last_used_at, s.updated_at), s.tainted
    from skill_states s
    left join skill_usage g on g.tenant_id = $1 and g.user_id = $2 and g.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2
      and coalesce(s.attributes -> 'disable_model_invocation', s.frontmatter -> 'disable-model-invocation')
          is distinct from 'true'
    order by s.name";

/// A skill as the index in a prompt needs it.
#[derive(Debug, Clone)]
pub struct PromptRow {
    /// Full name.
    pub name: String,
    /// The summary of its author.
    pub summary: Option<String>,
    /// The summary that was made for it.
    pub made_summary: Option<String>,
    /// What it does and when.
    pub description: String,
    /// How it is used.
    pub standing: Standing,
    /// Whether text of it came from what is not to be trusted, and nobody has approved it.
    pub tainted: bool,
}

impl PromptRow {
    /// Reads all but the name from the columns that begin at `at`.
    pub(crate) fn of(row: &Row, name: String, at: usize) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            name,
            summary: row.try_get(at)?,
            made_summary: row.try_get(at + 1)?,
            description: row.try_get(at + 2)?,
            standing: Standing {
                importance: row.try_get(at + 3)?,
                pinned: row.try_get(at + 4)?,
                times_used: row.try_get(at + 5)?,
                active_at: row.try_get(at + 6)?,
            },
            tainted: row.try_get(at + 7)?,
        })
    }
}

/// The user's skills by name, without those that are recalled by name alone: a model is not to choose them by itself.
///
/// # Errors
/// `Unavailable`.
pub async fn list_index(db: &Database, principal: &Principal) -> Result<Vec<PromptRow>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, INDEX, &[&tenant, &user]).await?;
    rows_as(&rows, |row| PromptRow::of(row, row.try_get(0)?, 1))
}

/// The index lines of skills by their ids, in no order; what is gone is left out.
///
/// # Errors
/// `Unavailable`.
pub async fn list_rows(db: &Database, principal: &Principal, skills: &[Uuid]) -> Result<Vec<(Uuid, IndexItem)>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let rows = read(db, principal, Durability::Full, ROWS, &[&tenant, &user, &skills]).await?;
    rows.iter().map(|row| Ok((row.try_get(13).map_err(refuse_read)?, index_row(row)?))).collect()
}

/// A page in the order of names.
///
/// # Errors
/// `Unavailable`.
pub async fn list_page(db: &Database, principal: &Principal, query: &ListQuery) -> Result<Vec<IndexItem>> {
    page(db, principal, query, BY_NAME, None).await
}

/// A page in the order of importance, equals by name.
///
/// # Errors
/// `Unavailable`.
pub async fn list_ranked_page(db: &Database, principal: &Principal, query: &ListQuery) -> Result<Vec<IndexItem>> {
    let from = query.after.as_ref().map_or(f32::INFINITY, |p| p.importance);
    page(db, principal, query, BY_IMPORTANCE, Some(from)).await
}

async fn page(
    db: &Database,
    principal: &Principal,
    query: &ListQuery,
    sql: &'static str,
    importance: Option<f32>,
) -> Result<Vec<IndexItem>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let after = query.after.as_ref().map_or("", |p| p.name.as_str());
    let prefix = query.prefix.as_deref().unwrap_or_default();
    // '~' sorts behind every character a name can have, so the prefix is a range of the index.
    let end = format!("{prefix}~");
    let (category, tag) = (&query.category, &query.tag);
    let common: [&(dyn tokio_postgres::types::ToSql + Sync); 8] =
        [&tenant, &user, &after, &end, &prefix, category, tag, &query.limit];
    let rows = match &importance {
        None => read(db, principal, Durability::Full, sql, &common).await?,
        Some(from) => {
            let mut params = common.to_vec();
            params.push(from);
            read(db, principal, Durability::Full, sql, &params).await?
        }
    };
    rows.iter().map(index_row).collect()
}

fn index_row(row: &Row) -> Result<IndexItem> {
    let read = || -> Result<IndexItem, tokio_postgres::Error> {
        let description: String = row.try_get(2)?;
        let (summary, summary_by) = SummaryBy::choose(row.try_get(1)?, row.try_get(11)?, &description);
        Ok(IndexItem {
            name: row.try_get(0)?,
            summary,
            summary_by,
            description,
            category: row.try_get(3)?,
            tags: row.try_get(4)?,
            version: row.try_get(5)?,
            times_used: row.try_get::<_, Option<i64>>(6)?.unwrap_or_default(),
            last_used_at: row.try_get(7)?,
            updated_at: row.try_get(8)?,
            pinned: row.try_get(9)?,
            importance: row.try_get(10)?,
            tainted: row.try_get(12)?,
            score: None,
            reason: None,
        })
    };
    read().map_err(refuse_read)
}
