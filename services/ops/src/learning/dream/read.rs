//! Reads runs: their prompts, answers, proposals and changes.

use knowhow_domain::learning::dream::{DreamOp, DreamRun, ModelCall, OpOutcome, Operation, RunPass, RunState};
use knowhow_domain::text::diff;
use knowhow_domain::text::invisible::show_invisible;
use knowhow_domain::{DreamId, Error, Limits, Result, Scope, SkillDocument};
use knowhow_store::learning::dreams::{self, RunDetail, StoredOp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use utoipa::{IntoParams, ToSchema};

use super::journal::{self, JournalStep};
use crate::context::page::{Page, PageQuery, rows_for};
use crate::review::{AccessedOwner, access_user};
use crate::{Ctx, compute};

/// Filters for a list of runs.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListDreams {
    /// Only runs in this state.
    #[param(inline)]
    pub state: Option<RunState>,
    /// Only runs of this pass.
    #[param(inline)]
    pub pass: Option<RunPass>,
    /// Only runs of this user, by external id. Only for admins, with a reason in the header `Knowhow-Reason`.
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

/// A run with all details.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamDetail {
    /// The list entry of the run.
    #[serde(flatten)]
    pub run: DreamRun,
    /// End of the undo period; the run's texts are deleted then.
    pub texts_until: chrono::DateTime<chrono::Utc>,
    /// The proposed operations and their outcomes.
    pub ops: Vec<DreamOp>,
    /// Prompts and answers of the chat model, only for reviewers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub calls: Vec<ModelCall>,
}

/// Lists runs, newest first.
///
/// # Errors
/// `Forbidden` for another user's runs, except for an admin with a reason.
pub async fn list_dreams(ctx: &Ctx, query: &ListDreams) -> Result<Page<DreamRun>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<DreamId>()?);
    let accessed = access_owner(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    let asked = dreams::ListRuns { state: query.state, pass: query.pass, before, limit: rows_for(limit) };
    let rows = dreams::list(&ctx.app.db, &accessed.ctx.principal, asked).await?;
    Page::of(rows, limit, |last| last.id)
}

/// A request to read a run.
#[derive(Debug, Clone, Default)]
pub struct GetDream {
    pub id: DreamId,
    /// External id of the run's owner; `None` for the caller. Only admins may set it.
    pub user: Option<String>,
    /// Reason why an admin reads another user's run. `None` if the caller owns the run.
    pub reason: Option<String>,
}

/// Reads a run: its operations with their changes and, for reviewers, the prompts to the model.
///
/// # Errors
/// `NotFound`; `Forbidden` for another user's run, except for an admin with a reason.
pub async fn get_dream(ctx: &Ctx, query: &GetDream) -> Result<DreamDetail> {
    ctx.principal.require(Scope::SkillsRead)?;
    let accessed = access_owner(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    get(&accessed.ctx, query.id, accessed.sees_text()).await
}

/// Returns access to the caller's own user, or to the user that an admin names.
pub(super) async fn access_owner(ctx: &Ctx, user: Option<&str>, reason: Option<&str>) -> Result<AccessedOwner> {
    let whose = crate::review::Whose { user: user.map(str::to_owned), reason: reason.map(str::to_owned) };
    access_user(ctx, &whose, "dream.read").await
}

/// Reads a run of the context's user. With `sees_all`, includes calls, pending texts and findings.
pub(super) async fn get(ctx: &Ctx, id: DreamId, sees_all: bool) -> Result<DreamDetail> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let found = dreams::find(db, principal, id).await?.ok_or_else(|| Error::not_found("dream"))?;
    let calls = async { if sees_all { dreams::list_calls(db, principal, id).await } else { Ok(Vec::new()) } };
    let (stored, calls) = futures_util::try_join!(dreams::list_ops(db, principal, id), calls)?;
    let documents = if sees_all { documents_of(ctx, &stored).await? } else { HashMap::new() };
    let mut ops = Vec::with_capacity(stored.len());
    for op in stored {
        ops.push(shown(ctx, op, &documents, sees_all).await?);
    }
    let RunDetail { run, texts_until } = found;
    Ok(DreamDetail { run, texts_until, ops, calls })
}

/// Reads the current texts of skills that a pending operation would change or remove.
async fn documents_of(ctx: &Ctx, ops: &[StoredOp]) -> Result<HashMap<String, String>> {
    let open = ops.iter().filter(|op| op.op.outcome.is_open()).filter_map(|op| Operation::read(&op.op.op).ok());
    let named = |op: Operation| {
        let names = op.taken_away().into_iter().chain([op.target()]);
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let names: BTreeSet<String> = open.flat_map(named).collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let found = dreams::list_documents(&ctx.app.db, &ctx.principal, names.into_iter().collect()).await?;
    Ok(found.into_iter().collect())
}

/// Prepares an operation for the response. Without `sees_all`, removes pending texts and findings, which only
/// reviewers may read.
async fn shown(ctx: &Ctx, stored: StoredOp, now: &HashMap<String, String>, sees_all: bool) -> Result<DreamOp> {
    let StoredOp { mut op, journal, tainted_now, .. } = stored;
    for source in tainted_now {
        if !op.tainted_by.contains(&source) {
            op.tainted_by.push(source);
        }
    }
    let texts = match journal::read(&journal)? {
        steps if steps.is_empty() && op.outcome.is_open() && sees_all => proposed(&op, now, &ctx.app.limits),
        steps => steps.iter().map(DocumentTexts::of).collect(),
    };
    if !texts.is_empty() {
        op.diff = Some(compute(move || Ok(texts.iter().map(DocumentTexts::diff).collect())).await?);
    }
    if !sees_all {
        op.checks.iter_mut().for_each(|check| check.findings.clear());
        if op.outcome != OpOutcome::Applied {
            op.op = serde_json::json!({ "op": op.kind });
        }
    }
    Ok(op)
}

/// A SKILL.md before and after an operation.
struct DocumentTexts {
    name: String,
    before: String,
    after: String,
}

impl DocumentTexts {
    fn of(step: &JournalStep) -> Self {
        match step {
            JournalStep::Made(made) => {
                Self { name: made.name.clone(), before: String::new(), after: made.document.clone() }
            }
            JournalStep::Changed(changed) => {
                Self { name: changed.name.clone(), before: changed.before.clone(), after: changed.after.clone() }
            }
            JournalStep::Archived(archived) => {
                Self { name: archived.name.clone(), before: archived.document.clone(), after: String::new() }
            }
        }
    }

    fn diff(&self) -> String {
        let (from, to) = (format!("{}/SKILL.md\tbefore", self.name), format!("{}/SKILL.md\tafter", self.name));
        let (from, to) =
            (diff::DiffSide { label: &from, text: &self.before }, diff::DiffSide { label: &to, text: &self.after });
        show_invisible(&diff::unified(from, to))
    }
}

/// Returns the changes that a pending operation would make to the current skills. The new text is omitted if the
/// operation can no longer be applied to the current text.
fn proposed(op: &DreamOp, now: &HashMap<String, String>, limits: &Limits) -> Vec<DocumentTexts> {
    let Ok(operation) = Operation::read(&op.op) else { return Vec::new() };
    let target = operation.target();
    let before = now.get(target);
    let parsed = before.and_then(|raw| SkillDocument::parse_named(raw, &limits.with_unbounded_body()).ok());
    let after = operation.document(parsed.as_ref(), limits).ok().flatten();
    let written = after.map(|after| DocumentTexts {
        name: target.to_owned(),
        before: before.cloned().unwrap_or_default(),
        after: after.raw().to_owned(),
    });
    let leaving = operation.taken_away().into_iter().filter_map(|name| {
        Some(DocumentTexts { name: name.to_owned(), before: now.get(name)?.clone(), after: String::new() })
    });
    written.into_iter().chain(leaving).collect()
}
