//! Checks an operation that creates a guide: an overview of the skills with a common name prefix (a family). A guide
//! names these members without changing them, so members may be protected.

use std::collections::BTreeSet;

use super::Checked;
use super::plan_state::PlanState;
use super::temporary_content::check_no_new_secret;
use crate::learning::dream::Operation;
use crate::learning::dream::families::guided_prefix;
use crate::learning::dream::tokens::has_whole;

/// Minimum number of members that a guide must have.
const LEAST_MEMBERS: usize = 2;

pub(super) struct ParentCheck<'a> {
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) members: &'a [String],
    pub(super) body: &'a str,
}

impl ParentCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        let prefix = guided_prefix(self.name).filter(|prefix| state.shown.candidates.prefixes.contains(*prefix));
        let prefix = prefix.ok_or_else(|| format!("'{}' is not the guide of a known family", self.name))?;
        if !state.is_free(self.name) {
            return Err(format!("'{}' exists already", self.name));
        }
        let members: BTreeSet<&str> = self.members.iter().map(String::as_str).collect();
        if members.len() < LEAST_MEMBERS {
            return Err(format!("a family needs at least {LEAST_MEMBERS} skills"));
        }
        for member in members {
            if !member.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/')) {
                return Err(format!("'{member}' does not begin with '{prefix}/'"));
            }
            state.check_stays(member)?;
            if !has_whole(self.body, member) {
                return Err(format!("the guide does not name '{member}'"));
            }
        }
        let document = state.written(self.operation, None)?;
        check_no_new_secret(&[], &document)?;
        Ok(Vec::new())
    }
}
