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
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_tell_what_is_proposed_and_not_how() {
        let source = |name: &str, version: i32| json!({"name": name, "version": version});
        for (operation, keys) in [
            (json!({"op": "create", "name": "a/b", "description": "d", "body": "x"}), &["create:a/b"][..]),
            (
                json!({"op": "patch", "name": "a", "version": 7, "edits": [{"old_string": "x", "new_string": ""}]}),
                &["patch:a"],
            ),
            (
                json!({"op": "parent", "name": "m/guide", "members": ["m/a"], "description": "d", "body": "x"}),
                &["parent:m/guide"],
            ),
            (json!({"op": "archive", "name": "a", "version": 2, "absorbed_into": "b"}), &["archive:a", "merge:a+b"]),
            (json!({"op": "see_also", "name": "a", "add": ["c", "b", "c"]}), &["see_also:a>b", "see_also:a>c"]),
            (
                json!({"op": "merge", "into": "b", "sources": [source("c", 1), source("b", 2), source("a", 3)],
                    "description": "d", "body": "x"}),
                &["merge:a+b", "merge:a+c", "merge:b+c"],
            ),
            (
                json!({"op": "merge", "into": "n", "sources": [source("a", 1)], "description": "d", "body": "x"}),
                &["merge:a+n"],
            ),
        ] {
            let operation: Operation = serde_json::from_value(operation).unwrap();
            assert_eq!(rest_keys(&operation), keys);
        }
    }
}
