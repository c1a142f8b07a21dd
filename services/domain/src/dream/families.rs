//! Skills whose names begin alike, which one guide could lead to.

use std::collections::{BTreeMap, BTreeSet};

/// The last part of a guide's name.
const GUIDE: &str = "guide";

/// Skills under one prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family<'a> {
    /// What stands before the last `/`.
    pub prefix: &'a str,
    /// The full names, sorted; the guide is not among them.
    pub members: Vec<&'a str>,
    /// Whether `{prefix}/guide` exists.
    pub has_guide: bool,
}

/// The prefix that a guide leads through, by the guide's name: `mcp` of `mcp/guide`. `None` for what is no guide.
pub(super) fn guided_prefix(name: &str) -> Option<&str> {
    let (prefix, last) = name.rsplit_once('/')?;
    (last == GUIDE && !prefix.is_empty()).then_some(prefix)
}

/// Whether a skill is a guide, by its name.
pub fn is_guide(name: &str) -> bool {
    guided_prefix(name).is_some()
}

/// The prefixes that two and more skills share besides their guide, by prefix.
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
