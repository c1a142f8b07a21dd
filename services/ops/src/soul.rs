//! The soul: the user's overlay of the agent's personality, in every snapshot.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::{Principal, WriteTx, souls};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::page::{Page, PageQuery, rows_for};
use crate::{App, Call};

/// How the user wants the agent to be.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"text": "Be brief. Call me Sam."}))]
pub struct PutSoul {
    /// The whole text; an empty one takes the overlay away.
    #[schema(max_length = 8000)]
    pub text: String,
    /// The version this is based on; 0 where there is none yet.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// A version of the soul.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SoulView {
    /// The text; empty where the user has none.
    pub text: String,
    /// Counts the changes; 0 where there was none yet.
    #[schema(minimum = 0)]
    pub version: i32,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
    /// Whether it was written in a session that had read untrusted content.
    pub tainted: bool,
}

/// Longest soul, characters.
const SOUL_CHARS: usize = 8_000;

impl SoulView {
    fn none() -> Self {
        Self { text: String::new(), version: 0, updated_by: None, updated_at: None, tainted: false }
    }

    fn of(soul: souls::Soul) -> Self {
        Self {
            text: soul.text,
            version: soul.version,
            updated_by: Some(soul.actor),
            updated_at: Some(soul.created_at),
            tainted: soul.tainted,
        }
    }
}

/// The current version.
///
/// # Errors
/// `Unavailable`.
pub async fn get_soul(app: &App, principal: &Principal) -> Result<SoulView> {
    principal.require(Scope::Memories)?;
    let current = souls::list(&app.db, principal, i32::MAX, 1).await?.into_iter().next();
    Ok(current.map_or_else(SoulView::none, SoulView::of))
}

/// The last 100 versions, the newest first.
///
/// # Errors
/// `Malformed` for a limit or cursor that cannot be.
pub async fn list_souls(app: &App, principal: &Principal, query: &PageQuery) -> Result<Page<SoulView>> {
    principal.require(Scope::Memories)?;
    let (limit, before) = (query.limit()?, query.after::<i32>()?.unwrap_or(i32::MAX));
    let rows = souls::list(&app.db, principal, before, rows_for(limit)).await?;
    Page::of(rows, limit, |last| last.version, SoulView::of)
}

/// Writes the soul. The same text again makes no version. Sessions that begin with the next snapshot have it.
///
/// # Errors
/// `Invalid` for the text; `VersionConflict` where `expected_version` is not the current one.
pub async fn put_soul(app: &App, principal: &Principal, call: &Call, input: &PutSoul) -> Result<SoulView> {
    principal.require(Scope::Memories)?;
    call.check()?;
    let length = input.text.chars().count();
    if length > SOUL_CHARS || input.text.contains('\0') {
        let detail = format!("must have at most {SOUL_CHARS} characters and no NUL, has {length}");
        return Err(Error::invalid("/text", detail));
    }
    // The same request brings the same text.
    let shorten = |soul: &mut SoulView| soul.text.clear();
    let restore = async |_: &mut WriteTx, soul: &mut SoulView| {
        soul.text.clone_from(&input.text);
        Ok(())
    };
    let mut tx = WriteTx::begin(&app.db, principal, "soul.put").await?;
    let soul = call
        .once_in_short(app, &mut tx, (&("soul", input), shorten, restore), async |tx| {
            let wanted = (input.text.as_str(), input.expected_version);
            match souls::put(tx, wanted, (call.session.as_deref(), &call.named(None)), app.now()).await? {
                Some(soul) if soul.text == input.text => Ok(SoulView::of(soul)),
                other => Err(Error::VersionConflict { current_version: other.map_or(0, |soul| soul.version) }),
            }
        })
        .await?;
    tx.commit().await?;
    Ok(soul)
}
