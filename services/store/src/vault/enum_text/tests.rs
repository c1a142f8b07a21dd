use super::*;

#[test]
fn the_error_for_an_unknown_value_names_the_value() {
    assert_eq!(Word::<MemoryKind>::from_sql(&Type::TEXT, b"episodic").unwrap(), Word(MemoryKind::Episodic));
    let error = Word::<MemoryKind>::from_sql(&Type::TEXT, b"prophetic").unwrap_err();
    assert!(error.to_string().contains("'prophetic' is not a ") && error.to_string().contains("MemoryKind"), "{error}");
}
