//! Runs the review checks that need no model, before a change is written.

use std::collections::HashSet;

use knowhow_domain::{ChangeKind, Check, CheckOutcome, CheckStep, Error, Result, Source};
use knowhow_store::WriteTx;
use knowhow_store::skills::SkillState;

use super::draft::Draft;
use super::proposal::author;
use super::review_policy::{is_reviewed, policy_check};
use super::scan::{HoldingFindings, scan};
use crate::Ctx;

/// Runs the review checks on a change, and returns them if all passed. Returns an empty list if the tenant has turned
/// reviews off.
///
/// # Errors
/// `MustBeReviewed` with the checks if one of them holds the change; `Invalid` if the scanner rejects the change.
pub(crate) async fn check(ctx: &Ctx, tx: &mut WriteTx, draft: &Draft, base: Option<&SkillState>) -> Result<Vec<Check>> {
    if !is_reviewed(ctx) {
        return Ok(Vec::new());
    }
    let change = Reviewing { draft, base, is_submitted: false };
    let checks = take(ctx, tx, change).await?;
    if holds(&checks) { Err(Error::MustBeReviewed(checks)) } else { Ok(checks) }
}

/// Runs the review checks on a change that a background process proposes, even if the tenant has turned reviews off.
/// The scanner verdict `review` is enough to hold the change.
pub(crate) async fn check_proposed(
    ctx: &Ctx,
    tx: &mut WriteTx,
    draft: &Draft,
    base: Option<&SkillState>,
) -> Result<Vec<Check>> {
    take(ctx, tx, Reviewing { draft, base, is_submitted: true }).await
}

/// A change to check.
#[derive(Clone, Copy)]
pub(crate) struct Reviewing<'a> {
    pub(crate) draft: &'a Draft,
    /// The skill to change; `None` for a new skill.
    pub(crate) base: Option<&'a SkillState>,
    /// Whether the change was submitted for review or proposed by a background process. The scanner verdict `review`
    /// then holds the change.
    pub(crate) is_submitted: bool,
}

/// Runs the structure, scan, tools and policy checks. The taint is not checked here, because the database determines it
/// when the change is written.
///
/// # Errors
/// `Invalid` if the scanner rejects the change; `Unavailable`.
pub(crate) async fn take(ctx: &Ctx, tx: &mut WriteTx, change: Reviewing<'_>) -> Result<Vec<Check>> {
    let Reviewing { draft, base, is_submitted } = change;
    let is_imported = matches!(draft.kind, ChangeKind::Import | ChangeKind::Sync);
    let is_agents = author(ctx) == Source::Agent;
    let holding = match base {
        _ if is_submitted || is_imported => HoldingFindings::All,
        None if !is_agents => HoldingFindings::Nothing,
        _ => HoldingFindings::UnaskedCommands,
    };
    let scanned = scan(tx, draft, base, holding).await?;
    // An import without a session comes from the command line with an API key, so no agent has chosen its tools.
    let is_given = is_agents && !(is_imported && ctx.call.session.is_none());
    Ok(vec![Check::passed(CheckStep::Structure), scanned, tools(draft, base, is_given), policy_check(ctx)])
}

/// Returns whether a check holds the change, so that a reviewer has to decide.
pub(crate) fn holds(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.outcome != CheckOutcome::Passed)
}

/// Returns whether each scanner rule with a finding in `checks` also has a finding in `earlier`.
pub(crate) fn finds_no_more(checks: &[Check], earlier: &[Check]) -> bool {
    fn rules(checks: &[Check]) -> HashSet<&str> {
        let findings = checks.iter().flat_map(|check| &check.findings);
        findings.filter_map(|finding| finding.get("rule")?.as_str()).collect()
    }
    rules(checks).is_subset(&rules(earlier))
}

/// Tools that change no files and use no network. An agent may allow them in a new skill without a review.
const HARMLESS_TOOLS: [&str; 8] =
    ["Read", "Glob", "Grep", "LS", "NotebookRead", "TodoRead", "TodoWrite", "AskUserQuestion"];

/// Holds a change that adds allowed tools, because a trusted skill must not gain tools without approval. A new skill
/// is held only if an agent writes it (`is_given`) and it allows more than `HARMLESS_TOOLS`.
fn tools(draft: &Draft, base: Option<&SkillState>, is_given: bool) -> Check {
    let now = words(draft.document.fields().attributes.allowed_tools.as_deref().unwrap_or(""));
    let before = match base {
        Some(base) => words(base.attributes.allowed_tools.as_deref().unwrap_or("")),
        None if is_given => HashSet::from(HARMLESS_TOOLS),
        None => return Check::passed(CheckStep::Tools),
    };
    if now.is_subset(&before) {
        return Check::passed(CheckStep::Tools);
    }
    Check::held(CheckStep::Tools, "it allows additional tools; a person has to decide")
}

/// Splits a list of tools at blanks or commas. Text in parentheses belongs to the tool before it.
fn words(tools: &str) -> HashSet<&str> {
    let mut depth = 0_usize;
    let parts = tools.split(|c: char| {
        depth = match c {
            '(' => depth + 1,
            ')' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts.map(str::trim).filter(|tool| !tool.is_empty()).collect()
}

#[cfg(test)]
mod tests;
