use super::super::Kind;
use super::*;

#[test]
fn a_folder_of_archived_skills_is_skipped_and_reported_once() {
    let listing = Listing::with(
        "repo",
        &[
            (".curated/a/SKILL.md", ""),
            ("skills/.archive/b/SKILL.md", ""),
            ("skills/.archive/c/SKILL.md", ""),
            ("README.md", ""),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::Plain);
    let found = read(&listing);
    assert_eq!(found.skills.iter().map(|skill| skill.path.as_str()).collect::<Vec<_>>(), [".curated/a/SKILL.md"]);
    assert_eq!(found.left_out.len(), 1);
    assert_eq!(found.left_out[0].path, "skills/.archive");
}
