//! Turns a model's plan into operations: checks each operation, lets the review model read the operations to apply
//! automatically, and adds operations that need no model.

use knowhow_domain::learning::dream::{
    ClosestSkill, MOST_POINTERS, Merged, Mode, OpOutcome, Operation, OperationKind, ReadOperation, Ruling, check_plan,
    find_twins, rest_keys,
};
use knowhow_domain::recall::embedded_text;
use knowhow_domain::{Result, SkillId};
use knowhow_store::learning::dreams::NewOp;
use knowhow_store::skills::{self, CloseTo};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use uuid::Uuid;

use super::compose::RunInput;
use super::inputs::Inputs;
use super::question::ModelQuestion;
use super::tokens::count_tokens;
use crate::change::checks as review_checks;
use crate::models::embed::TextKind;
use crate::review::Reviewer;
use crate::{Asking, Ctx, Priority, compute};

/// Time limit for the review model per run. After this time the remaining operations are left to a person, so that
/// the worker is free for other jobs.
const LONGEST_REVIEW: Duration = Duration::from_secs(600);

/// Adds the target of a merge to the merge's sources, at the version that the model saw. The new text contains the
/// target's content, so the target must be unchanged.
fn complete(read: &mut ReadOperation, question: &ModelQuestion) {
    let Ok(Operation::Merge { into, sources, .. }) = &mut read.operation else { return };
    let shown = question.shown.skills.iter().find(|skill| skill.name == *into);
    if let Some(skill) = shown.filter(|_| sources.iter().all(|source| source.name != *into)) {
        sources.insert(0, Merged { name: into.clone(), version: skill.version });
    }
}

/// Checks the operations that a model proposes.
pub(crate) async fn rule(
    ctx: &Ctx,
    question: &ModelQuestion,
    mut read: Vec<ReadOperation>,
    priority: Priority,
) -> Result<Vec<NewOp>> {
    read.iter_mut().for_each(|read| complete(read, question));
    let mut shown = question.shown.clone();
    let made = read.iter().enumerate().filter_map(|(at, operation)| match &operation.operation {
        Ok(Operation::Create { name, description, triggers, .. }) => {
            Some((at, embedded_text(name, description, triggers)))
        }
        _ => None,
    });
    (shown.closest, shown.twins) = compare_new(ctx, made.collect(), priority).await?;
    let read = Arc::new(read);
    let of = read.clone();
    let rulings = compute(move || Ok(check_plan(&of, &shown))).await?;
    Ok(read.iter().zip(rulings).map(|(read, ruling)| ruled(read, ruling, Some(question))).collect())
}

fn ruled(read: &ReadOperation, ruling: Ruling, question: Option<&ModelQuestion>) -> NewOp {
    let rests = matches!(ruling, Ruling::Rest(_));
    let (outcome, reasons) = match ruling {
        Ruling::Apply => (OpOutcome::Proposed, Vec::new()),
        Ruling::Wait(reasons) => (OpOutcome::Waiting, reasons),
        Ruling::Refuse(reason) | Ruling::Rest(reason) => (OpOutcome::Refused, vec![reason]),
    };
    let (kind, op) = match &read.operation {
        Ok(operation) => (Some(operation.kind()), json!(operation)),
        Err(_) => (None, read.raw.clone()),
    };
    let operation = read.operation.as_ref().ok();
    let sessions = question.zip(operation).map(|(question, operation)| question.made_of(operation));
    let bases = question.zip(operation).map(|(question, operation)| question.bases_of(operation));
    NewOp {
        kind,
        op,
        outcome,
        rests,
        reasons,
        checks: Vec::new(),
        tainted_by: question.map(|question| question.tainted_by.clone()).unwrap_or_default(),
        sessions: sessions.unwrap_or_default(),
        bases: bases.unwrap_or_default(),
    }
}

impl ModelQuestion {
    /// Returns the sessions that an operation is based on: the sessions that it names, otherwise all shown sessions.
    fn made_of(&self, operation: &Operation) -> Vec<Uuid> {
        let named = match operation {
            Operation::Create { evidence, .. } | Operation::Patch { evidence, .. } => evidence.as_slice(),
            _ => &[],
        };
        let of_it: Vec<Uuid> =
            named.iter().filter_map(|name| self.sessions.get(name)).flatten().map(|session| session.0).collect();
        if of_it.is_empty() { self.sessions.values().flatten().map(|session| session.0).collect() } else { of_it }
    }

    /// Returns the shown versions of the skills that an operation names.
    fn bases_of(&self, operation: &Operation) -> BTreeMap<String, i32> {
        let named = operation.names();
        let shown = self.shown.skills.iter().filter(|skill| named.contains(&skill.name.as_str()));
        shown.map(|skill| (skill.name.clone(), skill.version)).collect()
    }
}

/// The closest existing skill of each new one, and the new skills before it with the same content. Keys are indices of
/// operations.
type NewSkillComparison = (HashMap<usize, ClosestSkill>, HashMap<usize, Vec<usize>>);

/// Compares the texts of new skills with the user's skills and with each other. Returns empty maps without an embedding
/// model.
async fn compare_new(ctx: &Ctx, texts: Vec<(usize, String)>, priority: Priority) -> Result<NewSkillComparison> {
    let mut closest = HashMap::new();
    let Some(embedder) = ctx.app.models.embedder.as_deref().filter(|_| !texts.is_empty()) else {
        return Ok(NewSkillComparison::default());
    };
    let (places, texts): (Vec<usize>, Vec<String>) = texts.into_iter().unzip();
    let asking = Asking::of_job(&ctx.principal, priority)?;
    let made = embedder.embed(texts, TextKind::Document, asking).await.unwrap_or_default();
    let made: Vec<(usize, Vec<f32>)> = places.into_iter().zip(made).collect();
    for (place, embedding) in &made {
        let close_to = CloseTo { own: SkillId::FIRST, model: embedder.model(), embedding, least: 0.5, most: 1 };
        let found = skills::list_close(&ctx.app.db, &ctx.principal, close_to).await?;
        if let Some((name, cosine)) = found.and_then(|found| found.into_iter().next()) {
            closest.insert(*place, ClosestSkill { name, cosine });
        }
    }
    Ok((closest, find_twins(&made)))
}

/// Minimum number of sessions that used two skills together to link them.
const TOGETHER: usize = 3;

/// Proposes `see_also` links between skills that were often used together. This needs no model.
pub(super) fn point_at_each_other(composed: &RunInput, inputs: &Inputs, ops: &[NewOp]) -> Vec<NewOp> {
    let skill = |name: &str| inputs.skills.iter().find(|skill| skill.name == name);
    // A link creates a version, which would make a pending operation on the skill outdated.
    let named: BTreeSet<String> = ops
        .iter()
        .filter(|op| op.outcome != OpOutcome::Refused)
        .filter_map(|op| Operation::read(&op.op).ok())
        .flat_map(|operation| operation.names().iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
        .collect();
    let is_free = |name: &str| !named.contains(name);
    let mut made: Vec<NewOp> = Vec::new();
    for pair in composed.co_used.iter().filter(|pair| pair.sessions >= TOGETHER) {
        let (Some(first), Some(second)) = (skill(&pair.first), skill(&pair.second)) else { continue };
        for (from, to) in [(first, second), (second, first)] {
            let is_open = from.source.is_open_to_learning() && !from.pinned && !from.tainted && !to.tainted;
            let points = from.see_also.contains(&to.name) || from.see_also.len() >= MOST_POINTERS;
            let is_taken = !is_free(&from.name) || made.iter().any(|op| op.op["name"] == from.name);
            let op = Operation::SeeAlso { name: from.name.clone(), add: vec![to.name.clone()], reason: String::new() };
            let rests = rest_keys(&op).iter().any(|key| inputs.resting.has(key));
            if is_open && !points && !is_taken && !rests {
                let read = ReadOperation { raw: json!(op), operation: Ok(op) };
                made.push(ruled(&read, Ruling::Apply, None));
            }
        }
    }
    made
}

/// Lets the review model read the operations that would be applied automatically, and counts the tokens used.
pub(crate) async fn review_those_to_apply(ctx: &Ctx, ops: &mut [NewOp], mode: Mode, priority: Priority) -> Result<()> {
    let applied = |op: &&mut NewOp| op.outcome == OpOutcome::Proposed && is_applied(mode, op.kind);
    let mut texts: Vec<(&mut NewOp, String, String)> = Vec::new();
    for op in ops.iter_mut().filter(applied) {
        let operation = Operation::read(&op.op)?;
        if let Some(text) = new_text(&operation) {
            texts.push((op, operation.target().to_owned(), text));
        }
    }
    if texts.is_empty() {
        return Ok(());
    }
    let Some(reviewer) = Reviewer::find(ctx).await? else { return Ok(()) };
    let began = Instant::now();
    for (op, skill, text) in texts {
        if began.elapsed() > LONGEST_REVIEW {
            op.outcome = OpOutcome::Waiting;
            op.reasons = vec!["the review model did not read it in time; a person has to decide".into()];
            continue;
        }
        let (check, tokens) = reviewer.read(&skill, &text, priority).await;
        count_tokens(ctx, tokens).await?;
        let checks = vec![check];
        if review_checks::holds(&checks) {
            op.outcome = OpOutcome::Waiting;
            op.reasons = checks.iter().flat_map(|check| check.reasons.clone()).collect();
        }
        op.checks = checks;
    }
    Ok(())
}

/// Returns the new text that an operation would show to the agent; `None` if it writes no text of its own.
fn new_text(operation: &Operation) -> Option<String> {
    match operation {
        Operation::Create { description, triggers, body, .. } => {
            Some(format!("{description}\n\n{}\n\n{body}", triggers.join("\n")))
        }
        Operation::Merge { description, body, .. } | Operation::Parent { description, body, .. } => {
            Some(format!("{description}\n\n{body}"))
        }
        Operation::Patch { edits, .. } => {
            let texts: Vec<&str> = edits.iter().map(|edit| edit.new_string.as_str()).collect();
            Some(texts.join("\n\n"))
        }
        Operation::SeeAlso { .. } | Operation::Archive { .. } => None,
    }
}

/// Returns whether a mode applies operations of a kind automatically. A `see_also` link changes no instruction, so
/// `propose` applies it too.
pub(super) fn is_applied(mode: Mode, kind: Option<OperationKind>) -> bool {
    mode == Mode::Apply || mode == Mode::Propose && kind == Some(OperationKind::SeeAlso)
}
