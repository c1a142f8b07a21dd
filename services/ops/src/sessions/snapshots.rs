//! Renders and caches frozen snapshots. A new session receives the current snapshot; one that is too old is rendered
//! again.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use knowhow_domain::sessions::prompt::{ConversationLine, Rendered, SnapshotParts, estimate_tokens, render_snapshot};
use knowhow_domain::skills::index::{IndexLine, rank_skills, step_below};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Channel, Error, Result, Scope, SnapshotForm, SnapshotId, Tools, new_id};
use knowhow_store::Principal;
use knowhow_store::sessions::snapshots::{self, CurrentSnapshot, NewSnapshot, Parts, Snapshot, SnapshotKind};
use knowhow_store::skills::PromptRow;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::platform::admission::{self, Turn};
use crate::{Ctx, compute};

/// A frozen block of the agent's prompt.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SnapshotView {
    /// The snapshot's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: SnapshotId,
    /// Hex SHA-256 of `text`. If a new rendering has the same text, the id stays the same.
    pub sha256: String,
    /// Time at which this text was first rendered.
    pub created_at: DateTime<Utc>,
    /// Time after which new sessions receive a newer snapshot.
    pub expires_at: DateTime<Utc>,
    /// Approximate number of tokens in `text`.
    pub tokens: usize,
    /// Number of skills that did not fit into the index. The last line of the index states this number too.
    pub omitted: u32,
    /// Number of skills with a shortened or omitted summary.
    pub shortened: u32,
    /// The block to insert into the prompt unchanged.
    pub text: String,
}

/// The current snapshot, and the skills that were saved later.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CurrentView {
    /// The snapshot for new sessions.
    #[serde(flatten)]
    pub snapshot: SnapshotView,
    /// Names of skills saved after the snapshot was rendered, at most 200. They can already be loaded and recalled.
    pub stale_skills: Vec<String>,
}

/// Selects the snapshot for an agent.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ForTools {
    /// The tools that the agent can call: `full`, `read` or `none`, as when opening a session.
    pub tools: Option<Tools>,
}

/// Numbers of skills that the index omits or shortens.
#[derive(Serialize, Deserialize)]
pub(crate) struct OmittedCounts {
    omitted: u32,
    /// Number of skills with a shortened summary, including the skills in `bare`.
    shortened: u32,
    /// Number of skills listed by name only.
    #[serde(default)]
    bare: u32,
}

impl OmittedCounts {
    /// Returns whether the index describes every skill, at least with a shortened summary.
    pub(crate) fn is_nothing(&self) -> bool {
        self.omitted + self.bare == 0
    }
}

impl SnapshotView {
    /// Returns the view of a snapshot that expires at this time.
    pub(crate) fn of(snapshot: Snapshot, expires_at: DateTime<Utc>) -> Result<Self> {
        let OmittedCounts { omitted, shortened, .. } =
            serde_json::from_value(snapshot.omitted).map_err(Error::internal)?;
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

/// Returns the user's current snapshot. Renders a new one if it is missing, too old, or may show deleted content.
pub async fn get_snapshot(ctx: &Ctx, agent: &ForTools) -> Result<CurrentView> {
    ctx.principal.require(Scope::Sessions)?;
    let tools = agent.tools.unwrap_or_default();
    let kind = usual_kind(&ctx.principal, tools);
    if ctx.principal.views() {
        return view(ctx, peek(ctx, kind).await?);
    }
    view_and_cache(ctx, tools, current(ctx, kind).await?)
}

/// Returns the snapshot that a new session would receive, without storing it and without counting as activity of the user.
async fn peek(ctx: &Ctx, kind: SnapshotKind) -> Result<CurrentSnapshot> {
    let found = snapshots::peek_current(&ctx.app.db, &ctx.principal, kind).await?;
    if let Some(current) = found.filter(|current| is_young(ctx, current)) {
        return Ok(current);
    }
    let _turn = take_turn(ctx).await?;
    let Composed { sha256, text, omitted, now, .. } = compose(ctx, kind).await?;
    let snapshot = Snapshot { id: SnapshotId(new_id()), sha256: sha256.to_vec(), text, omitted, created_at: now };
    Ok(CurrentSnapshot { snapshot, rendered_at: now, is_whole: true, stale: Vec::new() })
}

/// Renders the user's snapshot again, even if the current one is not too old.
pub async fn refresh_snapshot(ctx: &Ctx, agent: &ForTools) -> Result<CurrentView> {
    ctx.principal.require(Scope::Sessions)?;
    let tools = agent.tools.unwrap_or_default();
    let current = render(ctx, usual_kind(&ctx.principal, tools), Cause::Refresh).await?;
    view_and_cache(ctx, tools, current)
}

/// Returns the kind of snapshot for a caller without a session.
fn usual_kind(principal: &Principal, tools: Tools) -> SnapshotKind {
    let index_budget = i32::try_from(principal.settings().index_budget).unwrap_or(i32::MAX);
    SnapshotKind { index_budget, form: SnapshotForm::of(tools, Channel::Chat) }
}

/// Returns the kind of snapshot for a session. The index budget is `asked`, rounded down to a step, or else the
/// tenant's setting for the channel.
pub(crate) fn kind_of(principal: &Principal, asked: Option<u32>, channel: Channel, tools: Tools) -> SnapshotKind {
    let budget = asked.map_or_else(|| principal.settings().index_budget(channel), step_below);
    SnapshotKind { index_budget: i32::try_from(budget).unwrap_or(i32::MAX), form: SnapshotForm::of(tools, channel) }
}

/// Returns the snapshot for new sessions. Renders one if there is no current snapshot.
pub(crate) async fn current(ctx: &Ctx, kind: SnapshotKind) -> Result<CurrentSnapshot> {
    match find_young(ctx, kind).await? {
        Some(current) => Ok(current),
        None => render(ctx, kind, Cause::Session).await,
    }
}

/// Returns the current snapshot; `None` if it is missing, too old or shows deleted content.
async fn find_young(ctx: &Ctx, kind: SnapshotKind) -> Result<Option<CurrentSnapshot>> {
    let now = ctx.now();
    let found = snapshots::find_current(&ctx.app.db, &ctx.principal, kind, now).await?;
    Ok(found.filter(|current| is_young(ctx, current)))
}

/// Returns whether a snapshot shows no deleted content and is not too old.
fn is_young(ctx: &Ctx, current: &CurrentSnapshot) -> bool {
    current.is_whole && ctx.now() < current.rendered_at + ctx.app.snapshot_lifetime
}

/// Maximum number of skills that are rendered on threads of normal priority. Rendering them takes about a
/// millisecond.
const FEW_SKILLS: usize = 200;

/// Cause of rendering a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A session starts, or a caller requests the current snapshot.
    Session,
    /// A caller requests a new rendering.
    Refresh,
    /// The snapshot will expire soon.
    Age,
}

/// Renders a snapshot from one consistent read, and stores it. Each user has at most one rendering at a time, so
/// sessions that start together share the result.
pub(crate) async fn render(ctx: &Ctx, kind: SnapshotKind, cause: Cause) -> Result<CurrentSnapshot> {
    let turn = take_turn(ctx).await?;
    if turn.has_waited
        && cause == Cause::Session
        && let Some(current) = find_young(ctx, kind).await?
    {
        return Ok(current);
    }
    let Composed { sha256, text, omitted, revision, now } = compose(ctx, kind).await?;
    let (is_asked, is_alone) = (cause != Cause::Age, cause == Cause::Refresh);
    let new = NewSnapshot { sha256, text: &text, omitted: &omitted, revision, now, is_asked, is_alone };
    let snapshot = snapshots::put(&ctx.app.db, &ctx.principal, kind, &new).await?;
    let snapshot = snapshot.ok_or_else(|| Error::internal("a snapshot was rendered and not kept"))?;
    Ok(CurrentSnapshot { snapshot, rendered_at: now, is_whole: true, stale: Vec::new() })
}

/// A rendered snapshot that is not stored.
struct Composed {
    sha256: [u8; 32],
    text: String,
    omitted: Value,
    /// Revision of the inputs.
    revision: i64,
    /// Time at which the inputs were read.
    now: DateTime<Utc>,
}

/// Reads a user's skills and memories, and renders a snapshot.
async fn compose(ctx: &Ctx, kind: SnapshotKind) -> Result<Composed> {
    let now = ctx.now();
    let parts = snapshots::read_parts(&ctx.app.db, &ctx.principal).await?;
    let (revision, skills) = (parts.revision, parts.skills.len());
    let Rendered { text, index, .. } = print_beside(skills, move || print(&parts, kind)).await?;
    let omitted = json!({"omitted": index.omitted, "shortened": index.shortened + index.bare, "bare": index.bare});
    Ok(Composed { sha256: manifest::digest(text.as_bytes()), text, omitted, revision, now })
}

/// Waits for a slot to read and render a user's skills. Each user has at most one slot.
pub(crate) async fn take_turn(ctx: &Ctx) -> Result<Turn> {
    ctx.app.admission.snapshots.turn(&ctx.principal).await
}

/// Renders an index of `skills` skills on a blocking thread, of low priority if there are many skills.
pub(crate) async fn print_beside<T: Send + 'static>(
    skills: usize,
    print: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let print = move || Ok(print());
    if skills > FEW_SKILLS { admission::compute(print).await } else { compute(print).await }
}

/// Returns the lines of an index for these skills, each with its rank.
pub(crate) fn index_lines(skills: &[PromptRow]) -> Vec<IndexLine<'_>> {
    let usages: Vec<_> = skills.iter().map(|skill| skill.usage).collect();
    let ranked = skills.iter().zip(rank_skills(&usages));
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

/// Returns the SHA-256 (hex) of the user's current snapshot, if this process has returned that snapshot within the
/// last 2 seconds.
pub fn find_known(ctx: &Ctx, agent: &ForTools) -> Result<Option<Arc<str>>> {
    ctx.principal.require(Scope::Sessions)?;
    ctx.app.short_caches.snapshots.find(&ctx.principal, agent.tools.unwrap_or_default())
}

fn view(ctx: &Ctx, current: CurrentSnapshot) -> Result<CurrentView> {
    let snapshot = SnapshotView::of(current.snapshot, current.rendered_at + ctx.app.snapshot_lifetime)?;
    Ok(CurrentView { snapshot, stale_skills: current.stale })
}

/// Returns the view of the current snapshot, and caches its hash for conditional requests.
fn view_and_cache(ctx: &Ctx, tools: Tools, current: CurrentSnapshot) -> Result<CurrentView> {
    let view = view(ctx, current)?;
    ctx.app.short_caches.snapshots.put(&ctx.principal, tools, view.snapshot.sha256.as_str().into())?;
    Ok(view)
}
