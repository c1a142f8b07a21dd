use super::*;
use crate::Limits;

#[test]
fn lists_of_skill_names_are_read_in_all_known_dialects() {
    let text = "---\nname: a\ndescription: Does a.\nsee-also: [mcp/email]\nrequires:\n  - Web-Perf\n  - 'not a name'\nmetadata:\n  extends: b-c, d-e\n  hermes:\n    related_skills: [f-g, mcp/email]\n  openclaw:\n    requires: {bins: [curl]}\n---\nDo.\n";
    let document = SkillDocument::parse(text, &Limits::default()).unwrap();
    let expected = [
        (RelationType::SeeAlso, "mcp/email", "see-also"),
        (RelationType::Requires, "web-perf", "requires"),
        (RelationType::Extends, "b-c", "extends"),
        (RelationType::Extends, "d-e", "extends"),
        (RelationType::SeeAlso, "f-g", "related_skills"),
    ];
    let found = declared_relations(&document);
    assert_eq!(found, expected.map(|(kind, name, key)| (kind, name.to_owned(), key)));
}
