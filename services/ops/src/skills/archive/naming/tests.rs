use super::*;

/// Returns the names of skills with these folders, frontmatter names, and numbers that stand for their content.
fn names_of(found: &[(&str, &str, u8)]) -> Vec<String> {
    let folders: Vec<Vec<String>> =
        found.iter().map(|(path, ..)| path.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect()).collect();
    let found: Vec<FoundFolder<'_>> = folders
        .iter()
        .zip(found)
        .map(|(folder, (_, name, text))| FoundFolder { folder, in_frontmatter: name, digest: [*text; 32] })
        .collect();
    let shown = |named: Result<ImportName>| match named {
        Ok(ImportName::As(name)) => name.as_str().to_owned(),
        Ok(ImportName::SameAs(index)) => format!("same as {index}"),
        Err(error) => error.to_string(),
    };
    name_all(&found, 4).into_iter().map(shown).collect()
}

fn names(paths: &[&str]) -> Vec<String> {
    names_of(&paths.iter().zip(0..).map(|(path, text)| (*path, "x", text)).collect::<Vec<_>>())
}

fn name(path: &str, in_frontmatter: &str) -> String {
    names_of(&[(path, in_frontmatter, 0)]).remove(0)
}

#[test]
fn names_come_from_folders_first() {
    assert_eq!(name("getsentry+skills/pr-link-issue", "pr-link-issue"), "pr-link-issue");
    assert_eq!(name("mcp/email", "email"), "mcp/email");
    assert_eq!(name("mcp/email", "mcp/email"), "mcp/email");
    assert_eq!(name("letters", "Letters To The Editor"), "letters");
    assert_eq!(name("email-2", "email"), "email-2");
    assert_eq!(name(".claude/skills/mcp/email", "email"), "mcp/email");
    assert_eq!(name("repo/skills/email", "email"), "email");
    assert_eq!(name("a/Bad Folder/b/email", "email"), "b/email");
    assert_eq!(name("a/b/c/d/email", "email"), "b/c/d/email");
}

#[test]
fn names_come_from_the_frontmatter_if_the_folder_has_no_valid_name() {
    assert_eq!(name("", "email"), "email");
    assert_eq!(name("", "mcp/email"), "mcp/email");
    assert_eq!(name("My Folder", "email"), "email");
    assert_eq!(name("email-skill-main", "email"), "email");
    assert_eq!(name("skills", "email"), "email");
    assert!(name("", "My Skill").contains("my-skill"));
    assert_eq!(name("caf\u{e9}", "x y"), "cafe");
    assert_eq!(name("", "\u{5f00}\u{53d1}\u{7968}"), "kai-fa-piao");
    assert!(name("My Folder", "a_b").contains("a-b"));
}

#[test]
fn a_namespace_that_makes_the_name_too_long_is_cut() {
    let long = "a".repeat(64);
    assert_eq!(name(&format!("{long}/{long}/{long}/{long}"), "x"), format!("{long}/{long}/{long}"));
}

#[test]
fn different_skills_with_one_name_are_prefixed_with_the_parent_folder() {
    assert_eq!(
        names(&["one+skills/github", "two+skills/github", "two+skills/gitlab"]),
        ["one-skills/github", "two-skills/github", "gitlab"]
    );
    assert_eq!(names(&[".claude/skills/foo", ".agents/skills/foo"]), ["claude/foo", "agents/foo"]);
    assert_eq!(names(&["a/skills/foo", "b/skills/foo"]), ["a/foo", "b/foo"]);
    assert_eq!(names(&["skills/foo", "m/skills/foo"]), ["foo", "m/foo"]);
    assert_eq!(names(&["x/a/skills/foo", "y/a/skills/foo"]), ["x/a/foo", "y/a/foo"]);
    assert_eq!(names(&["a/skills/foo", "b/skills/foo", "a/foo"]), ["a/foo", "b/foo", "a/foo"]);
    assert_eq!(names(&["", ""]), ["x", "x"], "nothing is left to tell them apart by");
}

#[test]
fn identical_skills_are_imported_once() {
    let found = [(".agents/skills/foo", "foo", 1), (".claude/skills/foo", "foo", 1), ("b/skills/foo", "foo", 2)];
    assert_eq!(names_of(&found), ["agents/foo", "same as 0", "b/foo"]);
    assert_eq!(names_of(&found[..2]), ["foo", "same as 0"]);
    assert_eq!(names_of(&[("a/foo", "foo", 1), ("b/foo", "foo", 1)]), ["a/foo", "b/foo"]);
}

#[test]
fn names_have_at_most_the_given_number_of_segments() {
    let folder: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
    let found = [FoundFolder { folder: &folder, in_frontmatter: "d", digest: [0; 32] }];
    let named = name_all(&found, 3).remove(0).unwrap();
    assert_eq!(named, ImportName::As(SkillName::parse("b/c/d").unwrap()));
}
