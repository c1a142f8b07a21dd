use super::*;

#[test]
fn names_are_lowercase_and_an_unknown_name_error_lists_them_all() {
    let names: Vec<&str> = DirectiveName::ALL.iter().map(|name| name.as_str()).collect();
    let expected = "summary enrich conversation review dream-gaps dream-consolidate dream-optimize reflect-daily \
                        reflect-weekly reflect-monthly judge";
    assert_eq!(names, expected.split(' ').collect::<Vec<_>>());
    for name in DirectiveName::ALL {
        assert_eq!(DirectiveName::find(name.as_str()).unwrap(), *name);
        assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
    }
    let error = DirectiveName::find("Summary").unwrap_err();
    assert!(names.iter().all(|name| error.to_string().contains(name)), "{error}");
}

#[test]
fn a_text_has_at_most_16000_characters_and_no_nul() {
    let most = "é".repeat(DIRECTIVE_CHARS);
    assert!(check_directive(&most).is_ok() && check_directive("x").is_ok());
    for text in ["", "a\0b", &(most + "x")] {
        let error = check_directive(text).unwrap_err();
        assert!(error.to_string().contains("1 to 16000 characters"), "{error}");
    }
}

#[test]
fn a_blank_text_is_rejected_with_advice_to_delete_the_directive() {
    for text in ["", " ", "\n\t \r\n", "\0", "\u{200b}\u{feff} ", "\u{a0}\u{3000}"] {
        let error = check_directive(text).unwrap_err().to_string();
        assert!(error.contains("/text: is blank") && error.contains("delete the directive"), "{text:?}: {error}");
    }
    assert!(check_directive(" \u{200b}x").is_ok());
}
