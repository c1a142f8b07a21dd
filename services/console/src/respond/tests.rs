use std::path::Path;

/// Markup that a template must not have: it would bypass the escaping, or the content security policy.
const REFUSED: [&str; 7] = ["|safe", "| safe", "escape=", "<script", "style=", "onclick", "javascript:"];

#[test]
fn templates_escape_every_text_and_have_no_inline_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(path.extension().unwrap(), "html", "only .html is escaped as HTML: {}", path.display());
        for refused in REFUSED {
            assert!(!text.contains(refused), "{} has {refused}", path.display());
        }
        // Whitespace of a text area belongs to its text: it begins with the line break that browsers drop.
        for area in text.split("<textarea").skip(1) {
            let (_, content) = area.split_once('>').unwrap();
            assert!(content.starts_with("\n{{"), "{}: {content}", path.display());
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen} templates");
}
