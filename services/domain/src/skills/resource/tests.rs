use super::*;

#[test]
fn valid_paths_are_accepted() {
    for path in ["references/api.md", "scripts/train.py", "assets/a/b/c.png", "templates/Заметка.md"] {
        assert_eq!(ResourcePath::parse(path).unwrap().as_str(), path);
    }
    for path in ["LICENSE", "examples/a.md", "README.md", "a/SKILL.txt"] {
        assert_eq!(ResourcePath::parse(path).unwrap().as_str(), path);
    }
}

#[test]
fn dangerous_paths_are_refused() {
    let long = format!("references/{}", "a".repeat(250));
    for path in [
        "",
        "references/",
        "references//a",
        "references/../../etc/passwd",
        "references/./a",
        "/x",
        "SKILL.md",
        "SKILL.md/x",
        "a/skill.md/x",
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
        "references/\u{202e}gpj.exe",
        &long,
    ] {
        assert!(ResourcePath::parse(path).is_err(), "{path:?}");
    }
    for path in ["../x", "/x", "a/../b", "a\\b", "SKILL.md", "skill.md", "a/", "nul\0"] {
        assert!(ResourcePath::parse(path).is_err(), "{path:?}");
    }
}

#[test]
fn media_types_ignore_the_case_of_extensions() {
    let path = |text| ResourcePath::parse(text).unwrap();
    assert_eq!(path("references/A.MD").media_type(), "text/markdown");
    assert_eq!(path("scripts/run").media_type(), "application/octet-stream");
    assert_eq!(path("scripts/md").media_type(), "application/octet-stream");
    assert!(ResourcePath::parse("references/").unwrap_err().to_string().starts_with("/path: "));
}

/// Returns paths that some file system hides, reserves, or resolves to another path.
fn treacherous() -> Vec<String> {
    let mut paths: Vec<String> = [
        ".git/hooks/post-checkout",
        ".GIT/config",
        ".git",
        "a/.git/config",
        "a/b/c/.Git/x",
        ".ssh/authorized_keys",
        ".SSH/authorized_keys",
        ".bashrc",
        ".env",
        "...",
        "..a",
        "a/..b/c",
        "GIT~1/config",
        "git~1",
        "a/git~2/x",
        "SSH~1/authorized_keys",
        "GI7EBA~1/config",
        "progra~10/x",
        "git~1.txt",
        "CON",
        "con",
        "Con.txt",
        "con.tar.gz",
        "a/NUL",
        "nul/a",
        "aux.md",
        "PRN",
        "COM0",
        "COM1",
        "com9.md",
        "COM\u{b9}",
        "lpt1",
        "LPT\u{b3}.txt",
        "conin$",
        "CONOUT$.md",
        "clock$",
        "con .txt",
        "a./b",
        "a /b",
        "a\u{a0}/b",
        "a.\u{200b}",
        "\u{200c}.git/config",
        "\u{200d}.ssh/x",
        ".g\u{200c}it/config",
        ".\u{200c}git/config",
        "\u{feff}.git/config",
        "git\u{200c}~1/config",
        "\u{200c}",
        "a\u{fe0f}.\u{fe0f}",
        "a\u{ad}b",
        "a\u{200b}b",
        "a\u{2028}b",
        "a\u{2029}b",
        "a\u{2060}b",
        "a\u{e0041}b",
        "a\u{3164}b",
        "a\u{61c}b",
        "a\u{85}b",
        "a\u{7f}b",
        "a\tb",
        "a\rb",
        "a\u{1b}[2Jb",
    ]
    .map(str::to_owned)
    .into();
    let look_alikes = "\u{2024}\u{2025}\u{2026}\u{fe19}\u{fe52}\u{ff0e}\u{701}\u{702}\u{a60e}\u{10a50}\u{1d16d}\u{a4f8}\
                       \u{2044}\u{2215}\u{2571}\u{27cb}\u{29f8}\u{ff0f}\u{2f03}\u{31d3}\u{1735}\u{2041}\u{29f5}\u{2216}\u{ff3c}\u{fe68}\
                       \u{2572}\u{29f9}\u{27cd}\u{2afd}";
    for c in look_alikes.chars() {
        paths.extend([format!("a{c}{c}b"), format!("{c}{c}"), format!("x/{c}git/config"), format!("a{c}")]);
    }
    paths
}

#[test]
fn paths_that_some_file_system_resolves_differently_are_refused() {
    for path in treacherous() {
        assert!(ResourcePath::parse(&path).is_err(), "{path:?}");
        let below = format!("references/{path}");
        let refusal = ResourcePath::parse(&below).unwrap_err().to_string();
        assert!(refusal.chars().all(|c| !c.is_control() && !crate::text::invisible::is_invisible(c)), "{refusal:?}");
    }
}

#[test]
fn ordinary_names_in_all_languages_are_accepted() {
    for path in [
        "console.md",
        "common/com.md",
        "com10",
        "nulls/a",
        "auxiliary",
        "lpt",
        "a~b",
        "backup~",
        "v1~rc1x.md",
        "a.b.c",
        "a..b",
        "Заметка.md",
        "ノート.md",
        "丸丿.md",
        "خ٠١۰.md",
        "می\u{200c}خواهم.md",
        "क्\u{200d}ष.md",
        "❤\u{fe0f}.md",
        "100％.md",
        "½.md",
        "説明。md",
    ] {
        assert!(ResourcePath::parse(path).is_ok(), "{path:?}: {:?}", ResourcePath::parse(path));
    }
}

#[test]
fn stored_paths_may_break_newer_rules() {
    for path in [".hidden", "references/.env", "con.md", "a\u{200b}b"] {
        assert_eq!(ResourcePath::parse_stored(path).unwrap().as_str(), path);
    }
    for path in ["../x", "/x", "a/../b", "a\\b", "SKILL.md", "a/", "nul\0"] {
        assert!(ResourcePath::parse_stored(path).is_err(), "{path:?}");
    }
}

#[test]
fn paths_that_a_file_system_cannot_distinguish_are_found() {
    for (paths, clash) in [
        (["a/x", "a/x"], "occurs twice"),
        (["a/b.md", "a/B.md"], "case"),
        (["A/x", "a/y"], "case"),
        (["stra\u{df}e", "STRASSE"], "case"),
        (["\u{212a}", "k"], "case"),
        (["\u{3c3}", "\u{3c2}"], "case"),
        (["caf\u{e9}", "cafe\u{301}"], "accents"),
        (["a", "a/x"], "both a file and a folder"),
        (["a/x", "a"], "both a file and a folder"),
        (["a/b/c", "A"], "case"),
    ] {
        let found = find_clash(paths).map(|clash| clash.to_string()).unwrap_or_default();
        assert!(found.contains(clash), "{paths:?}: {found}");
    }
    assert_eq!(find_clash(["a/x", "a/y", "b/x", "ab", "a.md"]), None);
}

#[test]
fn links_may_begin_with_a_dot() {
    assert_eq!(ResourcePath::without_dot("./references/a.md"), "references/a.md");
    assert_eq!(ResourcePath::without_dot("references/a.md"), "references/a.md");
    assert!(ResourcePath::parse(ResourcePath::without_dot("./../x")).is_err());
}
