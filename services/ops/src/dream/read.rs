//! Reading runs: what was asked, answered, proposed and done.

use knowhow_domain::dream::{DreamOp, DreamRun, ModelCall, OpOutcome, Operation, RunPass, RunState};
use knowhow_domain::invisible::show_invisible;
use knowhow_domain::{DreamId, Error, Limits, Result, Scope, SkillDocument, diff};
use knowhow_store::dreams::{self, RunDetail, StoredOp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use utoipa::{IntoParams, ToSchema};

use super::journal::{self, Step};
use crate::page::{Page, PageQuery, rows_for};
use crate::review::{Reached, reach_user};
use crate::{Ctx, compute};

/// Which runs.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListDreams {
    /// Those of this state alone.
    #[param(inline)]
    pub state: Option<RunState>,
    /// Those of this pass alone.
    #[param(inline)]
    pub pass: Option<RunPass>,
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

/// A run with everything about it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DreamDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub run: DreamRun,
    /// Until when it can be undone; the texts are removed then.
    pub texts_until: chrono::DateTime<chrono::Utc>,
    /// What was proposed, and what became of it.
    pub ops: Vec<DreamOp>,
    /// What a chat model was asked and answered: for those who may decide.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub calls: Vec<ModelCall>,
}

/// Lists runs, the newest first.
///
/// # Errors
/// `Forbidden` for another user's without being an admin who says why.
pub async fn list_dreams(ctx: &Ctx, query: &ListDreams) -> Result<Page<DreamRun>> {
    ctx.principal.require(Scope::SkillsRead)?;
    let (limit, before) = (query.page.limit()?, query.page.after::<DreamId>()?);
    let reached = reach(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    let asked = dreams::ListRuns { state: query.state, pass: query.pass, before, limit: rows_for(limit) };
    let rows = dreams::list(&ctx.app.db, &reached.ctx.principal, asked).await?;
    Page::of(rows, limit, |last| last.id)
}

/// A run, and whose it is where that is not the caller's own.
#[derive(Debug, Clone, Default)]
pub struct GetDream {
    pub id: DreamId,
    /// The user, by external id: for admins,
    pub user: Option<String>,
    /// who say why.
    pub reason: Option<String>,
}

/// Reads a run: its operations with what each changes, and, for those who may decide, the questions to the model.
///
/// # Errors
/// `NotFound`; `Forbidden` for another user's without being an admin who says why.
pub async fn get_dream(ctx: &Ctx, query: &GetDream) -> Result<DreamDetail> {
    ctx.principal.require(Scope::SkillsRead)?;
    let reached = reach(ctx, query.user.as_deref(), query.reason.as_deref()).await?;
    get(&reached.ctx, query.id, reached.sees_text()).await
}

/// The caller's own user, or the one that an admin names.
pub(super) async fn reach(ctx: &Ctx, user: Option<&str>, reason: Option<&str>) -> Result<Reached> {
    let whose = crate::review::Whose { user: user.map(str::to_owned), reason: reason.map(str::to_owned) };
    reach_user(ctx, &whose, "dream.read").await
}

/// A run of the context's user.
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

/// The texts that skills have now which an operation that waits would change or take away.
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

/// An operation as it is shown. Who cannot decide sees no text that waits, nor what a check found.
async fn shown(ctx: &Ctx, stored: StoredOp, now: &HashMap<String, String>, sees_all: bool) -> Result<DreamOp> {
    let StoredOp { mut op, journal, tainted_now, .. } = stored;
    for source in tainted_now {
        if !op.tainted_by.contains(&source) {
            op.tainted_by.push(source);
        }
    }
    let texts = match journal::read(&journal)? {
        steps if steps.is_empty() && op.outcome.is_open() && sees_all => proposed(&op, now, &ctx.app.limits),
        steps => steps.iter().map(Texts::of).collect(),
    };
    if !texts.is_empty() {
        op.diff = Some(compute(move || Ok(texts.iter().map(Texts::diff).collect())).await?);
    }
    if !sees_all {
        op.checks.iter_mut().for_each(|check| check.findings.clear());
        if op.outcome != OpOutcome::Applied {
            op.op = serde_json::json!({ "op": op.kind });
        }
    }
    Ok(op)
}

/// A SKILL.md before and after.
struct Texts {
    name: String,
    before: String,
    after: String,
}

impl Texts {
    fn of(step: &Step) -> Self {
        match step {
            Step::Made(made) => Self { name: made.name.clone(), before: String::new(), after: made.document.clone() },
            Step::Changed(changed) => {
                Self { name: changed.name.clone(), before: changed.before.clone(), after: changed.after.clone() }
            }
            Step::Archived(archived) => {
                Self { name: archived.name.clone(), before: archived.document.clone(), after: String::new() }
            }
        }
    }

    fn diff(&self) -> String {
        let (from, to) = (format!("{}/SKILL.md\tbefore", self.name), format!("{}/SKILL.md\tafter", self.name));
        let (from, to) =
            (diff::Side { label: &from, text: &self.before }, diff::Side { label: &to, text: &self.after });
        show_invisible(&diff::unified(from, to))
    }
}

/// What an operation that waits would change of the skills as they are now; of its own text nothing where it does not fit any
/// more.
fn proposed(op: &DreamOp, now: &HashMap<String, String>, limits: &Limits) -> Vec<Texts> {
    let Ok(operation) = Operation::read(&op.op) else { return Vec::new() };
    let target = operation.target();
    let before = now.get(target);
    let parsed = before.and_then(|raw| SkillDocument::parse_named(raw, &limits.with_unbounded_body()).ok());
    let after = operation.document(parsed.as_ref(), limits).ok().flatten();
    let written = after.map(|after| Texts {
        name: target.to_owned(),
        before: before.cloned().unwrap_or_default(),
        after: after.raw().to_owned(),
    });
    let leaving = operation
        .taken_away()
        .into_iter()
        .filter_map(|name| Some(Texts { name: name.to_owned(), before: now.get(name)?.clone(), after: String::new() }));
    written.into_iter().chain(leaving).collect()
}
