use super::*;

#[test]
fn a_word_that_nobody_knows_is_an_error_that_names_it() {
    assert_eq!(Word::<MemoryKind>::from_sql(&Type::TEXT, b"episodic").unwrap(), Word(MemoryKind::Episodic));
    let error = Word::<MemoryKind>::from_sql(&Type::TEXT, b"prophetic").unwrap_err();
    assert!(error.to_string().contains("'prophetic' is no ") && error.to_string().contains("MemoryKind"), "{error}");
}
