//! What a person has undone or rejected is not proposed again for a while. Proposals are known again by coarse keys, as a model
//! words the same idea anew each night.

use std::collections::BTreeSet;

use super::Operation;

/// The keys by which an operation is known again, whatever its texts, versions and reasons are: `create:name`, `patch:name`,
/// `parent:name`, `archive:name`, `merge:a+b` for each two skills that would become one (also by archiving), `see_also:name>other` for each other one.
/// In order, each once. An operation rests while any of its keys does.
pub fn rest_keys(operation: &Operation) -> Vec<String> {
    match operation {
        Operation::Create { name, .. } | Operation::Patch { name, .. } | Operation::Parent { name, .. } => {
            vec![format!("{}:{name}", operation.kind())]
        }
        // To archive one skill for another joins the two as well.
        Operation::Archive { name, absorbed_into, .. } => {
            let (first, second) = (name.min(absorbed_into), name.max(absorbed_into));
            vec![format!("archive:{name}"), format!("merge:{first}+{second}")]
        }
        Operation::Merge { into, sources, .. } => {
            let joined: BTreeSet<&str> =
                sources.iter().map(|source| source.name.as_str()).chain([into.as_str()]).collect();
            let with_later = |first: &str| {
                let later = joined.range(first..).skip(1);
                later.map(|second| format!("merge:{first}+{second}")).collect::<Vec<_>>()
            };
            joined.iter().flat_map(|first| with_later(first)).collect()
        }
        Operation::SeeAlso { name, add } => {
            let targets: BTreeSet<&String> = add.iter().collect();
            targets.into_iter().map(|target| format!("see_also:{name}>{target}")).collect()
        }
    }
}

#[cfg(test)]
mod tests;
