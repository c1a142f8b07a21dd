use super::*;

#[test]
fn good_paths_are_taken() {
    for path in ["references/api.md", "scripts/train.py", "assets/a/b/c.png", "templates/Заметка.md"] {
        assert_eq!(ResourcePath::parse(path).unwrap().as_str(), path);
    }
    for path in ["LICENSE", "examples/a.md", "README.md", ".hidden", "a/SKILL.txt"] {
        assert!(ResourcePath::parse(path).is_err(), "{path}");
        assert_eq!(ResourcePath::parse_imported(path).unwrap().as_str(), path);
    }
}

#[test]
fn dangerous_paths_are_refused() {
    let long = format!("references/{}", "a".repeat(250));
    for path in [
        "",
        "references",
        "references/",
        "references//a",
        "references/../../etc/passwd",
        "references/./a",
        "/x",
        "secret/x",
        "SKILL.md",
        "skill.MD",
        "references/SKILL.md",
        "references\\a",
        "references/a\0b",
        "references/a\nb",
        "references/a:b",
        "references/a.",
        "references/a ",
        "references/ /a",
        "C:/x",
        "References/a",
        "references/\u{202e}gpj.exe",
        &long,
    ] {
        assert!(ResourcePath::parse(path).is_err(), "{path:?}");
    }
    for path in ["../x", "/x", "a/../b", "a\\b", "SKILL.md", "skill.md", "a/", "nul\0"] {
        assert!(ResourcePath::parse_imported(path).is_err(), "{path:?}");
    }
}

#[test]
fn types_and_case() {
    let path = |text| ResourcePath::parse(text).unwrap();
    assert_eq!(path("references/A.MD").media_type(), "text/markdown");
    assert_eq!(path("scripts/run").media_type(), "application/octet-stream");
    assert_eq!(path("scripts/md").media_type(), "application/octet-stream");
    assert_eq!(path("references/A.md").case_fold(), path("references/a.MD").case_fold());
    assert!(ResourcePath::parse("references").unwrap_err().to_string().starts_with("/path: "));
}
