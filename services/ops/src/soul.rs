//! The soul: the user's overlay of the agent's personality, in every snapshot.

use knowhow_domain::invisible::shown_otherwise;
use knowhow_domain::{Error, Result, Scope, Soul};
use knowhow_store::souls::{self, NewSoul};
use knowhow_store::{Window, WriteTx};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::once::{Long, Request};
use crate::page::{Page, PageQuery, window};
use crate::review::{Whose, reach_user};

/// How the user wants the agent to be.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutSoul {
    /// The whole text; an empty one takes the overlay away.
    #[schema(max_length = 8000)]
    pub text: String,
    /// The version this is based on; 0 where there is none yet.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// Longest soul, characters.
const SOUL_CHARS: usize = 8_000;

/// The current version.
///
/// # Errors
/// `Unavailable`.
pub async fn get_soul(ctx: &Ctx) -> Result<Soul> {
    ctx.principal.require(Scope::Memories)?;
    let current =
        souls::list(&ctx.app.db, &ctx.principal, Window { behind: i32::MAX, limit: 1 }, None).await?.into_iter().next();
    Ok(current.unwrap_or_default())
}

/// Which versions of the soul to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSouls {
    /// Those that are marked, or the others.
    pub tainted: Option<bool>,
    /// Those of this user, by external id: for admins, who say why in the header `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
    /// The page to read.
    #[serde(skip)]
    #[param(ignore)]
    pub page: PageQuery,
}

/// A version of the soul in a list.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ListedSoul {
    /// The version.
    #[serde(flatten)]
    pub soul: Soul,
    /// The text with invisible characters as their code points, such as `<U+200B>`, for the person who approves it; absent if
    /// there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// The last 100 versions, the newest first: the caller's own, or, for an admin who says why, a user's.
///
/// # Errors
/// As [`list_memories`](crate::memories::list_memories).
pub async fn list_souls(ctx: &Ctx, query: &ListSouls) -> Result<Page<ListedSoul>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<i32>()?.unwrap_or(i32::MAX));
    let whose = Whose { user: query.user.clone(), reason: query.reason.clone() };
    let ctx = &reach_user(ctx, &whose, "soul.read").await?.ctx;
    let rows = souls::list(&ctx.app.db, &ctx.principal, window(before, limit), query.tainted).await?;
    let page = Page::of(rows, limit, |last| last.version)?;
    let shown = |soul: &Soul| shown_otherwise(&soul.text).filter(|_| soul.tainted);
    Ok(page.map(|soul| ListedSoul { shown: shown(&soul), soul }))
}

/// Writes the soul. The same text again makes no version. Sessions that begin with the next snapshot have it.
///
/// # Errors
/// `Invalid` for the text; `VersionConflict` where `expected_version` is not the current one.
pub async fn put_soul(ctx: &Ctx, input: &PutSoul) -> Result<Soul> {
    ctx.principal.require(Scope::Memories)?;
    let length = input.text.chars().count();
    if length > SOUL_CHARS || input.text.contains('\0') {
        let detail = format!("must have at most {SOUL_CHARS} characters and no NUL, has {length}");
        return Err(Error::invalid("/text", detail));
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "souls.put").await?;
    let soul = ctx
        .once_in_short(&mut tx, Request { asked: &("soul", input), long: &input }, async |tx| {
            let (session, named) = (ctx.call.session.as_deref(), ctx.call.named(None));
            let new = NewSoul { text: &input.text, base: input.expected_version, session, named: &named };
            match souls::put(tx, &new, ctx.now()).await? {
                Some(soul) if soul.text == input.text => Ok(soul),
                other => Err(Error::VersionConflict { current_version: other.map_or(0, |soul| soul.version) }),
            }
        })
        .await?;
    tx.commit().await?;
    Ok(soul)
}

/// The same request brings the same text.
impl Long<Soul> for &PutSoul {
    fn shorten(&self, soul: &mut Soul) {
        soul.text.clear();
    }

    async fn restore(&self, _: &mut WriteTx, soul: &mut Soul) -> Result<()> {
        soul.text.clone_from(&self.text);
        Ok(())
    }
}
