//! Frozen snapshots: given to sessions that begin, rendered anew when none is young enough.

mod known;

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use knowhow_domain::index::{IndexLine, rank_skills, step_below};
use knowhow_domain::prompt::{ConversationLine, Rendered, SnapshotParts, estimate_tokens, render_snapshot};
use knowhow_domain::{Channel, Error, Form, Result, Scope, SnapshotId, Tools, manifest};
use knowhow_store::Principal;
use knowhow_store::skills::PromptRow;
use knowhow_store::snapshots::{self, CurrentSnapshot, NewSnapshot, Parts, Snapshot, SnapshotKind};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

pub use self::known::{KnownSnapshots, find_known};
use crate::dear::{self, Line, Turn};
use crate::{Ctx, compute};

/// A frozen prompt block.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SnapshotView {
    /// The snapshot's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: SnapshotId,
    /// SHA-256 of `text`, hex. Rendered anew with the same text, it keeps its id.
    pub sha256: String,
    /// When these bytes were first rendered.
    pub created_at: DateTime<Utc>,
    /// From then on at the latest, sessions that begin are given one that was rendered later.
    pub expires_at: DateTime<Utc>,
    /// About how many tokens `text` is to a model.
    pub tokens: usize,
    /// Skills that the index left out because they did not fit; its last line says the same.
    pub omitted: u32,
    /// Skills whose summary was shortened or left out.
    pub shortened: u32,
    /// The block to put into the prompt as is.
    pub text: String,
}

/// The current snapshot, and what it does not know yet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CurrentView {
    /// The snapshot that sessions begin with now.
    #[serde(flatten)]
    pub snapshot: SnapshotView,
    /// Skills saved since it was rendered, by name, at most 200: they can be loaded and are recalled already.
    pub stale_skills: Vec<String>,
}

/// For which agent a snapshot is.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ForTools {
    /// What the agent can call: `full`, `read` or `none`, as when a session is opened.
    pub tools: Option<Tools>,
}

/// What of the index had no room.
#[derive(Serialize, Deserialize)]
pub(crate) struct Omitted {
    omitted: u32,
    /// Also those that are shown by name alone.
    shortened: u32,
    /// Those that are shown by name alone.
    #[serde(default)]
    bare: u32,
}

impl Omitted {
    /// Whether the index says of every skill what it does.
    pub(crate) fn is_nothing(&self) -> bool {
        self.omitted + self.bare == 0
    }
}

impl SnapshotView {
    /// A snapshot that expires then.
    pub(crate) fn of(snapshot: Snapshot, expires_at: DateTime<Utc>) -> Result<Self> {
        let Omitted { omitted, shortened, .. } = serde_json::from_value(snapshot.omitted).map_err(Error::internal)?;
        Ok(Self {
            id: snapshot.id,
            sha256: manifest::hex(&snapshot.sha256),
            created_at: snapshot.created_at,
            expires_at,
            tokens: estimate_tokens(&snapshot.text),
            omitted,
            shortened,
            text: snapshot.text,
        })
    }
}

/// The user's current snapshot; one is rendered where there is none, or it is too old, or something that it may show
/// was taken away.
///
/// # Errors
/// `Unavailable`.
pub async fn get_snapshot(ctx: &Ctx, agent: &ForTools) -> Result<CurrentView> {
    ctx.principal.require(Scope::Sessions)?;
    let tools = agent.tools.unwrap_or_default();
    let current = current(ctx, usual_kind(&ctx.principal, tools)).await?;
    view(ctx, tools, current)
}

/// Renders the snapshot anew, now.
///
/// # Errors
/// `Unavailable`.
pub async fn refresh_snapshot(ctx: &Ctx, agent: &ForTools) -> Result<CurrentView> {
    ctx.principal.require(Scope::Sessions)?;
    let tools = agent.tools.unwrap_or_default();
    let current = render(ctx, usual_kind(&ctx.principal, tools), Cause::Refresh).await?;
    view(ctx, tools, current)
}

/// The kind of snapshot for callers without a session.
fn usual_kind(principal: &Principal, tools: Tools) -> SnapshotKind {
    let index_budget = i32::try_from(principal.settings().index_budget).unwrap_or(i32::MAX);
    SnapshotKind { index_budget, form: Form::of(tools, Channel::Chat) }
}

/// The snapshot of a session: with as long an index as the caller asks for, in steps, or as the tenant has settled for the channel.
pub(crate) fn kind_of(principal: &Principal, asked: Option<u32>, channel: Channel, tools: Tools) -> SnapshotKind {
    let budget = asked.map_or_else(|| principal.settings().index_budget(channel), step_below);
    SnapshotKind { index_budget: i32::try_from(budget).unwrap_or(i32::MAX), form: Form::of(tools, channel) }
}

/// The snapshot for sessions that begin now.
pub(crate) async fn current(ctx: &Ctx, kind: SnapshotKind) -> Result<CurrentSnapshot> {
    match find_young(ctx, kind).await? {
        Some(current) => Ok(current),
        None => render(ctx, kind, Cause::Session).await,
    }
}

/// The current snapshot, unless it is too old or shows what was taken away.
async fn find_young(ctx: &Ctx, kind: SnapshotKind) -> Result<Option<CurrentSnapshot>> {
    let now = ctx.now();
    let found = snapshots::find_current(&ctx.app.db, &ctx.principal, kind, now).await?;
    Ok(found.filter(|current| current.is_whole && now < current.rendered_at + ctx.app.snapshot_lifetime))
}

/// Snapshots that a process renders at once.
const AT_ONCE: usize = 8;
/// How many of them are of one tenant. Its users begin their day together.
const OF_TENANT: usize = 4;
/// Most skills that are printed on threads as urgent as those of requests: that takes about a millisecond.
const FEW: usize = 200;

static LINE: LazyLock<Line> =
    LazyLock::new(|| Line::shared("snapshots and indexes of this tenant", AT_ONCE, OF_TENANT));

/// Why a snapshot is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A session begins, or somebody reads it.
    Session,
    /// Somebody wants what is true now, whatever the budget of the sessions to come.
    Refresh,
    /// It is about to expire.
    Age,
}

/// Renders from one consistent read, and keeps it. One of a user's at a time: sessions that begin at once share one.
pub(crate) async fn render(ctx: &Ctx, kind: SnapshotKind, cause: Cause) -> Result<CurrentSnapshot> {
    let turn = take_turn(ctx).await?;
    if turn.has_waited
        && cause == Cause::Session
        && let Some(current) = find_young(ctx, kind).await?
    {
        return Ok(current);
    }
    let now = ctx.now();
    let parts = snapshots::read_parts(&ctx.app.db, &ctx.principal).await?;
    let (revision, skills) = (parts.revision, parts.skills.len());
    let rendered = print_beside(skills, move || print(&parts, kind)).await?;
    let index = &rendered.index;
    let omitted = json!({"omitted": index.omitted, "shortened": index.shortened + index.bare, "bare": index.bare});
    let sha256 = manifest::digest(rendered.text.as_bytes());
    let (is_asked, is_alone) = (cause != Cause::Age, cause == Cause::Refresh);
    let new = NewSnapshot { sha256, text: &rendered.text, omitted: &omitted, revision, now, is_asked, is_alone };
    let snapshot = snapshots::put(&ctx.app.db, &ctx.principal, kind, &new).await?;
    let snapshot = snapshot.ok_or_else(|| Error::internal("a snapshot was rendered and not kept"))?;
    Ok(CurrentSnapshot { snapshot, rendered_at: now, is_whole: true, stale: Vec::new() })
}

/// A turn to read a user's skills and to print them: one of the user's at a time.
pub(crate) async fn take_turn(ctx: &Ctx) -> Result<Turn> {
    LINE.turn(&ctx.principal).await
}

/// Prints an index of so many skills beside the threads that answer requests.
pub(crate) async fn print_beside<T: Send + 'static>(
    skills: usize,
    print: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let print = move || Ok(print());
    if skills > FEW { dear::compute(print).await } else { compute(print).await }
}

/// The lines of an index.
pub(crate) fn index_lines(skills: &[PromptRow]) -> Vec<IndexLine<'_>> {
    let standings: Vec<_> = skills.iter().map(|skill| skill.standing).collect();
    let ranked = skills.iter().zip(rank_skills(&standings));
    ranked
        .map(|(skill, rank)| IndexLine {
            name: &skill.name,
            summary: skill.summary.as_deref(),
            made_summary: skill.made_summary.as_deref(),
            description: &skill.description,
            rank,
            is_tainted: skill.tainted,
        })
        .collect()
}

fn print(parts: &Parts, kind: SnapshotKind) -> Rendered {
    let conversations = parts.conversations.iter().rev();
    let parts = SnapshotParts {
        soul: parts.soul.as_deref(),
        skills: index_lines(&parts.skills),
        memories: parts.memories.iter().map(String::as_str).collect(),
        conversations: conversations
            .map(|(title, ended)| ConversationLine { day: ended.date_naive(), title })
            .collect(),
    };
    render_snapshot(&parts, usize::try_from(kind.index_budget).unwrap_or_default(), kind.form)
}

fn view(ctx: &Ctx, tools: Tools, current: CurrentSnapshot) -> Result<CurrentView> {
    let snapshot = SnapshotView::of(current.snapshot, current.rendered_at + ctx.app.snapshot_lifetime)?;
    ctx.app.snapshots.note(&ctx.principal, tools, &snapshot)?;
    Ok(CurrentView { snapshot, stale_skills: current.stale })
}
