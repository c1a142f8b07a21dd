//! Open: the conversation of a key goes on, or a new one begins with the current snapshot.

use knowhow_domain::session::MAX_TURNS;
use knowhow_domain::settings::INDEX_BUDGETS;
use knowhow_domain::{Channel, Error, FieldError, Result, Scope, Session, Tools};
use knowhow_store::Principal;
use knowhow_store::sessions::{self, NewSession, Opened, OpenedAs};
use knowhow_store::snapshots::SnapshotKind;
use knowhow_telemetry::metrics;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::terms;
use crate::Ctx;
use crate::conversations::{PreviousSummary, previous_summary};
use crate::snapshots::{self, SnapshotView};

/// How to open a session. All members may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"key": "+49301234567", "channel": "sms"}))]
pub struct OpenSession {
    /// Names the stream of messages it belongs to, such as a telephone number or a thread: within 6 hours of the last
    /// message (the tenant's `session_gap_minutes`) the same key goes on with the same session, on the terms it began with.
    #[schema(min_length = 1, max_length = 255)]
    pub key: Option<String>,
    /// How it is held; `sms` by default.
    pub channel: Option<Channel>,
    /// Rounds that the agent may take to answer one message; by default the channel's. A turn may override it.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Characters of the skill index in its snapshot, rounded down to one of 200, 500, 1,000, 2,000, 5,000, 10,000, 16,000,
    /// 30,000, 50,000, 100,000 and 200,000.
    #[schema(minimum = 200, maximum = 200_000)]
    pub index_budget: Option<u32>,
    /// Whether each turn brings the body of the best recalled skill along, for voice and small models.
    pub inline_top: Option<bool>,
    /// What its agent can call; guidance and turns speak accordingly. By default the channel's of the tenant's settings, else
    /// `none`: the bodies of skills then come along, and no tool is named.
    pub tools: Option<Tools>,
}

/// A session with what it begins with.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OpenedSession {
    /// The session as it is now.
    #[serde(flatten)]
    pub session: Session,
    /// The frozen prompt block; the same for as long as the session lasts.
    pub snapshot: SnapshotView,
    /// What the conversation before under this key came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_summary: Option<PreviousSummary>,
    /// Whether the session had been opened before.
    pub resumed: bool,
    /// What the request asked for and did not get: the terms of a session are fixed with its first message, and one that
    /// is resumed keeps them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Rounds, where other requests open and close sessions of the same key.
const ROUNDS: usize = 8;

/// Opens a session, or goes on with the one of its key.
///
/// # Errors
/// `Invalid` for a member out of its bounds; `Quota` where the user's open sessions are as many, or as large, as can be.
pub async fn open_session(ctx: &Ctx, input: &OpenSession) -> Result<OpenedSession> {
    open(ctx, input, false).await
}

/// The same. With `has_begun` a call comes from the session already: it begins without a message, and one that is open
/// keeps its terms and its snapshot.
pub(super) async fn open(ctx: &Ctx, input: &OpenSession, has_begun: bool) -> Result<OpenedSession> {
    ctx.principal.require(Scope::Sessions)?;
    check(input)?;
    ctx.app.catalogues.prepare(ctx);
    // A repeated request without a key of its own means the same session.
    let key = input.key.as_deref().or(ctx.call.idempotency_key.as_deref());
    let kind = kind(ctx, input);
    let was_full = ctx.app.full_users.has(&ctx.principal)?;
    let mut snapshot = None;
    for _ in 0..ROUNDS {
        let new = NewSession { snapshot, has_begun, was_full, ..terms_of(ctx, input, key) };
        return match sessions::open(&ctx.app.db, &ctx.principal, &new).await? {
            Some(OpenedAs::GoneOn(open)) => {
                let notice = terms::notice(input, &open.session);
                Ok(OpenedSession { notice, ..view(ctx, open, true).await? })
            }
            Some(OpenedAs::Reused(open)) => view(ctx, open, true).await,
            Some(OpenedAs::New(open)) => view(ctx, open, false).await,
            Some(OpenedAs::Full) => {
                // Not again by who was believed to be: they are counted once a second.
                if !was_full {
                    ctx.app.full_users.note(&ctx.principal)?;
                }
                Err(full(&ctx.principal))
            }
            None => {
                snapshot = Some(snapshots::current(ctx, kind).await?.snapshot.id);
                continue;
            }
        };
    }
    Err(Error::Unavailable("other requests open sessions of this key; try again".into()))
}

/// Which snapshot it begins with.
fn kind(ctx: &Ctx, input: &OpenSession) -> SnapshotKind {
    let channel = input.channel.unwrap_or_default();
    let tools = input.tools.unwrap_or_else(|| ctx.principal.settings().tools(channel));
    snapshots::kind_of(&ctx.principal, input.index_budget, channel, tools)
}

/// The terms of a session that begins now.
fn terms_of<'a>(ctx: &Ctx, input: &OpenSession, key: Option<&'a str>) -> NewSession<'a> {
    let (now, settings, kind) = (ctx.now(), ctx.principal.settings(), kind(ctx, input));
    let channel = input.channel.unwrap_or_default();
    let max_turns = input.max_turns.unwrap_or_else(|| settings.max_turns(channel));
    let bytes = i64::try_from(settings.conversation_bytes_per_user).unwrap_or(i64::MAX);
    NewSession {
        key,
        channel,
        max_turns: i32::try_from(max_turns).unwrap_or(i32::MAX),
        index_budget: kind.index_budget,
        inline_top: input.inline_top.unwrap_or_default(),
        tools: input.tools.unwrap_or_else(|| settings.tools(channel)),
        form: kind.form,
        snapshot: None,
        rendered_since: now - ctx.app.snapshot_lifetime,
        // The gap of the channel on which the open session is held decides, not that of the channel asked for.
        silent_since: Channel::ALL.map(|channel| (channel, now - settings.conversation_gap(channel))),
        now,
        bounds: (settings.sessions_per_user.into(), bytes),
        has_begun: false,
        was_full: false,
    }
}

fn full(principal: &Principal) -> Error {
    let settings = principal.settings();
    Error::Quota(format!(
        "the user's open conversations take up all that the tenant allows, {} of them and {} MiB together; end some, or ask for \
         a larger quota",
        settings.sessions_per_user,
        settings.conversation_bytes_per_user >> 20
    ))
}

/// Gives the session a new snapshot if something that its own may show was marked as untrusted since. Otherwise the
/// frozen text would go on presenting it as trusted.
pub(super) async fn fresh_snapshot(ctx: &Ctx, opened: &mut Opened) -> Result<()> {
    if !opened.is_marked_since {
        return Ok(());
    }
    let session = &opened.session;
    let kind =
        snapshots::kind_of(&ctx.principal, u32::try_from(session.index_budget).ok(), session.channel, session.tools);
    let current = snapshots::current(ctx, kind).await?.snapshot;
    if current.id != opened.snapshot.id {
        sessions::replace_snapshot(&ctx.app.db, &ctx.principal, session.id, current.id).await?;
        opened.snapshot = current;
    }
    Ok(())
}

pub(super) async fn view(ctx: &Ctx, mut opened: Opened, resumed: bool) -> Result<OpenedSession> {
    if let Some(rendered_at) = opened.rendered_at {
        metrics::snapshot_given((ctx.now() - rendered_at).to_std().unwrap_or_default());
    }
    fresh_snapshot(ctx, &mut opened).await?;
    let previous_summary = previous_summary(ctx, &mut opened).await?;
    let Opened { session, snapshot, .. } = opened;
    let expires_at = session.started_at + ctx.app.snapshot_lifetime;
    Ok(OpenedSession {
        snapshot: SnapshotView::of(snapshot, expires_at)?,
        session,
        previous_summary,
        resumed,
        notice: None,
    })
}

fn check(input: &OpenSession) -> Result<()> {
    let mut findings = Vec::new();
    if let Some(key) = &input.key {
        let length = key.chars().count();
        if length == 0 || length > 255 || key.chars().any(char::is_control) || key.trim() != key {
            let detail = "must have 1 to 255 characters, no control characters and no blanks around it";
            findings.push(FieldError::new("/key", detail));
        }
    }
    let bounds = [("/max_turns", input.max_turns, 1..=MAX_TURNS), ("/index_budget", input.index_budget, INDEX_BUDGETS)];
    for (pointer, value, bounds) in bounds {
        if let Some(value) = value.filter(|value| !bounds.contains(value)) {
            let detail = format!("must be {} to {}, is {value}", bounds.start(), bounds.end());
            findings.push(FieldError::new(pointer, detail));
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}
