//! A skill leaves, where another one that stays has what it said.

use super::Checked;
use super::course::Course;
use super::merge::lost;

/// So many skills may be archived however few there are.
const ALWAYS: usize = 3;
/// One skill of so many may be archived in a run.
const ONE_OF_RUN: usize = 20;
/// One skill of so many may be archived in 30 days.
const ONE_OF_MONTH: usize = 5;

pub(super) struct Leaving<'a> {
    pub(super) name: &'a str,
    pub(super) version: i32,
    pub(super) absorbed_into: &'a str,
}

impl Leaving<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        let skill = course.whole_skill(self.name, self.version)?;
        if self.absorbed_into == self.name {
            return Err("a skill cannot be absorbed into itself".to_owned());
        }
        course.check_stays(self.absorbed_into)?;
        check_room(course, 1)?;
        let mut reasons = Vec::new();
        if !course.is_pair(self.name, self.absorbed_into) {
            reasons.push(format!(
                "code did not find that '{}' and '{}' say the same: read both before you let '{0}' be archived",
                self.name, self.absorbed_into
            ));
        }
        // It was absorbed only if the other one has its commands, numbers and names.
        let lost = lost(&[&course.document(skill)?], &course.text_by_then(self.absorbed_into)?);
        reasons.extend(lost.map(|lost| {
            format!(
                "to archive '{}' would lose {lost}. Add to '{}' what is needed of them before you let it in",
                self.name, self.absorbed_into
            )
        }));
        Ok(reasons)
    }
}

/// Checks that so many more skills may be archived.
pub(super) fn check_room(course: &Course<'_>, more: usize) -> Result<(), String> {
    let archiving = course.shown.archiving;
    if archiving.days == 0 {
        return Err("nothing is archived, as the archive keeps skills for 0 days".to_owned());
    }
    let in_run = course.archived().saturating_add(more);
    let most = ALWAYS.max(archiving.open_skills / ONE_OF_RUN);
    if in_run > most {
        return Err(format!(
            "{in_run} skills would be archived in one run; at most {most} of {} are",
            archiving.open_skills
        ));
    }
    let in_month = archiving.archived_lately.saturating_add(in_run);
    let most = ALWAYS.max(archiving.open_skills / ONE_OF_MONTH);
    if in_month > most {
        return Err(format!(
            "{in_month} skills would be archived in 30 days; at most {most} of {} are",
            archiving.open_skills
        ));
    }
    Ok(())
}
