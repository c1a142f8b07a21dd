//! A guide to a family of skills. It leads to them and changes none, so it may name protected ones.

use std::collections::BTreeSet;

use super::Checked;
use super::course::Course;
use super::lasting::check_no_new_secret;
use crate::dream::Operation;
use crate::dream::families::guided_prefix;
use crate::dream::tokens::has_whole;

/// Skills that make a family.
const LEAST_MEMBERS: usize = 2;

pub(super) struct Guide<'a> {
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) members: &'a [String],
    pub(super) body: &'a str,
}

impl Guide<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        let prefix = guided_prefix(self.name).filter(|prefix| course.shown.candidates.prefixes.contains(*prefix));
        let prefix = prefix.ok_or_else(|| format!("'{}' is the guide of no family that was found", self.name))?;
        if !course.is_free(self.name) {
            return Err(format!("'{}' exists already", self.name));
        }
        let members: BTreeSet<&str> = self.members.iter().map(String::as_str).collect();
        if members.len() < LEAST_MEMBERS {
            return Err(format!("a family has at least {LEAST_MEMBERS} skills"));
        }
        for member in members {
            if !member.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')) {
                return Err(format!("'{member}' does not begin with '{prefix}/'"));
            }
            course.check_stays(member)?;
            if !has_whole(self.body, member) {
                return Err(format!("the guide does not name '{member}'"));
            }
        }
        let document = course.written(self.operation, None)?;
        check_no_new_secret(&[], &document)?;
        Ok(Vec::new())
    }
}
