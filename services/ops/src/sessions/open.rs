//! Opens a session: resumes the session with the same key, or starts a new session with the current snapshot.

use knowhow_domain::sessions::session::MAX_TURNS;
use knowhow_domain::tenants::settings::INDEX_BUDGETS;
use knowhow_domain::{Channel, Error, FieldError, Result, Scope, Session, Tools};
use knowhow_store::Principal;
use knowhow_store::sessions::snapshots::SnapshotKind;
use knowhow_store::sessions::{self, NewSession, Opened, OpenedAs};
use knowhow_telemetry::metrics;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::terms;
use crate::Ctx;
use crate::sessions::conversations::{PreviousSummary, previous_summary};
use crate::sessions::snapshots::{self, SnapshotView};

/// Options of a session. All members are optional.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"key": "+49301234567", "channel": "sms"}))]
pub struct OpenSession {
    /// Identifies a stream of messages, e.g. a telephone number or a thread. Within 6 hours of the last message (the
    /// tenant's `session_gap_minutes`) the same key resumes the same session, with the options that it started with.
    #[schema(min_length = 1, max_length = 255)]
    pub key: Option<String>,
    /// The channel; `sms` by default.
    pub channel: Option<Channel>,
    /// Maximum number of rounds that the agent may use to answer one message; by default the channel's setting. A turn
    /// can override it.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Maximum number of characters in the skill index in the snapshot, rounded down to one of these steps: 200, 500,
    /// 1,000, 2,000, 5,000, 10,000, 16,000, 30,000, 50,000, 100,000 and 200,000.
    #[schema(minimum = 200, maximum = 200_000)]
    pub index_budget: Option<u32>,
    /// Whether each turn includes the body of the best recalled skill, for voice and small models.
    pub inline_top: Option<bool>,
    /// The tools that the agent can call; guidance and turns are adapted to them. By default the tenant's setting for
    /// the channel, else `none`: turns then include the bodies of skills, and no tool is mentioned.
    pub tools: Option<Tools>,
}

/// A session with its snapshot.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OpenedSession {
    /// The session in its current state.
    #[serde(flatten)]
    pub session: Session,
    /// The frozen prompt block; it does not change during the session.
    pub snapshot: SnapshotView,
    /// Summary of the previous session with this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_summary: Option<PreviousSummary>,
    /// Whether an existing session was resumed.
    pub resumed: bool,
    /// States which options of the request were ignored, because the options of a session are fixed with its first
    /// message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Maximum number of attempts while concurrent requests open and close sessions with the same key.
const ROUNDS: usize = 8;

/// Opens a session, or resumes the open session with the same key.
///
/// # Errors
/// `Invalid` if a member is out of bounds; `Quota` if the user's open sessions reach the limit of their number or
/// size.
pub async fn open_session(ctx: &Ctx, input: &OpenSession) -> Result<OpenedSession> {
    open(ctx, input, false).await
}

/// Opens a session. `has_begun` is true if a call already belongs to the session. A new session then starts without a
/// message, and a resumed one keeps its options and snapshot.
pub(super) async fn open(ctx: &Ctx, input: &OpenSession, has_begun: bool) -> Result<OpenedSession> {
    ctx.principal.require(Scope::Sessions)?;
    check(input)?;
    ctx.app.catalogues.prepare(ctx);
    // If the request has no session key, its idempotency key is used, so that a retry finds the same session.
    let key = input.key.as_deref().or(ctx.call.idempotency_key.as_deref());
    let kind = kind(ctx, input);
    let was_full = ctx.app.short_caches.full_users.has(&ctx.principal, ())?;
    let mut snapshot = None;
    for _ in 0..ROUNDS {
        let new = NewSession { snapshot, has_begun, was_full, ..terms_of(ctx, input, key) };
        return match sessions::open(&ctx.app.db, &ctx.principal, &new).await? {
            Some(OpenedAs::GoneOn(open)) => {
                let notices = [terms::notice(input, &open.session), terms::notice_of_key(&open.session)];
                let notices: Vec<String> = notices.into_iter().flatten().collect();
                let notice = (!notices.is_empty()).then(|| notices.join("; "));
                Ok(OpenedSession { notice, ..view(ctx, open, true).await? })
            }
            Some(OpenedAs::Reused(open)) => view(ctx, open, true).await,
            Some(OpenedAs::New(open)) => view(ctx, open, false).await,
            Some(OpenedAs::Full) => {
                // A rejection from the cache does not renew the entry, so the quota is checked again after a second.
                if !was_full {
                    ctx.app.short_caches.full_users.put(&ctx.principal, (), ())?;
                }
                Err(full(&ctx.principal))
            }
            None => {
                snapshot = Some(snapshots::current(ctx, kind).await?.snapshot.id);
                continue;
            }
        };
    }
    Err(Error::Unavailable("concurrent requests open sessions of this key; try again".into()))
}

/// Returns the kind of snapshot that the requested options need.
fn kind(ctx: &Ctx, input: &OpenSession) -> SnapshotKind {
    let channel = input.channel.unwrap_or_default();
    let tools = input.tools.unwrap_or_else(|| ctx.principal.settings().tools(channel));
    snapshots::kind_of(&ctx.principal, input.index_budget, channel, tools)
}

/// Returns the options of a new session: the requested ones, or else the tenant's settings.
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
        // A session ends after the gap of its own channel, not that of the requested channel.
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
        "the user's open conversations reach the tenant's limits of {} conversations and {} MiB; end some, or ask \
            for a larger quota",
        settings.sessions_per_user,
        settings.conversation_bytes_per_user >> 20
    ))
}

/// Replaces the snapshot of the session if content that it may show was tainted later. The frozen text would still
/// present that content as trusted.
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
        notice: terms::notice_of_key(&session),
        session,
        previous_summary,
        resumed,
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
