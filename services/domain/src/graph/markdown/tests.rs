use super::*;

fn texts(body: &str) -> Vec<String> {
    blocks(body).into_iter().map(|block| block.text).collect()
}

#[test]
fn code_and_comments_are_not_read() {
    let body = "## Related ##\n\nIt works\nwell <!-- not -->with x.\n\n```\nrequires `y`\n```\n\n    requires z\n\n- one\n  more\n\n    of it\n1. two\n<!-- a\nb -->c\n~~~~\n~~~\n~~~~\n> said\n";
    assert_eq!(texts(body), ["Related", "It works well with x.", "one more", "of it", "two", "c", "said"]);
    assert_eq!(blocks("### A\n")[0].kind, BlockKind::Heading(3));
    assert!(texts("```\nnever closed\nrequires `x`").is_empty());
}
