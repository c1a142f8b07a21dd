//! The index: one page of a user's skills in one round trip.

use chrono::{DateTime, Utc};
use knowhow_domain::skills::index::SkillUsage;
use knowhow_domain::{IndexItem, MadeBy, Result, SkillId, SummaryBy};
use uuid::Uuid;

use super::discovery_of;
use crate::vault::enum_text::Word;
use crate::vault::statement::{Accepts, Columns, Reader};
use crate::vault::value::uuids;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// Filter and start position of a page.
#[derive(Debug, Clone, Default)]
pub struct SkillListQuery {
    /// Prefix of the names; `None` for all skills.
    pub prefix: Option<String>,
    pub category: Option<String>,
    pub tag: Option<String>,
    /// Last name of the previous page; `None` for the first page.
    pub after: Option<String>,
    pub limit: i64,
}

row! {
    struct ItemRow {
        name: String, summary: Option<String>, made_summary: Option<String>, description: String,
        category: Option<String>, tags: Vec<String>, version: i32, times_used: i64,
        last_used_at: Option<DateTime<Utc>>, updated_at: DateTime<Utc>, pinned: bool, importance: f32, tainted: bool,
        made_description: Option<String>, made_triggers: Vec<String>, made_by: Option<Word<MadeBy>>,
    }
}

impl Columns for IndexItem {
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>) {
        ItemRow::add_to(columns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let row = ItemRow::read(reader)?;
        let (summary, summary_by) = SummaryBy::choose(row.summary, row.made_summary, &row.description);
        Ok(Self {
            name: row.name,
            summary,
            summary_by,
            description: row.description,
            category: row.category,
            tags: row.tags,
            version: row.version,
            times_used: row.times_used,
            last_used_at: row.last_used_at,
            updated_at: row.updated_at,
            pinned: row.pinned,
            importance: row.importance,
            tainted: row.tainted,
            discovery: discovery_of(row.made_description, row.made_triggers, row.made_by),
            score: None,
            excluded: None,
            reason: None,
        })
    }
}

row! { struct PlaceRow { skill_id: Uuid, revision: i64, skill_count: i32 } }

/// Revision and size of a user's catalogue at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// The user's revision; 0 if the statement found no rows.
    pub revision: i64,
    /// Number of the user's skills.
    pub skill_count: i32,
}

/// Index rows at one state of the catalogue.
#[derive(Debug, Clone, Default)]
pub struct ListedRows {
    pub moment: Moment,
    /// Rows with the ids of their skills.
    pub rows: Vec<(SkillId, IndexItem)>,
}

impl ListedRows {
    fn of(rows: Vec<(IndexItem, PlaceRow)>) -> Self {
        let moment_of = |place: &PlaceRow| Moment { revision: place.revision, skill_count: place.skill_count };
        let moment = rows.first().map(|(_, place)| moment_of(place)).unwrap_or_default();
        Self { moment, rows: rows.into_iter().map(|(item, place)| (SkillId(place.skill_id), item)).collect() }
    }
}

// The usage of all skills of a page is read in one subquery. If it were joined row by row, the policies would be
// checked for each row.
//
// `used` is a subset of `page`, so the full join equals a left join. Postgres estimates one row for both and would
// use a nested loop; a full join forces a hash join.
statement! {
    read ListPage<'a> {
        after: &'a str, end: String, prefix: &'a str, category: Option<&'a str>, tag: Option<&'a str>, limit: i64,
    } -> (IndexItem, PlaceRow),
    "-- skills.list_page
    with page as materialized (
        (select s.skill_id, s.name, coalesce(s.summary, t.summary) as summary,
                coalesce(s.description, t.description) as description, coalesce(s.category, t.category) as category,
                coalesce(s.tags, t.tags) as tags, s.version, s.updated_at, s.pinned, s.importance, s.made_summary, s.tainted,
               s.made_description, s.made_triggers, s.made_by
         from skills s
         left join starter_texts t on t.starter_id = s.starter_id
         where s.tenant_id = $1 and s.user_id = $2 and s.name > $3 and s.name < $4 and s.name >= $5
           and ($6::text is null or coalesce(s.category, t.category) = $6)
           and ($7::text is null or $7 = any (coalesce(s.tags, t.tags)))
         order by s.name
         limit $8)
        union all
        select l.skill_id, l.name, l.summary, l.description, l.category, l.tags, l.version, l.updated_at, l.pinned,
               l.importance, l.made_summary, l.tainted,
               l.made_description, l.made_triggers, l.made_by
        from skill_states l
        where l.tenant_id = $1 and l.user_id = $2 and l.lent and l.name > $3 and l.name < $4 and l.name >= $5
          and ($6::text is null or l.category = $6) and ($7::text is null or $7 = any (l.tags))
        order by name
        limit $8
    ), used as materialized (
        select u.skill_id, u.times_used, u.last_used_at from skill_usage u
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = any (array(select skill_id from page))
    )
    select p.name, p.summary, p.description, p.category, p.tags, p.version,
           coalesce(u.times_used, 0) as times_used, u.last_used_at, p.updated_at, p.pinned, p.importance, p.made_summary, p.tainted,
           p.made_description, p.made_triggers, p.made_by, p.skill_id,
           c.revision, c.skill_count
    from page p full join used u on u.skill_id = p.skill_id
    cross join (select k.revision, k.skill_count from user_catalogs k where k.tenant_id = $1 and k.user_id = $2) c
    order by p.name"
}

statement! {
    read ListRows { skills: Vec<Uuid> } -> (IndexItem, PlaceRow),
    "-- skills.list_rows
    select s.name, s.summary, s.description, s.category, s.tags, s.version, coalesce(u.times_used, 0) as times_used, u.last_used_at, s.updated_at,
           s.pinned, s.importance, s.made_summary, s.tainted, s.made_description, s.made_triggers, s.made_by, s.skill_id, c.revision, c.skill_count
    from skill_states s
    cross join (select k.revision, k.skill_count from user_catalogs k where k.tenant_id = $1 and k.user_id = $2) c
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)"
}

row! { struct IndexNameRow { name: String } }

statement! {
    read ListIndex {} -> (IndexNameRow, PromptColumns),
    "-- skills.list_index
    select s.name, s.summary, s.made_summary, s.description, s.importance, s.pinned, coalesce(g.times_used, 0) as times_used,
           greatest(g.last_used_at, s.updated_at) as active_at, s.tainted
    from skill_states s
    left join skill_usage g on g.tenant_id = $1 and g.user_id = $2 and g.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2
      and coalesce(s.attributes -> 'disable_model_invocation', s.frontmatter -> 'disable-model-invocation')
          is distinct from 'true'
    order by s.name"
}

/// A skill in the index of a prompt.
#[derive(Debug, Clone)]
pub struct PromptRow {
    /// Full name of the skill, with its namespaces.
    pub name: String,
    /// The author's summary, if there is one.
    pub summary: Option<String>,
    /// The generated summary, if there is one.
    pub made_summary: Option<String>,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// Data for ranking the skill.
    pub usage: SkillUsage,
    /// Whether a part of the skill's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
}

row! {
    struct PromptColumns {
        description: String, summary: Option<String>, made_summary: Option<String>, importance: f32, pinned: bool,
        times_used: i64, active_at: DateTime<Utc>, tainted: bool,
    }
}

impl PromptColumns {
    pub(crate) fn named(self, name: String) -> PromptRow {
        let Self { description, summary, made_summary, importance, pinned, times_used, active_at, tainted } = self;
        let usage = SkillUsage { importance, pinned, times_used, active_at };
        PromptRow { name, summary, made_summary, description, usage, tainted }
    }
}

/// Lists the user's skills by name. Leaves out skills that recall finds only by name, because a model must not choose
/// them itself.
pub async fn list_index(db: &Database, principal: &Principal) -> Result<Vec<PromptRow>> {
    let rows = read(db, principal, ListIndex {}).await?;
    Ok(rows.into_iter().map(|(IndexNameRow { name }, columns)| columns.named(name)).collect())
}

/// Reads the index rows of skills by their ids, unordered. Missing skills are skipped.
pub async fn list_rows(db: &Database, principal: &Principal, skills: &[SkillId]) -> Result<ListedRows> {
    Ok(ListedRows::of(read(db, principal, ListRows { skills: uuids(skills.iter().copied()) }).await?))
}

/// Lists a page of skills ordered by name.
pub async fn list_page(db: &Database, principal: &Principal, query: &SkillListQuery) -> Result<ListedRows> {
    let (category, tag, limit) = (query.category.as_deref(), query.tag.as_deref(), query.limit);
    let page = ListPage { after: query.after(), end: query.end(), prefix: query.prefix(), category, tag, limit };
    Ok(ListedRows::of(read(db, principal, page).await?))
}

impl SkillListQuery {
    fn after(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    fn prefix(&self) -> &str {
        self.prefix.as_deref().unwrap_or_default()
    }

    /// Returns an upper bound on the names with the prefix. '~' sorts after every character allowed in names.
    fn end(&self) -> String {
        format!("{}~", self.prefix())
    }
}
