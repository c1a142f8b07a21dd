use super::*;

#[test]
fn a_change_that_touches_no_relation_needs_no_job() {
    let text =
        |words: &str| format!("---\nname: a\n---\n\n## Related\n\n- b-b\n\n## Steps\n\n1. {words}\n\nRequires c-c.\n");
    let (one, other) = (text("Fold it."), text("Fold it twice."));
    assert!(!touches_relations(&one, &other) && !says_other_relations(Some(&one), &other));
    assert!(says_other_relations(Some(&one), &text("Fold it. It works well with d-d.")));
    assert!(says_other_relations(Some(&one), &one.replace("- b-b", "- b-b\n- e-e")), "below a heading");
    assert!(says_other_relations(Some(&one), &one.replace("Requires c-c", "Requires c-c and e-e")));
    assert!(says_other_relations(Some(&text("Fold it.\n")), &text("Fold it.\n\n```\n")), "what follows is code");
    assert!(says_other_relations(Some(&one), &text("Fold `e-e`.")), "a reference");
    assert!(says_other_relations(None, &one) && !says_other_relations(Some(&one), &one));
    assert!(says_other_relations(Some(&one), "Größe"), "characters of several bytes");
    assert!(!says_other_relations(Some("ä"), "ö"));
}
