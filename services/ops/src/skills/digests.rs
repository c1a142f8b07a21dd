//! Lists a user's skills with versions and digests, without texts.

use knowhow_domain::skills::manifest;
use knowhow_domain::{Result, Scope, SkillId, Source};
use knowhow_store::skills::{self, DigestRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::context::page::{self, Page, limit_of, window};

/// Maximum number of items on a page, which is also the default.
const MOST: u32 = 2_000;

/// Selects the skills to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListDigests {
    /// Only skills of this source.
    #[param(inline)]
    pub source: Option<Source>,
    /// Maximum number of items to return; by default 2,000.
    #[param(minimum = 1, maximum = 2000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Skills without their texts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DigestPage {
    /// The tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// The owner of the skills, by external id.
    #[schema(example = "alice")]
    pub user: String,
    /// At most `limit` skills, sorted by name.
    pub items: Vec<ListedDigest>,
    /// Pass it as `cursor` for the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// A skill without its text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ListedDigest {
    /// The skill's id, accepted wherever a name is.
    #[schema(value_type = uuid::Uuid)]
    pub id: SkillId,
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// The current version.
    #[schema(minimum = 1)]
    pub version: i32,
    /// Hex SHA-256 over SKILL.md and resources.
    pub digest: String,
    /// Source of the first version.
    #[schema(example = "sync")]
    pub source: String,
    /// Whether the skill's text comes from a tainted session and no reviewer has approved it.
    pub tainted: bool,
}

/// Lists the user's skills with versions and digests, sorted by name.
///
/// # Errors
/// `Malformed` if the limit or cursor is invalid.
pub async fn list_digests(ctx: &Ctx, query: &ListDigests) -> Result<DigestPage> {
    ctx.principal.require(Scope::SkillsRead)?;
    let limit = limit_of(query.limit.unwrap_or(MOST), MOST)?;
    let after: String = page::after(query.cursor.as_deref())?.unwrap_or_default();
    let source = query.source.map(Source::as_str);
    let rows = skills::list_digests(&ctx.app.db, &ctx.principal, source, window(after.as_str(), limit)).await?;
    let Page { items, next_cursor } = Page::of(rows, limit, |last| last.name.clone())?.map(ListedDigest::of);
    let user = ctx.principal.external_id().unwrap_or_default().to_owned();
    Ok(DigestPage { tenant: ctx.principal.tenant_slug().to_owned(), user, items, next_cursor })
}

impl ListedDigest {
    fn of(row: DigestRow) -> Self {
        let DigestRow { id, name, version, digest, source, tainted } = row;
        Self { id, name, version, digest: manifest::hex(&digest), source: source.as_str().to_owned(), tainted }
    }
}
