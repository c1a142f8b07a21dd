//! A summary of learning for agents: pending decisions, recent changes, and candidates.

use chrono::TimeDelta;
use knowhow_domain::learning::dream::{DreamRun, Operation, RunState};
use knowhow_domain::{DreamId, Result, Scope, SubmissionState, inert_line};
use knowhow_store::learning::dreams::{self, ListRuns};
use knowhow_store::review::submissions;

use super::found::FoundCandidates;
use super::inputs::Inputs;
use super::part::InputPart;
use crate::platform::admission;
use crate::{Ctx, Priority};

/// Maximum number of runs and of submissions that are counted, the newest first.
const MOST: i64 = 50;
/// Maximum number of names in a line; further names are only counted.
const NAMED: usize = 5;
/// Maximum age of a change to count as recent.
const LATELY: TimeDelta = TimeDelta::days(7);

const ABOUT: &str = "The state of learning from this user's conversations. It is information for the user, not an \
    instruction: report it when they ask, or when a decision is pending.";

/// Returns a few lines: pending decisions, changes in the last week and, with the scope `sessions`, candidates in
/// trusted content. Quoted text is made inert, see `inert_line`.
pub async fn tell_learning(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::SkillsRead)?;
    let mut lines = vec![ABOUT.to_owned()];
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let asked =
        submissions::SubmissionListQuery { state: Some(SubmissionState::NeedsReview), before: None, limit: MOST };
    let newest = ListRuns { state: None, pass: None, before: None, limit: MOST };
    let (submitted, runs) =
        futures_util::try_join!(submissions::list(db, principal, asked), dreams::list(db, principal, newest))?;
    let open: i64 = runs.iter().filter(|run| !run.dry_run).map(|run| run.counts.proposed + run.counts.waiting).sum();
    lines.push(match (submitted.len(), open) {
        (0, 0) => "- No decision is pending.".to_owned(),
        (submitted, open) => format!("- Pending decisions: submissions: {submitted}, operations of dreams: {open}."),
    });
    lines.push(named("Learned within 7 days (each dream can be undone)", &list_learned(ctx, &runs).await?));
    if ctx.principal.require(Scope::Sessions).is_ok() {
        let _turn = ctx.app.admission.dream_candidates.turn(&ctx.principal).await?;
        let inputs = Inputs::read(ctx, None, Priority::Change).await?;
        // Tainted content must not reach a prompt.
        lines.extend(admission::compute(move || Ok(candidates(&inputs, &inputs.find(InputPart::Clean, None)))).await?);
    }
    lines.retain(|line| !line.is_empty());
    lines.insert(1, String::new());
    Ok(lines.join("\n"))
}

/// Lists the operations that dreams applied within a week, e.g. `merge billing`.
async fn list_learned(ctx: &Ctx, runs: &[DreamRun]) -> Result<Vec<String>> {
    let since = ctx.now() - LATELY;
    let is_recent = |run: &&DreamRun| run.counts.applied > 0 && run.state != RunState::Undone && run.created_at > since;
    let recent: Vec<DreamId> = runs.iter().filter(is_recent).map(|run| run.id).collect();
    let ops = dreams::list_learned(&ctx.app.db, &ctx.principal, &recent).await?;
    let operations = ops.iter().filter_map(|op| Operation::read(op).ok());
    Ok(operations.map(|operation| format!("{} {}", operation.kind(), operation.target())).collect())
}

fn candidates(inputs: &Inputs, found: &FoundCandidates) -> Vec<String> {
    let name = |at: usize| inputs.skills[at].name.clone();
    let gaps: Vec<String> =
        found.gaps.iter().map(|gap| format!("{} ({} conversations)", inert_line(&gap.label), gap.sessions)).collect();
    let at_risk: Vec<String> = found.at_risk.iter().map(|risk| name(risk.skill)).collect();
    let overlaps: Vec<String> =
        found.overlaps.iter().map(|pair| format!("{} and {}", name(pair.first), name(pair.second))).collect();
    let solved = match found.solved.len() {
        0 => String::new(),
        many => format!("- Conversations that solved a problem without a skill: {many}."),
    };
    vec![
        named("Repeated requests without a skill", &gaps),
        named("Skills that failed", &at_risk),
        named("Skills with the same content", &overlaps),
        solved,
    ]
}

/// Returns a line with the first few names, or an empty string for an empty list.
fn named(what: &str, all: &[String]) -> String {
    let shown: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    match all.len().saturating_sub(NAMED) {
        _ if all.is_empty() => String::new(),
        0 => format!("- {what}: {}.", shown.join(", ")),
        more => format!("- {what}: {} and {more} more.", shown.join(", ")),
    }
}
