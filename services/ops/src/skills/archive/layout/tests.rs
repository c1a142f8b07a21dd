use super::*;

fn entries(paths: &[&str]) -> Vec<PackedFile> {
    paths.iter().map(|path| PackedFile::plain(*path, path.as_bytes().to_vec())).collect()
}

fn names(skill: &Folder) -> Vec<&str> {
    skill.resources.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn files_belong_to_the_nearest_skill_above_them() {
    let grouped = group(entries(&[
        "README.md",
        "mcp/email/references/z.md",
        "mcp/email/references/a.md",
        "mcp/email/SKILL.md",
        "mcp/LICENSE",
        "mcp/email/inner/skill.md",
        "mcp/email/inner/assets/x.txt",
    ]));
    assert_eq!(grouped.strays, ["README.md", "mcp/LICENSE"]);
    let [outer, inner] = &grouped.skills[..] else { panic!("{:?}", grouped.skills) };
    assert_eq!((outer.path.as_str(), outer.folder.join("/")), ("mcp/email/SKILL.md", "mcp/email".to_owned()));
    assert_eq!(outer.skill_md, b"mcp/email/SKILL.md");
    assert_eq!(names(outer), ["references/a.md", "references/z.md"]);
    assert_eq!(inner.path, "mcp/email/inner/skill.md");
    assert_eq!(names(inner), ["assets/x.txt"]);
}

#[test]
fn a_lone_skill_file_is_a_skill_without_folder() {
    let grouped = group(entries(&["SKILL.md", "scripts/run.py"]));
    assert!(grouped.skills[0].folder.is_empty());
    assert_eq!(names(&grouped.skills[0]), ["scripts/run.py"]);
    assert_eq!(grouped.strays, Vec::<String>::new());
    assert_eq!(group(entries(&["a/b.md"])).strays, ["a/b.md"]);
    assert_eq!(group(Vec::new()), Grouped::default());
}

#[test]
fn a_folder_in_a_resource_folder_is_not_a_skill() {
    let grouped = group(entries(&[
        "foo/SKILL.md",
        "foo/references/old/SKILL.md",
        "foo/references/old/scripts/run.py",
        "foo/assets/SKILL.md",
        "skills/scripts/bar/SKILL.md",
    ]));
    assert_eq!(grouped.enclosed, ["foo/assets/SKILL.md", "foo/references/old/SKILL.md"]);
    let [foo, bar] = &grouped.skills[..] else { panic!("{:?}", grouped.skills) };
    assert_eq!(names(foo), ["references/old/scripts/run.py"]);
    assert_eq!(bar.path, "skills/scripts/bar/SKILL.md", "no skill keeps its files in that folder");
}

#[test]
fn the_standard_spelling_of_skill_md_is_preferred() {
    let grouped = group(entries(&["a/skill.md", "a/SKILL.md"]));
    assert_eq!(grouped.skills[0].path, "a/SKILL.md");
    assert_eq!(names(&grouped.skills[0]), ["skill.md"]);
}

#[test]
fn hidden_files_below_a_skill_are_not_part_of_it() {
    let grouped = group(entries(&[
        ".claude/skills/a/SKILL.md",
        ".claude/skills/a/.git/config",
        ".claude/skills/a/.git/hooks/post-checkout",
        ".claude/skills/a/scripts/.env",
        ".claude/skills/a/scripts/run.py",
        ".claude/skills/a/scripts/run.py~",
        ".claude/skills/a/scripts/run.py.swp",
        ".claude/skills/a/SKILL.md~",
    ]));
    assert_eq!(grouped.skills.len(), 1, "folders above a skill may be hidden");
    assert_eq!(names(&grouped.skills[0]), ["scripts/run.py"]);
    let hidden = [".git", "SKILL.md~", "scripts/.env", "scripts/run.py.swp", "scripts/run.py~"];
    assert_eq!(grouped.hidden, hidden.map(|path| format!(".claude/skills/a/{path}")));
}
