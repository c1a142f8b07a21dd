use serde_json::{Value, json};

use super::*;

#[test]
fn an_operation_changes_an_existing_skill_or_creates_a_missing_one() {
    let limits = Limits::default();
    let operation = |value: Value| serde_json::from_value::<Operation>(value).unwrap();
    let now = "---\nname: a\ndescription: Old.\nlicense: MIT # kept\nsee-also: [b]\n---\n\nOne.\n";
    let now = SkillDocument::parse_named(now, &limits).unwrap();
    let raw = |value: Value| {
        operation(value).document(Some(&now), &limits).map(|made| made.map(|made| made.raw().to_owned()))
    };
    let merge = json!({"op": "merge", "into": "a", "sources": [], "description": "New.", "body": "Two.\n"});
    let merged = raw(merge.clone()).unwrap().unwrap();
    assert!(
        merged.contains("license: MIT # kept") && merged.contains("New.") && merged.ends_with("Two.\n"),
        "{merged}"
    );
    let pointing = raw(json!({"op": "see_also", "name": "a", "add": ["b", "c", "c"]})).unwrap().unwrap();
    assert!(pointing.ends_with("see-also:\n  - b\n  - c\n---\n\nOne.\n"), "{pointing}");
    assert_eq!(raw(json!({"op": "archive", "name": "a", "version": 1, "absorbed_into": "b"})).unwrap(), None);
    // If the skill does not exist, a merge creates it; adding a `see_also` entry fails.
    assert!(operation(merge).document(None, &limits).unwrap().unwrap().raw().contains("Two."));
    assert!(operation(json!({"op": "see_also", "name": "a", "add": ["b"]})).document(None, &limits).is_err());
}
