//! Dreams: the runs of background learning, and one run with its changes, to apply, reject or undo.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::learning::dream::{
    DreamOp, DreamRun, OpOutcome, Operation, OperationKind, Pass, RunPass, RunState, Undone,
};
use knowhow_domain::{DreamId, Error, Result};
use knowhow_ops::context::page::PageQuery;
use knowhow_ops::learning::dream::{self, DecideDream, DreamDetail, GetDream, ListDreams, StartDreams};
use knowhow_ops::review::may_review;
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::difference::{PartKind, Row, RowKind, read_all_rows};
use crate::failure::{Failure, sentence, status_of};
use crate::form::{Form, OwnForm};
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When, unix_lines};
use crate::visit::Visit;

#[derive(Default, Deserialize)]
pub struct RunPosition {
    cursor: Option<String>,
}

/// A run to start.
#[derive(Deserialize)]
pub struct Started {
    /// Empty for all passes.
    pass: String,
    /// Present if the box is checked.
    dry_run: Option<String>,
}

/// A decision on one operation, or on all that wait.
#[derive(Deserialize)]
pub struct RunDecision {
    op: Option<i32>,
    #[serde(default)]
    comment: String,
}

struct RunRow {
    path: String,
    pass: &'static str,
    state: &'static str,
    is_open: bool,
    is_running: bool,
    is_dry: bool,
    counts: String,
    reason: Option<Line>,
    by: Line,
    tokens: i64,
    at: When,
}

impl RunRow {
    fn of(visit: &Visit, run: &DreamRun) -> Self {
        Self {
            path: format!("/console/dreams/{}", run.id),
            pass: name_of_pass(run.pass),
            state: name_of_state(run.state),
            is_open: run.counts.proposed + run.counts.waiting > 0 && !run.dry_run,
            is_running: run.state == RunState::Queued,
            is_dry: run.dry_run,
            counts: counts_of(run),
            reason: run.reason.as_deref().map(Line::from),
            by: run.started_by.as_str().into(),
            tokens: run.tokens,
            at: visit.when(run.created_at),
        }
    }
}

fn name_of_pass(pass: RunPass) -> &'static str {
    match pass {
        RunPass::Gaps => "Requests without a skill",
        RunPass::Consolidate => "Skills that belong together",
        RunPass::Optimize => "Skills that failed",
        RunPass::Reflection => "Proposals of a reflection",
    }
}

fn name_of_state(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "running",
        RunState::Planned => "waits for a decision",
        RunState::Applied => "applied",
        RunState::Partly => "partly applied",
        RunState::Skipped => "nothing to do",
        RunState::Failed => "failed",
        RunState::Rejected => "rejected",
        RunState::Undone => "undone",
    }
}

/// Returns the numbers of operations by outcome, in words.
fn counts_of(run: &DreamRun) -> String {
    let counts = &run.counts;
    let named = [
        (counts.proposed + counts.waiting, "to decide"),
        (counts.applied, "applied"),
        (counts.rejected, "rejected"),
        (counts.refused, "refused by a check"),
        (counts.conflict, "outdated"),
    ];
    let named = named.iter().filter(|(number, _)| *number > 0).map(|(number, name)| format!("{number} {name}"));
    named.collect::<Vec<_>>().join(", ")
}

/// Passes to start, with their names.
const PASSES: [(Pass, &str); 3] = [
    (Pass::Gaps, "Requests without a skill"),
    (Pass::Consolidate, "Skills that belong together"),
    (Pass::Optimize, "Skills that failed"),
];

#[derive(Template)]
#[template(path = "dreams.html")]
struct Dreams {
    layout: Layout,
    rows: Vec<RunRow>,
    passes: [(Pass, &'static str); 3],
    may_write: bool,
    error: Option<Block>,
    is_first: bool,
    next: Option<String>,
}

/// Lists runs.
pub async fn list(visit: Visit, position: Query<RunPosition>) -> Result<HttpResponse, Failure> {
    respond_list(&visit, position.into_inner().cursor, None).await
}

/// Starts a run.
pub async fn start(form: Form<Started>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let named = Some(fields.pass.as_str()).filter(|pass| !pass.is_empty());
    let pass = named.map(|pass| pass.parse().map_err(|_| Error::Malformed(format!("there is no pass '{pass}'"))));
    let input = StartDreams { dry_run: fields.dry_run.is_some(), passes: pass.transpose()?.into_iter().collect() };
    match dream::start_dreams(&visit.ctx, &input).await {
        Ok(_) => Ok(see("/console/dreams?done=started")),
        Err(error @ Error::Internal(_)) => Err(error.into()),
        Err(error) => respond_list(&visit, None, Some(error)).await,
    }
}

async fn respond_list(visit: &Visit, cursor: Option<String>, error: Option<Error>) -> Result<HttpResponse, Failure> {
    let is_first = cursor.is_none();
    let api = format!("/v1/dreams{}", link::query(&[("cursor", cursor.as_deref())]));
    let query = ListDreams { page: PageQuery { limit: None, cursor }, ..ListDreams::default() };
    let found = dream::list_dreams(&visit.ctx, &query).await?;
    let start = ApiCall::new("POST", "/v1/dreams").with_body(json!({ "dry_run": true, "passes": ["gaps"] }));
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &Dreams {
            layout: Layout::new(visit, Section::Dreams, "Dreams").with_calls(visit, [ApiCall::get(api), start]),
            rows: found.items.iter().map(|run| RunRow::of(visit, run)).collect(),
            passes: PASSES,
            may_write: visit.ctx.principal.require(knowhow_domain::Scope::SkillsWrite).is_ok(),
            error: error.as_ref().map(sentence),
            is_first,
            next: found.next_cursor.map(|cursor| format!("/console/dreams?cursor={}", link::encode(&cursor))),
        },
    )
}

/// An operation of a run.
struct OpRow {
    position: i32,
    /// The change in words, e.g. "Create plan".
    title: Line,
    outcome: &'static str,
    is_open: bool,
    is_applied: bool,
    why: Option<Block>,
    reasons: Vec<Line>,
    tainted_by: Line,
    diff: Option<Vec<Row>>,
    /// The effect of an undo, if the operation is applied.
    undo: Option<Line>,
    undone: Option<Line>,
    decided_by: Option<Line>,
}

/// A question to the chat model and its answer.
struct CallRow {
    model: Line,
    tokens: i64,
    question: Block,
    answer: Block,
}

#[derive(Template)]
#[template(path = "dream.html")]
struct DreamPage {
    layout: Layout,
    row: RunRow,
    ops: Vec<OpRow>,
    calls: Vec<CallRow>,
    may_decide: bool,
    may_undo: bool,
    texts_until: String,
    /// The typed comment of a rejected form.
    comment: String,
    error: Option<Block>,
}

/// Shows a run.
pub async fn show(visit: Visit, id: Path<DreamId>) -> Result<HttpResponse, Failure> {
    let query = GetDream { id: id.into_inner(), ..GetDream::default() };
    let found = dream::get_dream(&visit.ctx, &query).await?;
    respond(&visit, found, None).await
}

/// Applies one operation, or all that wait.
pub async fn apply(id: Path<DreamId>, form: OwnForm<RunDecision>) -> Result<HttpResponse, Failure> {
    let (visit, input) = decision(id.into_inner(), form);
    let done = dream::apply_dream(&visit.ctx, &input).await;
    finish(visit, &input, done, "applied").await
}

/// Rejects one operation, or all that wait.
pub async fn reject(id: Path<DreamId>, form: OwnForm<RunDecision>) -> Result<HttpResponse, Failure> {
    let (visit, input) = decision(id.into_inner(), form);
    let done = dream::reject_dream(&visit.ctx, &input).await;
    finish(visit, &input, done, "rejected").await
}

/// Undoes a run.
pub async fn undo(id: Path<DreamId>, form: Form<RunDecision>) -> Result<HttpResponse, Failure> {
    let input = DecideDream { id: id.into_inner(), ..DecideDream::default() };
    let query = GetDream { id: input.id, ..GetDream::default() };
    let done = dream::undo_dream(&form.visit.ctx, &query).await;
    finish(form.visit, &input, done, "undone").await
}

/// Returns the decision of a reviewer. An admin who views a user decides with the reason of the view.
fn decision(id: DreamId, form: OwnForm<RunDecision>) -> (Visit, DecideDream) {
    let OwnForm { visit, fields } = form;
    let comment = unix_lines(fields.comment.trim());
    let user = visit.viewed.as_ref().map(|(_, name)| name.clone());
    let reason = visit.reason.clone().filter(|_| user.is_some());
    let ops = fields.op.into_iter().collect();
    let input = DecideDream { id, ops, comment: Some(comment).filter(|text| !text.is_empty()), user, reason };
    (visit, input)
}

async fn finish(
    visit: Visit,
    input: &DecideDream,
    done: Result<DreamDetail>,
    word: &str,
) -> Result<HttpResponse, Failure> {
    match done {
        Ok(_) => Ok(see(&link::after(&format!("/console/dreams/{}", input.id), word))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error.into()),
        Err(error) => {
            let visit = visit.of_viewed_user()?;
            let query = GetDream { id: input.id, ..GetDream::default() };
            let found = dream::get_dream(&visit.ctx, &query).await?;
            let comment = input.comment.clone().unwrap_or_default();
            respond(&visit, found, Some(RejectedDecision { error, comment })).await
        }
    }
}

/// A decision that was rejected.
struct RejectedDecision {
    error: Error,
    comment: String,
}

async fn respond(
    visit: &Visit,
    detail: DreamDetail,
    rejected: Option<RejectedDecision>,
) -> Result<HttpResponse, Failure> {
    let DreamDetail { run, ops, calls, texts_until } = detail;
    let is_undone = run.state == RunState::Undone;
    let may_decide = may_review(&visit.ctx) && !run.dry_run && !is_undone;
    let may_undo = visit.ctx.principal.require(knowhow_domain::Scope::SkillsWrite).is_ok() && !is_undone;
    let diffs = read_all_rows(visit, ops.iter().map(|op| op.diff.clone()).collect()).await?;
    let rows: Vec<_> = ops.into_iter().zip(diffs).map(|(op, diff)| op_row(op, diff, is_undone)).collect();
    let api = format!("/v1/dreams/{}", run.id);
    let requests = [
        ApiCall::get(api.as_str()),
        ApiCall::new("POST", format!("{api}/apply")).with_body(json!({ "ops": [0] })),
        ApiCall::new("POST", format!("{api}/reject")).with_body(json!({ "comment": "..." })),
        ApiCall::new("POST", format!("{api}/undo")),
    ];
    page_with(
        rejected.as_ref().map_or(StatusCode::OK, |rejected| status_of(&rejected.error)),
        &DreamPage {
            layout: Layout::new(visit, Section::Dreams, name_of_pass(run.pass)).with_calls(visit, requests),
            row: RunRow::of(visit, &run),
            may_decide: may_decide && rows.iter().any(|op| op.is_open),
            may_undo: may_undo && rows.iter().any(|op| op.is_applied),
            ops: rows,
            calls: calls
                .into_iter()
                .map(|call| CallRow {
                    model: call.model.into(),
                    tokens: call.tokens,
                    question: call.question.into(),
                    answer: call.answer.or(call.error).unwrap_or_default().into(),
                })
                .collect(),
            texts_until: texts_until.format("%Y-%m-%d").to_string(),
            comment: rejected.as_ref().map(|rejected| rejected.comment.clone()).unwrap_or_default(),
            error: rejected.as_ref().map(|rejected| sentence(&rejected.error)),
        },
    )
}

fn op_row(op: DreamOp, diff: Option<Vec<Row>>, is_undone: bool) -> OpRow {
    let operation = Operation::read(&op.op).ok();
    let is_applied = op.outcome == OpOutcome::Applied;
    let why = op.op.get("reason").and_then(|reason| reason.as_str()).filter(|reason| !reason.is_empty());
    OpRow {
        position: op.position,
        title: title_of(op.kind, operation.as_ref()),
        outcome: match op.outcome {
            OpOutcome::Proposed => "proposed",
            OpOutcome::Waiting => "waits for a person",
            OpOutcome::Applied => "applied",
            OpOutcome::Refused => "refused by a check",
            OpOutcome::Conflict => "outdated",
            OpOutcome::Rejected => "rejected",
        },
        is_open: op.outcome.is_open(),
        is_applied,
        why: why.map(Block::from),
        reasons: op.reasons.into_iter().map(Line).collect(),
        tainted_by: op.tainted_by.join(", ").into(),
        diff,
        undo: operation.as_ref().filter(|_| is_applied && !is_undone).map(effect_of_undo),
        undone: op.undo.map(|undone| undone_in_words(undone, op.undo_reason.as_deref())),
        decided_by: op.decided_by.map(Line),
    }
}

/// Returns an operation in words.
fn title_of(kind: Option<OperationKind>, operation: Option<&Operation>) -> Line {
    let verb = match kind {
        Some(OperationKind::Create) => "Create",
        Some(OperationKind::Merge) => "Merge into",
        Some(OperationKind::Patch) => "Correct",
        Some(OperationKind::Parent) => "Write the guide",
        Some(OperationKind::SeeAlso) => "Link from",
        Some(OperationKind::Archive) => "Archive",
        None => "A proposal that could not be read",
    };
    Line(operation.map_or_else(|| verb.to_owned(), |operation| format!("{verb} {}", operation.target())))
}

/// Returns the effect of undoing an applied operation.
fn effect_of_undo(operation: &Operation) -> Line {
    let target = operation.target();
    Line(match operation {
        Operation::Create { .. } | Operation::Parent { .. } => format!("removes {target}, unless it was edited since"),
        Operation::Patch { .. } => format!("restores the earlier text of {target}; later edits in other lines stay"),
        Operation::Merge { .. } => format!("brings back {}", operation.taken_away().join(", ")),
        Operation::SeeAlso { .. } => format!("removes the links from {target}"),
        Operation::Archive { .. } => format!("brings back {target}"),
    })
}

fn undone_in_words(undone: Undone, reason: Option<&str>) -> Line {
    let words = match undone {
        Undone::Undone => "undone",
        Undone::Merged => "undone; later edits stay",
        Undone::Kept => "stays, because it was changed later",
        Undone::Gone => "was no longer there",
    };
    Line(reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}")))
}
