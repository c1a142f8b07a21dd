use std::collections::HashSet;

use knowhow_domain::directive::check_directive;

use super::*;

#[test]
fn each_name_has_a_text_of_its_own_that_a_tenant_could_have_written() {
    let texts: HashSet<&str> = DirectiveName::ALL.iter().map(|name| builtin_text(*name)).collect();
    assert_eq!(texts.len(), DirectiveName::ALL.len());
    for text in texts {
        check_directive(text).unwrap();
        assert_eq!(text.trim(), text);
    }
}
