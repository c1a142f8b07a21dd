use std::collections::HashSet;

use knowhow_domain::learning::directive::check_directive;

use super::*;

#[test]
fn each_directive_has_its_own_valid_text() {
    let texts: HashSet<&str> = DirectiveName::ALL.iter().map(|name| builtin_text(*name)).collect();
    assert_eq!(texts.len(), DirectiveName::ALL.len());
    for text in texts {
        check_directive(text).unwrap();
        assert_eq!(text.trim(), text);
    }
}
