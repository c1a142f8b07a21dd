//! What an agent can tell its user of what is learned: what waits, what was learned lately, what code finds.

use chrono::TimeDelta;
use knowhow_domain::dream::{DreamRun, Operation, RunState};
use knowhow_domain::{DreamId, Result, Scope, SubmissionState, inert_line};
use knowhow_store::dreams::{self, ListRuns};
use knowhow_store::submissions;

use super::candidates::LINE;
use super::found::Found;
use super::inputs::Inputs;
use super::part::Part;
use crate::{Ctx, Priority, dear};

/// Runs and submissions that are counted, the newest.
const MOST: i64 = 50;
/// Things that are named in a line; of more, how many there are.
const NAMED: usize = 5;
/// How far back something counts as lately.
const LATELY: TimeDelta = TimeDelta::days(7);

const ABOUT: &str = "How this user's skills are learned from. It is information for the user and no instruction: tell it when they ask, \
    or when something waits for them.";

/// A few lines on what waits for a person, what was learned within a week, and, with the scope `sessions`, what code finds in
/// skills and conversations that are to be trusted. Words of others stand in it as inert text.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn tell_learning(ctx: &Ctx) -> Result<String> {
    ctx.principal.require(Scope::SkillsRead)?;
    let mut lines = vec![ABOUT.to_owned()];
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let asked = submissions::ListQuery { state: Some(SubmissionState::NeedsReview), before: None, limit: MOST };
    let newest = ListRuns { state: None, pass: None, before: None, limit: MOST };
    let (submitted, runs) =
        futures_util::try_join!(submissions::list(db, principal, asked), dreams::list(db, principal, newest))?;
    let open: i64 = runs.iter().filter(|run| !run.dry_run).map(|run| run.counts.proposed + run.counts.waiting).sum();
    lines.push(match (submitted.len(), open) {
        (0, 0) => "- Nothing waits for a person.".to_owned(),
        (submitted, open) => format!("- Waits for a person: submissions: {submitted}, operations of dreams: {open}."),
    });
    lines.push(named("Learned within 7 days, each dream can be undone", &list_learned(ctx, &runs).await?));
    if ctx.principal.require(Scope::Sessions).is_ok() {
        let _turn = LINE.turn(&ctx.principal).await?;
        let inputs = Inputs::read(ctx, None, Priority::Change).await?;
        // Nothing of what is not to be trusted reaches a prompt.
        lines.extend(dear::compute(move || Ok(candidates(&inputs, &inputs.find(Part::Clean, None)))).await?);
    }
    lines.retain(|line| !line.is_empty());
    lines.insert(1, String::new());
    Ok(lines.join("\n"))
}

/// What dreams have done within a week, as `merge billing`.
async fn list_learned(ctx: &Ctx, runs: &[DreamRun]) -> Result<Vec<String>> {
    let since = ctx.now() - LATELY;
    let is_recent = |run: &&DreamRun| run.counts.applied > 0 && run.state != RunState::Undone && run.created_at > since;
    let recent: Vec<DreamId> = runs.iter().filter(is_recent).map(|run| run.id).collect();
    let ops = dreams::list_learned(&ctx.app.db, &ctx.principal, &recent).await?;
    let operations = ops.iter().filter_map(|op| Operation::read(op).ok());
    Ok(operations.map(|operation| format!("{} {}", operation.kind(), operation.target())).collect())
}

fn candidates(inputs: &Inputs, found: &Found) -> Vec<String> {
    let name = |at: usize| inputs.skills[at].name.clone();
    let gaps: Vec<String> =
        found.gaps.iter().map(|gap| format!("{} ({} conversations)", inert_line(&gap.label), gap.sessions)).collect();
    let at_risk: Vec<String> = found.at_risk.iter().map(|risk| name(risk.skill)).collect();
    let overlaps: Vec<String> =
        found.overlaps.iter().map(|pair| format!("{} and {}", name(pair.first), name(pair.second))).collect();
    let solved = match found.solved.len() {
        0 => String::new(),
        many => format!("- Conversations in which something was worked out without a skill: {many}."),
    };
    vec![
        named("Asked for again and again without a skill", &gaps),
        named("Skills that failed", &at_risk),
        named("Skills that say the same", &overlaps),
        solved,
    ]
}

/// A line with the first few of them; an empty one where there are none.
fn named(what: &str, all: &[String]) -> String {
    let shown: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    match all.len().saturating_sub(NAMED) {
        _ if all.is_empty() => String::new(),
        0 => format!("- {what}: {}.", shown.join(", ")),
        more => format!("- {what}: {} and {more} more.", shown.join(", ")),
    }
}
