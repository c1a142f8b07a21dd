use serde_json::json;

use super::*;

#[test]
fn keys_depend_on_what_is_proposed_and_not_on_its_wording() {
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
