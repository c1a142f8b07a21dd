//! Checks an operation that archives a skill because another skill has absorbed it.

use super::Checked;
use super::lost_tokens::describe_lost;
use super::plan_state::PlanState;

/// Number of skills that may be archived in a run and in 30 days, even if the user has few skills.
const ALWAYS: usize = 3;
/// Divisor that gives the share of the user's open skills that a run may archive.
const ONE_OF_RUN: usize = 20;
/// Divisor that gives the share of the user's open skills that all runs within 30 days may archive.
const ONE_OF_MONTH: usize = 5;

pub(super) struct ArchiveCheck<'a> {
    pub(super) name: &'a str,
    pub(super) version: i32,
    pub(super) absorbed_into: &'a str,
}

impl ArchiveCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        let skill = state.whole_skill(self.name, self.version)?;
        if self.absorbed_into == self.name {
            return Err("a skill cannot be absorbed into itself".to_owned());
        }
        state.check_stays(self.absorbed_into)?;
        check_room(state, 1)?;
        let mut reasons = Vec::new();
        if !state.is_pair(self.name, self.absorbed_into) {
            reasons.push(format!(
                "'{}' and '{}' are not known duplicates: read both before you approve archiving '{0}'",
                self.name, self.absorbed_into
            ));
        }
        // If the absorbing skill lacks commands, numbers or names from this skill, a person decides.
        let lost = describe_lost(&[&state.document(skill)?], &state.text_by_then(self.absorbed_into)?);
        reasons.extend(lost.map(|lost| {
            format!(
                "archiving '{}' would lose {lost}. Add the needed ones to '{}' before you approve it",
                self.name, self.absorbed_into
            )
        }));
        Ok(reasons)
    }
}

/// Checks that archiving `more` skills stays within the limits for a run and for 30 days.
pub(super) fn check_room(state: &PlanState<'_>, more: usize) -> Result<(), String> {
    let archiving = state.shown.archiving;
    if archiving.days == 0 {
        return Err("skills are not archived, because the archive keeps them for 0 days".to_owned());
    }
    let in_run = state.archived().saturating_add(more);
    let most = ALWAYS.max(archiving.open_skills / ONE_OF_RUN);
    if in_run > most {
        return Err(format!(
            "{in_run} skills would be archived in one run; at most {most} of {} may be",
            archiving.open_skills
        ));
    }
    let in_month = archiving.archived_lately.saturating_add(in_run);
    let most = ALWAYS.max(archiving.open_skills / ONE_OF_MONTH);
    if in_month > most {
        return Err(format!(
            "{in_month} skills would be archived in 30 days; at most {most} of {} may be",
            archiving.open_skills
        ));
    }
    Ok(())
}
