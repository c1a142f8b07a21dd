//! Digests: which skills the user has, in which version, and what is in them, without their texts.

use knowhow_domain::{Result, Scope, SkillId, Source, manifest};
use knowhow_store::skills::{self, DigestRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::page::{self, Page, limit_of, window};

/// Most lines of a page, and as many as there are unless another number is asked for.
const MOST: u32 = 2_000;

/// Selects the skills to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListDigests {
    /// First written by them alone.
    #[param(inline)]
    pub source: Option<Source>,
    /// Largest number of items to return; by default 2,000.
    #[param(minimum = 1, maximum = 2000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Skills without their texts.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct DigestPage {
    /// The tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// Whose skills they are, by external id.
    #[schema(example = "alice")]
    pub user: String,
    /// At most `limit` of them, by name.
    pub items: Vec<ListedDigest>,
    /// Give it as `cursor` for the next page; null where this is the last.
    pub next_cursor: Option<String>,
}

/// A skill without its text.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ListedDigest {
    /// Accepted wherever a name is.
    #[schema(value_type = uuid::Uuid)]
    pub id: SkillId,
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// The version that is current.
    #[schema(minimum = 1)]
    pub version: i32,
    /// SHA-256 over SKILL.md and resources, hex.
    pub digest: String,
    /// Who first wrote it.
    #[schema(example = "sync")]
    pub source: String,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub tainted: bool,
}

/// Lists the user's skills by name, without their texts.
///
/// # Errors
/// `Malformed` for a limit or cursor that cannot be.
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
        Self { id, name, version, digest: manifest::hex(&digest), source, tainted }
    }
}
