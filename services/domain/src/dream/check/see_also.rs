//! A skill points at others. Its own frontmatter is edited, so it must be open to learning; those that it points at need not be.

use super::Checked;
use super::course::Course;
use crate::dream::Operation;

/// Most skills that one is made to point at.
pub const MOST_POINTERS: usize = 8;

pub(super) struct Pointers<'a> {
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) add: &'a [String],
}

impl Pointers<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        // What an operation before makes is the dream's own, and has no text yet.
        let is_new = course.shown_skill(self.name).is_none() && course.check_stays(self.name).is_ok();
        let document = if is_new { None } else { Some(course.document(course.open_skill(self.name)?)?) };
        for target in self.add {
            if target == self.name {
                return Err("a skill cannot point at itself".to_owned());
            }
            course.check_stays(target)?;
        }
        let before = document.as_ref().map_or(0, |document| document.fields().see_also.len());
        let all = self.operation.fields(document.as_ref()).see_also.unwrap_or_default();
        if all.len() == before {
            return Err(format!("'{}' points at them already", self.name));
        }
        if all.len() > MOST_POINTERS {
            return Err(format!("'{}' would point at {} skills; at most {MOST_POINTERS} help", self.name, all.len()));
        }
        if document.is_some() {
            course.written(self.operation, document.as_ref())?;
        }
        Ok(Vec::new())
    }
}
