use super::*;

#[test]
fn every_change_kind_in_the_database_can_be_parsed() {
    // The words are in the check on the column `skill_versions.change` in migrations/0003_skills.sql.
    let migration = include_str!("../../../../../migrations/0003_skills.sql");
    let (_, words) = migration.split_once("check (change in (").unwrap();
    let (words, _) = words.split_once("))").unwrap();
    for word in words.split(", ").map(|word| word.trim_matches('\'')) {
        assert_eq!(word.parse::<ChangeKind>().map(ChangeKind::as_str), Ok(word));
    }
}
