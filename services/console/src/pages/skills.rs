//! The list of skills: filtered and paged by the address.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::{Error, IndexItem, Result};
use knowhow_ops::SkillPage;
use knowhow_ops::context::page::Page;
use knowhow_ops::skills::{self, ListSkills};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::Visit;

/// Filters in the address.
#[derive(Default, Deserialize)]
pub struct SkillFilters {
    q: Option<String>,
    tag: Option<String>,
    category: Option<String>,
    order: Option<String>,
    cursor: Option<String>,
}

impl SkillFilters {
    /// Returns the filters that are set. A form sends an empty field as an empty text.
    fn given(self) -> Self {
        let given = |text: Option<String>| text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Self {
            q: given(self.q),
            tag: given(self.tag),
            category: given(self.category),
            order: given(self.order),
            cursor: self.cursor,
        }
    }

    fn is_ranked(&self) -> bool {
        self.order.as_deref() == Some("importance") && self.q.is_none()
    }

    fn api_path(&self) -> String {
        let query = [
            ("q", self.q.as_deref()),
            ("tag", self.tag.as_deref()),
            ("category", self.category.as_deref()),
            ("ranked", self.is_ranked().then_some("true")),
            ("cursor", self.cursor.as_deref()),
        ];
        format!("/v1/skills{}", link::query(&query))
    }

    fn page_path(&self, cursor: Option<&str>) -> String {
        let query = [
            ("q", self.q.as_deref()),
            ("tag", self.tag.as_deref()),
            ("category", self.category.as_deref()),
            ("order", self.order.as_deref()),
            ("cursor", cursor),
        ];
        format!("/console/skills{}", link::query(&query))
    }
}

/// A skill in a list.
pub struct SkillRow {
    pub name: Line,
    pub path: String,
    pub summary: Line,
    pub category: Option<Line>,
    pub tags: Vec<Line>,
    pub version: i32,
    pub times_used: i64,
    pub used: Option<When>,
    pub updated: When,
    pub pinned: bool,
    pub tainted: bool,
    /// Reason of a search for finding the skill.
    pub reason: Option<Line>,
}

impl SkillRow {
    fn of(visit: &Visit, item: IndexItem) -> Self {
        Self {
            path: link::skill(&item.name),
            name: item.name.into(),
            summary: item.summary.into(),
            category: item.category.map(Line),
            tags: item.tags.into_iter().map(Line).collect(),
            version: item.version,
            times_used: item.times_used,
            used: item.last_used_at.map(|at| visit.when(at)),
            updated: visit.when(item.updated_at),
            pinned: item.pinned,
            tainted: item.tainted,
            reason: item.reason.map(Line),
        }
    }
}

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsPage {
    layout: Layout,
    rows: Vec<SkillRow>,
    q: String,
    tag: String,
    category: String,
    is_ranked: bool,
    is_filtered: bool,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Returns the rows of a page of the index.
pub fn rows_of(visit: &Visit, found: &SkillPage) -> Result<Page<SkillRow>> {
    let found: Page<IndexItem> = serde_json::from_slice(&found.to_json()?).map_err(Error::internal)?;
    Ok(found.map(|item| SkillRow::of(visit, item)))
}

/// Lists skills.
pub async fn list(visit: Visit, query: Query<SkillFilters>) -> Result<HttpResponse, Failure> {
    let filters = query.into_inner().given();
    let query = ListSkills {
        q: filters.q.clone(),
        tag: filters.tag.clone(),
        category: filters.category.clone(),
        ranked: filters.is_ranked().then_some(true),
        cursor: filters.cursor.clone(),
        ..ListSkills::default()
    };
    let found = rows_of(&visit, &skills::list_skills(&visit.ctx, &query).await?)?;
    let layout = Layout::new(&visit, Section::Skills, "Skills").with_calls(&visit, [ApiCall::get(filters.api_path())]);
    page(&SkillsPage {
        layout,
        is_ranked: filters.is_ranked(),
        is_filtered: filters.q.is_some() || filters.tag.is_some() || filters.category.is_some(),
        is_first: filters.cursor.is_none(),
        first: filters.page_path(None),
        next: found.next_cursor.as_deref().map(|cursor| filters.page_path(Some(cursor))),
        rows: found.items,
        q: filters.q.unwrap_or_default(),
        tag: filters.tag.unwrap_or_default(),
        category: filters.category.unwrap_or_default(),
    })
}
