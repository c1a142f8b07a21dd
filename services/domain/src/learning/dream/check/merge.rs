//! Checks the merge of skills with the same content. Commands, numbers and names must be preserved.

use chrono::TimeDelta;

use super::archive::check_room;
use super::lost_tokens::describe_lost;
use super::plan_state::{PlanState, text_of};
use super::temporary_content::check_no_new_secret;
use super::{Checked, ShownSkill};
use crate::SkillDocument;
use crate::learning::dream::{Merged, Operation};

/// Maximum number of sources in a merge.
const SOURCES: usize = 5;
/// Number of days after a merge until the skill may be merged again.
const REST_DAYS: i64 = 30;
/// Maximum number of successive merges that lead to a skill, because each merge may lose content.
const CHAIN: u32 = 2;
/// Divisor of the longest source's length that gives the minimum length of the merged text. A shorter text has lost
/// content, even if no hard token is missing.
const SHORTENED_TO_ONE_OF: usize = 2;

pub(super) struct MergeCheck<'a> {
    pub(super) operation: &'a Operation,
    pub(super) into: &'a str,
    pub(super) sources: &'a [Merged],
}

impl MergeCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        if self.sources.len() > SOURCES {
            return Err(format!("it merges {} skills; at most {SOURCES} are merged at once", self.sources.len()));
        }
        let skills = self.skills(state)?;
        if skills.len() < 2 {
            return Err("it merges fewer than two skills".to_owned());
        }
        for skill in &skills {
            check_history(state, skill)?;
            if skill.has_files && skill.name != self.into {
                return Err(format!("'{}' has files other than SKILL.md, which a merge would lose", skill.name));
            }
        }
        check_room(state, self.operation.taken_away().len())?;
        let reasons = unfound_pairs(state, &skills);
        Ok(reasons.into_iter().chain(self.check_text(state, &skills)?).collect())
    }

    /// Returns all skills to merge: the sources, and the target if it exists.
    fn skills<'s>(&self, state: &PlanState<'s>) -> Result<Vec<&'s ShownSkill>, String> {
        let source = |source: &Merged| state.whole_skill(&source.name, source.version);
        let mut skills = self.sources.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        let is_source = self.sources.iter().any(|source| source.name == self.into);
        if !is_source && !state.is_free(self.into) {
            let version = state.shown_skill(self.into).map_or(0, |skill| skill.version);
            skills.push(state.whole_skill(self.into, version)?);
        }
        Ok(skills)
    }

    fn check_text(&self, state: &PlanState<'_>, skills: &[&ShownSkill]) -> Checked {
        let before = skills.iter().map(|skill| state.document(skill)).collect::<Result<Vec<_>, _>>()?;
        let before: Vec<&SkillDocument> = before.iter().collect();
        let now = skills.iter().zip(&before).find(|(skill, _)| skill.name == self.into);
        let after = state.written(self.operation, now.map(|(_, document)| *document))?;
        check_no_new_secret(&before, &after)?;
        let lost = describe_lost(&before, &text_of(&after))
            .map(|lost| format!("the merge would lose {lost}. Approve it only if they are not needed"));
        Ok(shortened(&before, &after).into_iter().chain(lost).collect())
    }
}

/// Checks that a skill was not merged too recently or too often.
fn check_history(state: &PlanState<'_>, skill: &ShownSkill) -> Result<(), String> {
    let rests = skill.merged_at.is_some_and(|at| state.shown.now - at < TimeDelta::days(REST_DAYS));
    match skill {
        _ if rests => Err(format!("'{}' was merged within the last {REST_DAYS} days and rests", skill.name)),
        _ if skill.merges >= CHAIN => Err(format!(
            "'{}' is the result of {} successive merges: it must not be merged again",
            skill.name, skill.merges
        )),
        _ => Ok(()),
    }
}

/// Returns a reason to wait for each pair of skills that is not a candidate pair.
fn unfound_pairs(state: &PlanState<'_>, skills: &[&ShownSkill]) -> Vec<String> {
    let mut reasons = Vec::new();
    for (at, one) in skills.iter().enumerate() {
        for other in &skills[at + 1..] {
            if !state.is_pair(&one.name, &other.name) {
                reasons.push(format!(
                    "'{}' and '{}' are not known duplicates: read both before you approve the merge",
                    one.name, other.name
                ));
            }
        }
    }
    reasons
}

/// Returns a reason to wait if the merged text is less than half as long as the longest source.
fn shortened(before: &[&SkillDocument], after: &SkillDocument) -> Option<String> {
    let length = |document: &SkillDocument| document.content().trim().chars().count();
    let longest = before.iter().map(|document| length(document)).max().unwrap_or_default();
    (length(after) * SHORTENED_TO_ONE_OF < longest)
        .then(|| format!("the merged text has {} characters, but one of the sources has {longest}", length(after)))
}
