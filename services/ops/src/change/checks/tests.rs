use super::*;

#[test]
fn tools_are_split_at_blanks_and_commas() {
    assert_eq!(words("Read, Grep  Bash(git add:*, git push) "), words("Bash(git add:*, git push) Read Grep"));
    assert!(!words("Bash(git:*)").is_subset(&words("Bash(git add:*)")));
    assert!(words("").is_empty());
}
