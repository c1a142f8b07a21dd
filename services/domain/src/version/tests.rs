use super::*;

#[test]
fn every_word_that_the_database_allows_is_readable() {
    // The check `change` of `skill_versions` in migrations/0003_skills.sql.
    let migration = include_str!("../../../../migrations/0003_skills.sql");
    let (_, words) = migration.split_once("check (change in (").unwrap();
    let (words, _) = words.split_once("))").unwrap();
    for word in words.split(", ").map(|word| word.trim_matches('\'')) {
        assert_eq!(word.parse::<ChangeKind>().map(ChangeKind::as_str), Ok(word));
    }
}
