//! The steps of the review that code takes before a change is written.

use std::collections::HashSet;

use knowhow_domain::settings::ReviewPolicy;
use knowhow_domain::{ChangeKind, Check, CheckOutcome, CheckStep, Error, Result};
use knowhow_store::WriteTx;
use knowhow_store::skills::SkillState;

use super::scan::scan;
use crate::Ctx;
use crate::skills::draft::Draft;

/// Whether a tainted text must be reviewed before it is anybody's skill.
pub(crate) fn is_reviewed(ctx: &Ctx) -> bool {
    ctx.principal.settings().review != ReviewPolicy::Off
}

/// Refuses a change that must be reviewed before it is made; the steps that were taken, where it need not.
///
/// # Errors
/// `MustBeReviewed`, with the steps that were taken; `Invalid` for what is not to be taken at all.
pub(crate) async fn check(ctx: &Ctx, tx: &mut WriteTx, draft: &Draft, base: Option<&SkillState>) -> Result<Vec<Check>> {
    if !is_reviewed(ctx) {
        return Ok(Vec::new());
    }
    let change = Reviewing { draft, base, is_submitted: false };
    let checks = take(ctx, tx, change).await?;
    if holds(&checks) { Err(Error::MustBeReviewed(checks)) } else { Ok(checks) }
}

/// Takes the steps for what a background process proposes, of which also what the scanner only wants looked at is held.
///
/// # Errors
/// As [`take`].
pub(crate) async fn check_proposed(
    ctx: &Ctx,
    tx: &mut WriteTx,
    draft: &Draft,
    base: Option<&SkillState>,
) -> Result<Vec<Check>> {
    take(ctx, tx, Reviewing { draft, base, is_submitted: true }).await
}

/// A change that goes through the steps.
#[derive(Clone, Copy)]
pub(super) struct Reviewing<'a> {
    pub(super) draft: &'a Draft,
    /// The skill that it changes.
    pub(super) base: Option<&'a SkillState>,
    /// Whether somebody wants it looked at, or its text is not trusted.
    pub(super) is_submitted: bool,
}

/// Takes the steps that need nothing but the change itself. The database weighs its taint as it is written.
///
/// # Errors
/// `Invalid` for what is not to be taken at all; `Unavailable`.
pub(super) async fn take(ctx: &Ctx, tx: &mut WriteTx, change: Reviewing<'_>) -> Result<Vec<Check>> {
    let Reviewing { draft, base, is_submitted } = change;
    let heeds_reviews = is_submitted || matches!(draft.kind, ChangeKind::Import | ChangeKind::Sync);
    let scanned = scan(tx, draft, base, heeds_reviews).await?;
    Ok(vec![passed(CheckStep::Structure), scanned, tools(draft, base), policy(ctx)])
}

/// Whether a person has to decide.
pub(crate) fn holds(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.outcome != CheckOutcome::Passed)
}

/// Whether a scan has found nothing but what an earlier one had found too.
pub(super) fn finds_no_more(checks: &[Check], earlier: &[Check]) -> bool {
    fn rules(checks: &[Check]) -> HashSet<&str> {
        let findings = checks.iter().flat_map(|check| &check.findings);
        findings.filter_map(|finding| finding.get("rule")?.as_str()).collect()
    }
    rules(checks).is_subset(&rules(earlier))
}

pub(super) fn passed(step: CheckStep) -> Check {
    Check { step, outcome: CheckOutcome::Passed, reasons: Vec::new(), findings: Vec::new(), rules: None, ms: 0 }
}

pub(super) fn held(step: CheckStep, reason: &str) -> Check {
    Check { outcome: CheckOutcome::Held, reasons: vec![reason.to_owned()], ..passed(step) }
}

/// Tools that a skill may use unasked do not become more behind the back of whoever has taken it.
fn tools(draft: &Draft, base: Option<&SkillState>) -> Check {
    let before = base.map(|base| base.attributes.allowed_tools.as_deref().unwrap_or(""));
    let now = draft.document.fields().attributes.allowed_tools.as_deref().unwrap_or("");
    match before {
        Some(before) if !words(now).is_subset(&words(before)) => {
            held(CheckStep::Tools, "it allows tools that it did not allow before; a person will look at it")
        }
        _ => passed(CheckStep::Tools),
    }
}

/// Tools are parted by blanks or commas; what stands in brackets belongs to its tool.
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

pub(super) fn policy(ctx: &Ctx) -> Check {
    match ctx.principal.settings().review {
        ReviewPolicy::All => {
            held(CheckStep::Policy, "every change of a skill is reviewed here; a person will look at it")
        }
        ReviewPolicy::Off | ReviewPolicy::Tainted => passed(CheckStep::Policy),
    }
}

#[cfg(test)]
mod tests;
