use serde_json::json;

use super::ApiCall;

#[test]
fn a_command_quotes_what_a_shell_would_read() {
    let call = ApiCall::new("PUT", "/v1/skills/it%27s").with_body(json!({"text": "it's $HOME"}));
    let expected = "curl -s -X PUT \\\n  -H \"Authorization: Bearer $KNOWHOW_TOKEN\" \\\n  -H 'Knowhow-User: o'\\''brien' \\\n  \
        -H 'Knowhow-Reason: a; b' \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"text\":\"it'\\''s $HOME\"}' \\\n  \
        \"$KNOWHOW_URL/v1/skills/it%27s\"";
    assert_eq!(call.with_header("Knowhow-Reason", "a; b").command(Some("o'brien")), expected);
}

#[test]
fn a_token_needs_no_user() {
    let expected = "curl -s \\\n  -H \"Authorization: Bearer $KNOWHOW_TOKEN\" \\\n  \"$KNOWHOW_URL/v1/soul\"";
    assert_eq!(ApiCall::get("/v1/soul").command(None), expected);
}
