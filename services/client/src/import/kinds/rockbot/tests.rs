use super::super::Kind;
use super::*;

#[test]
fn json_skills_and_memories_are_converted() {
    let email = r##"{"name": "mcp/email", "summary": "Send email", "content": "# Email\n\n1. Write it.\n",
            "createdAt": "2026-01-01T00:00:00Z", "seeAlso": ["mcp/calendar"]}"##;
    let bare = r##"{"name": "Plan_Trip", "summary": "", "content": "# Plan trips\n\nGo."}"##;
    let listing = Listing::with(
        "agent",
        &[
            ("skills/mcp/email.json", email),
            ("skills/mcp/email.resources/form.json", "{}"),
            ("skills/trip.json", bare),
            ("skills/broken.json", "{"),
            (
                "memory/user-preferences/1.json",
                r#"{"id": "1", "content": "Likes tea", "category": "user", "tags": ["a"]}"#,
            ),
            ("soul.md", "Be Rocky."),
            ("directives.md", "x"),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::Rockbot);
    let found = read(&listing);
    let [first, second] = &found.skills[..] else { panic!("{:?}", found.skills) };
    assert_eq!(first.folder, ["skills", "mcp", "email"]);
    assert_eq!(
        first.resources,
        [("resources/form.json".to_owned(), "skills/mcp/email.resources/form.json".to_owned())]
    );
    let document = SkillDocument::parse(first.made.as_deref().unwrap(), &Limits::default()).unwrap();
    assert_eq!((document.fields().description.as_str(), document.fields().see_also.len()), ("Send email", 1));
    assert_eq!(document.content(), "# Email\n\n1. Write it.\n");
    assert_eq!(second.folder, ["skills", "plan-trip"]);
    assert!(second.made.as_deref().unwrap().contains("description: Plan trips"));
    assert_eq!(found.memories[0].tags, ["a", "user"]);
    assert_eq!(found.refused[0].path, "skills/broken.json");
    assert_eq!(found.soul.unwrap().text, "Be Rocky.");
    assert_eq!(found.left_out[0].path, "directives.md");
}
