use super::*;

#[test]
fn the_text_has_the_name_in_words_then_claims_then_triggers() {
    let triggers = ["reply to a mail".to_owned(), "write to Ann".to_owned()];
    let text = embedded_text("mcp/send-email", "Sends\n email. Not for SMS.", &triggers);
    assert_eq!(text, "mcp send email: Sends email. reply to a mail, write to Ann");
    assert_eq!(embedded_text("a", "Sends email.", &[]), "a: Sends email.");
    assert_eq!(embedded_text("a", &"й".repeat(1024), &triggers).chars().count(), 3 + 300 + 1 + 29);
}
