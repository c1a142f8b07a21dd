//! Families: groups of skills with a common name prefix. A family can have a guide, a skill that gives an overview of
//! it.

use std::collections::{BTreeMap, BTreeSet};

/// Last part of a guide's name.
const GUIDE: &str = "guide";

/// Skills with a common name prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family<'a> {
    /// Part of the names before the last `/`.
    pub prefix: &'a str,
    /// Full names, sorted, without the guide.
    pub members: Vec<&'a str>,
    /// Whether `{prefix}/guide` exists.
    pub has_guide: bool,
}

/// Returns the prefix of a guide's name: `mcp` for `mcp/guide`. Returns `None` for all other names.
pub(super) fn guided_prefix(name: &str) -> Option<&str> {
    let (prefix, last) = name.rsplit_once('/')?;
    (last == GUIDE && !prefix.is_empty()).then_some(prefix)
}

/// Returns whether a name is a guide's: `{prefix}/guide`.
pub fn is_guide(name: &str) -> bool {
    guided_prefix(name).is_some()
}

/// Returns the families with at least two skills, not counting the guide, sorted by prefix.
pub fn find_families<'a>(names: &[&'a str]) -> Vec<Family<'a>> {
    let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut guided = BTreeSet::new();
    for name in names {
        match (guided_prefix(name), name.rsplit_once('/')) {
            (_, Some(("", _) | (_, "")) | None) => {}
            (Some(prefix), _) => {
                guided.insert(prefix);
            }
            (None, Some((prefix, _))) => {
                members.entry(prefix).or_default().insert(name);
            }
        }
    }
    let families = members.into_iter().filter(|(_, members)| members.len() > 1);
    families
        .map(|(prefix, members)| Family {
            prefix,
            members: members.into_iter().collect(),
            has_guide: guided.contains(prefix),
        })
        .collect()
}

#[cfg(test)]
mod tests;
