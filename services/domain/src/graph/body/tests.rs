use super::*;

fn found(body: &str) -> Vec<(RelationType, String)> {
    let own = extract_relations("team/own-skill", body).into_iter().filter(|found| found.subject.is_none());
    own.map(|found| (found.kind, found.name)).collect()
}

#[test]
fn relations_are_read_from_sentences_lists_and_sections() {
    use RelationType::{Complements, Enables, Requires, SeeAlso};
    let body = "Works well with web-perf\nand `mcp/email`. own-skill requires chrome-tools. `other-skill` requires zed-tools.\n\n\
                    It does not require not-this.\n\nRequires:\n\n- `one-skill`: for the first step\n- two-skill\n\n\
                    ```\nrequires `code-skill`\n```\n\n## Related skills\n\n- [Three](../three-skill/SKILL.md): more\n\n\
                    ### Others\n\n- four-skill\n\n## Procedure\n\n- five-skill\n- Then use six-skill.\n";
    let expected = [
        (Complements, "web-perf"),
        (Complements, "mcp/email"),
        (Requires, "chrome-tools"),
        (Requires, "one-skill"),
        (Requires, "two-skill"),
        (SeeAlso, "three-skill"),
        (SeeAlso, "four-skill"),
        (Enables, "six-skill"),
    ];
    assert_eq!(found(body), expected.map(|(kind, name)| (kind, name.to_owned())));
    let of_another = extract_relations("team/own-skill", "`other-skill` requires zed-tools.");
    assert_eq!(of_another[0].subject.as_deref(), Some("other-skill"));
}

#[test]
fn repeated_statements_are_one_relation_and_relations_are_limited() {
    let twice = extract_relations("a", "Requires b-c. It requires `b-c`, and own: requires a.");
    assert_eq!((twice.len(), twice[0].mentions), (1, 2));
    let many: String = (0..200).map(|n| format!("Requires x-{n}.\n\n")).collect();
    assert_eq!(extract_relations("a", &many).len(), MOST_EXTRACTED);
    assert_eq!(
        found("See also: `x-y`, z-z"),
        [(RelationType::SeeAlso, "x-y".into()), (RelationType::SeeAlso, "z-z".into())]
    );
}

#[test]
fn headings_and_labels_state_relations_in_several_languages() {
    use RelationType::{Complements, Enables, Requires};
    for (body, kind) in [
        ("## Prerequisites\n\n- `a-b` - first", Requires),
        ("**Required before this skill:**\n- **a-b** - first", Requires),
        ("## Voraussetzungen\n\n- `a-b`", Requires),
        ("## Siguientes pasos\n\n1. `/a-b` recoge el paquete", Enables),
        ("### Compétences complémentaires\n\n* a-b", Complements),
    ] {
        assert_eq!(found(body), [(kind, "a-b".to_owned())], "{body}");
    }
    assert!(found("## Prerequisites\n\n- Node 20\n\n## Steps\n\n- a-b").is_empty());
    assert!(found("## Requirements\n\n- web-search access\n\n## Next steps\n\n- follow-up with the client").is_empty());
    assert!(may_say_relations("## Nächste Schritte"));
}

#[test]
fn conditions_and_denials_state_no_relation() {
    for body in [
        "If the project requires b-c, stop.",
        "Nobody ever said this replaces b-c.",
        "Wenn das Projekt `b-c` erfordert, stoppe.",
        "Ce skill ne remplace pas `b-c`.",
    ] {
        assert!(found(body).is_empty(), "{body}");
    }
}
