use super::*;

#[test]
fn names_are_compared_by_their_words() {
    for (a, b, kinship) in [
        ("schema", "schema-markup", Kinship::Namesakes),
        ("asciinema-cast-format", "format", Kinship::Namesakes),
        ("Send_Mail", "send/mail", Kinship::Namesakes),
        ("deploy-java", "deploy-python", Kinship::Series),
        ("mcp/deploy", "mcp/build", Kinship::Series),
        ("java-deploy", "python-deploy", Kinship::None),
        ("a", "b", Kinship::None),
        ("", "", Kinship::None),
        ("", "a", Kinship::None),
        ("--", "a", Kinship::None),
    ] {
        let (one, other) = (list_name_words(a), list_name_words(b));
        assert_eq!(find_kinship(&one, &other), kinship, "{a}, {b}");
        assert_eq!(find_kinship(&other, &one), kinship, "{b}, {a}");
    }
}
