//! Keys of operations. Undone or rejected operations rest: for a while, no operation with one of their keys is
//! accepted. The keys ignore wording, because a model words the same idea differently each night.

use std::collections::BTreeSet;

use super::Operation;

/// Returns the keys of an operation, sorted and distinct. They do not depend on its texts, versions or reasons. An
/// operation rests while any of its keys rests. The keys are:
///
/// - `create:name`, `patch:name`, `parent:name`, `archive:name`
/// - `merge:a+b` for each pair of skills that become one, by a merge or by archiving one of them
/// - `see_also:name>other` for each `see_also` entry
pub fn rest_keys(operation: &Operation) -> Vec<String> {
    match operation {
        Operation::Create { name, .. } | Operation::Patch { name, .. } | Operation::Parent { name, .. } => {
            vec![format!("{}:{name}", operation.kind())]
        }
        // An archived skill is joined with the skill that absorbs it, so the pair has the key of a merge too.
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
        Operation::SeeAlso { name, add, .. } => {
            let targets: BTreeSet<&String> = add.iter().collect();
            targets.into_iter().map(|target| format!("see_also:{name}>{target}")).collect()
        }
    }
}

#[cfg(test)]
mod tests;
