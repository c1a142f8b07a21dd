//! Operations on the soul: the user's wishes about the agent's personality, which every snapshot contains.

use knowhow_domain::text::invisible::shown_otherwise;
use knowhow_domain::{Error, Result, Scope, Soul};
use knowhow_store::sessions::souls::{self, NewSoul};
use knowhow_store::{Window, WriteTx};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::change::scan::is_doubtful;
use crate::context::idempotency::{LongText, Request};
use crate::context::page::{Page, PageQuery, window};
use crate::review::{Whose, access_user};

/// The user's wishes about the agent's personality.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutSoul {
    /// The whole text. An empty text removes the soul.
    #[schema(max_length = 8000)]
    pub text: String,
    /// The version that this text is based on; 0 for the first text.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// Maximum number of characters in a soul.
const SOUL_CHARS: usize = 8_000;

/// Returns the current version of the soul, or the default if the user has not written a soul.
pub async fn get_soul(ctx: &Ctx) -> Result<Soul> {
    ctx.principal.require(Scope::Memories)?;
    let current =
        souls::list(&ctx.app.db, &ctx.principal, Window { behind: i32::MAX, limit: 1 }, None).await?.into_iter().next();
    Ok(current.unwrap_or_default())
}

/// Filters for a list of versions.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSouls {
    /// Only tainted versions (`true`), or only untainted ones (`false`).
    pub tainted: Option<bool>,
    /// Return the versions of this user, by external id. Only for admins, with a reason in the header
    /// `Knowhow-Reason`.
    #[param(max_length = 255)]
    pub user: Option<String>,
    /// The header `Knowhow-Reason` of an admin.
    #[serde(skip)]
    #[param(ignore)]
    pub reason: Option<String>,
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
    /// The text with invisible characters written as code points, e.g. `<U+200B>`, for the reviewer; absent without
    /// such characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// Lists versions of the soul, newest first: the caller's own or, for an admin with a reason, a user's.
pub async fn list_souls(ctx: &Ctx, query: &ListSouls) -> Result<Page<ListedSoul>> {
    ctx.principal.require(Scope::Memories)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<i32>()?.unwrap_or(i32::MAX));
    let whose = Whose { user: query.user.clone(), reason: query.reason.clone() };
    let ctx = &access_user(ctx, &whose, "soul.read").await?.ctx;
    let rows = souls::list(&ctx.app.db, &ctx.principal, window(before, limit), query.tainted).await?;
    let page = Page::of(rows, limit, |last| last.version)?;
    let shown = |soul: &Soul| shown_otherwise(&soul.text).filter(|_| soul.tainted);
    Ok(page.map(|soul| ListedSoul { shown: shown(&soul), soul }))
}

/// Writes the soul. An unchanged text creates no version. New sessions receive the text with the next snapshot.
///
/// # Errors
/// `Invalid` if the text is invalid; `VersionConflict` if `expected_version` is not the current version.
pub async fn put_soul(ctx: &Ctx, input: &PutSoul) -> Result<Soul> {
    ctx.principal.require(Scope::Memories)?;
    let length = input.text.chars().count();
    if length > SOUL_CHARS || input.text.contains('\0') {
        let detail = format!("must have at most {SOUL_CHARS} characters and no NUL, has {length}");
        return Err(Error::invalid("/text", detail));
    }
    let is_doubtful = is_doubtful(ctx, &input.text).await;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "souls.put").await?;
    let soul = ctx
        .once_in_short(&mut tx, Request { asked: &("soul", input), long: &input }, async |tx| {
            let (session, named) = (ctx.call.session.as_deref(), ctx.call.named(None));
            let (text, base) = (input.text.as_str(), input.expected_version);
            let new = NewSoul { text, base, session, named: &named, is_doubtful };
            match souls::put(tx, &new, ctx.now()).await? {
                Some(soul) if soul.text == input.text => Ok(soul),
                other => Err(Error::VersionConflict { current_version: other.map_or(0, |soul| soul.version) }),
            }
        })
        .await?;
    tx.commit().await?;
    Ok(soul)
}

/// The text is not stored with the answer, because a repeated request contains it.
impl LongText<Soul> for &PutSoul {
    fn shorten(&self, soul: &mut Soul) {
        soul.text.clear();
    }

    async fn restore(&self, _: &mut WriteTx, soul: &mut Soul) -> Result<()> {
        soul.text.clone_from(&self.text);
        Ok(())
    }
}
