use super::*;

#[test]
fn a_linked_skill_is_read_once_under_the_name_of_the_link() {
    let home = std::env::temp_dir().join(format!("knowhow-walk-{}", std::process::id()));
    let skill = home.join("tools/linked");
    std::fs::create_dir_all(&skill).unwrap();
    std::fs::create_dir_all(home.join(".claude/skills")).unwrap();
    std::fs::write(skill.join("SKILL.md"), "x").unwrap();
    std::os::unix::fs::symlink(&skill, home.join(".claude/skills/linked")).unwrap();
    let walked = walk(&home.canonicalize().unwrap(), ToolFolders::PassedOver);
    std::fs::remove_dir_all(&home).unwrap();
    let walked = walked.unwrap();
    let files: Vec<&str> = walked.files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(files, [".claude/skills/linked/SKILL.md"]);
    assert_eq!(walked.left_out.len(), 1);
}
