use knowhow_domain::{Limits, SkillDocument};

use super::super::Kind;
use super::*;

fn parsed(text: &str) -> SkillDocument {
    SkillDocument::parse(text, &Limits::default()).unwrap()
}

#[test]
fn a_skill_takes_precedence_over_a_command_of_the_same_name() {
    let skill = "---\nname: ship\ndescription: Ships. Use when asked.\n---\n\nThe procedure.\n";
    let listing = Listing::with(
        "d",
        &[
            (".claude-plugin/plugin.json", "{}"),
            ("commands/Ship.md", "---\ndescription: Runs ship.\n---\n\nInvoke the ship skill.\n"),
            ("commands/other.md", "Do it.\n"),
            ("skills/ship/SKILL.md", skill),
        ],
    );
    let found = read(&listing);
    let mut folders: Vec<String> = found.skills.iter().map(|skill| skill.folder.join("/")).collect();
    folders.sort();
    assert_eq!(folders, ["skills/commands/Ship", "skills/other", "skills/ship"]);
}

#[test]
fn commands_are_converted_to_skills() {
    let listing = Listing::with(
        "project",
        &[
            (
                ".claude/commands/review.md",
                "---\ndescription: Reviews\nallowed-tools: Bash(git:*)\n---\n\nReview $1.\n",
            ),
            (".claude/commands/front/My_Part.md", "# Make a \"part\"\n\nDo it.\n"),
            (".claude/commands/README.md", "x"),
            (".claude/agents/helper.md", "x"),
            (".claude/skills/foo/SKILL.md", ""),
            (".claude/skills/foo/commands/x.md", ""),
            ("plugins/p/.claude-plugin/plugin.json", "{}"),
            ("plugins/p/commands/ship.md", "Ship it."),
            ("docs/commands/not-one.md", "x"),
            ("CLAUDE.md", "x"),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::ClaudeCode);
    let found = read(&listing);
    let folders: Vec<String> = found.skills.iter().map(|skill| skill.folder.join("/")).collect();
    assert_eq!(
        folders,
        [".claude/skills/front/My_Part", ".claude/skills/review", "plugins/p/skills/ship", ".claude/skills/foo"]
    );
    let part = parsed(found.skills[0].made.as_deref().unwrap());
    assert_eq!((part.name_in_frontmatter(), part.fields().description.as_str()), ("my-part", "Make a \"part\""));
    let review = parsed(found.skills[1].made.as_deref().unwrap());
    assert_eq!(review.fields().attributes.allowed_tools.as_deref(), Some("Bash(git:*)"));
    assert_eq!((review.fields().description.as_str(), review.content()), ("Reviews", "Review $1.\n"));
    let left: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(left, [".claude/agents", ".claude/commands/README.md", "CLAUDE.md"]);
}
