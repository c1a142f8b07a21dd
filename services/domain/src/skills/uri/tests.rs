use proptest::prelude::*;

use super::*;
use crate::skills::resource::ResourcePath;

#[test]
fn files_and_folders_are_encoded() {
    for (path, uri) in [
        ("SKILL.md", "skill://mcp/email/SKILL.md"),
        ("references/a b.md", "skill://mcp/email/references/a%20b.md"),
        ("references/Größe.md", "skill://mcp/email/references/Gr%C3%B6%C3%9Fe.md"),
        ("a/100%/c#1/d?e", "skill://mcp/email/a/100%25/c%231/d%3Fe"),
        ("a-._~!$&'()*+,;=:@", "skill://mcp/email/a-._~!$&'()*+,;=:@"),
        ("[x]^`{}", "skill://mcp/email/%5Bx%5D%5E%60%7B%7D"),
    ] {
        assert_eq!(file_uri("mcp/email", path), uri);
        assert_eq!(path_of(uri).as_deref(), Some(format!("mcp/email/{path}").as_str()));
    }
    assert_eq!(directory_uri("mcp/email/my files"), "skill://mcp/email/my%20files");
    assert_eq!(directory_uri(""), "skill://");
}

#[test]
fn unencoded_and_encoded_spellings_are_accepted() {
    for (uri, path) in [
        ("skill://", ""),
        ("skill://a", "a"),
        ("skill://a/b c/Größe.md", "a/b c/Größe.md"),
        ("skill://%61/b%2e%2Emd", "a/b..md"),
        ("skill://a/%2525", "a/%25"),
        ("skill://a/...", "a/..."),
    ] {
        assert_eq!(path_of(uri).as_deref(), Some(path), "{uri}");
    }
}

#[test]
fn invalid_and_ambiguous_uris_are_refused() {
    for uri in [
        "",
        "skill:",
        "skill:/a",
        "Skill://a",
        "SKILL://a",
        "file://a",
        " skill://a",
        "skill:///",
        "skill:///a",
        "skill://a/",
        "skill://a//b",
        "skill://a?",
        "skill://a?b",
        "skill://a#",
        "skill://?",
        "skill://a/%",
        "skill://a/%4",
        "skill://a/%4g",
        "skill://a/%+1",
        "skill://a/%%341",
        "skill://a/%ff",
        "skill://a/%C3",
        "skill://a/%C3/%B6",
        "skill://a/%ED%A0%80",
        "skill://a/%C0%AF",
        "skill://a%2Fb",
        "skill://a%2fb",
        "skill://a\\b",
        "skill://a/%5Cb",
        "skill://a/%00",
        "skill://a/\0",
        "skill://a/\n",
        "skill://a/%0D",
        "skill://a/%7F",
        "skill://a/%C2%85",
        "skill://.",
        "skill://..",
        "skill://a/../b",
        "skill://a/./b",
        "skill://a/%2e%2e/b",
        "skill://a/.%2E/b",
        "skill://a/%2E",
    ] {
        assert_eq!(path_of(uri), None, "{uri:?}");
    }
    assert!(path_of(&format!("skill://{}", "a".repeat(1016))).is_some());
    assert_eq!(path_of(&format!("skill://{}", "a".repeat(1017))), None);
}

#[test]
fn a_path_is_split_in_every_valid_way() {
    assert_eq!(splits("mcp/email/SKILL.md"), [("mcp/email", "SKILL.md"), ("mcp", "email/SKILL.md")]);
    assert_eq!(splits("a/b/c/d/e/f"), [("a/b/c/d", "e/f"), ("a/b/c", "d/e/f"), ("a/b", "c/d/e/f"), ("a", "b/c/d/e/f")]);
    assert_eq!(splits("a/my files/b/c"), [("a", "my files/b/c")]);
    for path in ["", "a", "a/", "/a", "SKILL.md", "A/b", "-/x"] {
        assert_eq!(splits(path), [], "{path}");
    }
}

#[test]
fn only_the_exact_spelling_names_a_skill() {
    assert_eq!(skill_of("skill://mcp/email/SKILL.md").unwrap().as_str(), "mcp/email");
    assert_eq!(skill_of("skill://a/SKILL.md").unwrap().as_str(), "a");
    for uri in [
        "skill://SKILL.md",
        "skill:///SKILL.md",
        "skill://mcp/email",
        "skill://mcp/email/skill.md",
        "skill://mcp/email/SKILL.md/",
        "skill://mcp/email/SKILL.md#",
        "skill://mcp/%65mail/SKILL.md",
        "skill://mcp//SKILL.md",
        "skill://Mcp/SKILL.md",
        "Skill://mcp/SKILL.md",
        "skill://a/b/c/d/e/SKILL.md",
        "skill://../SKILL.md",
    ] {
        assert_eq!(skill_of(uri), None, "{uri}");
    }
}

fn any_path() -> impl Strategy<Value = String> {
    let segment = "[\\PC]{1,12}|[a-zA-Z0-9 %._~+@&=-]{1,20}|%2[eEfF]";
    let path = prop::collection::vec(segment, 1..5).prop_map(|segments| segments.join("/"));
    prop_oneof![path, Just("SKILL.md".to_owned()), Just("\u{10ffff}".repeat(63))]
        .prop_filter("no path", |path| path == "SKILL.md" || ResourcePath::parse_stored(path).is_ok())
}

fn any_name() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,2}", 1..5)
        .prop_map(|segments| segments.join("/"))
        .prop_filter("no name", |name| SkillName::parse(name).is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Asserts that a parsed URI has the name and path from which it was made.
    #[test]
    fn what_is_written_reads_back(name in any_name(), path in any_path()) {
        let uri = file_uri(&name, &path);
        let whole = format!("{name}/{path}");
        prop_assert!(uri.is_ascii() && !uri.contains([' ', '#', '?', '"', '<', '>']));
        let read = path_of(&uri);
        prop_assert_eq!(read.as_deref(), Some(whole.as_str()));
        prop_assert_eq!(directory_uri(&whole), uri.clone());
        prop_assert!(splits(&whole).contains(&(name.as_str(), path.as_str())));
        let skill = skill_of(&uri);
        prop_assert_eq!(skill.is_some(), path == "SKILL.md");
        prop_assert!(skill.is_none_or(|skill| skill.as_str() == name));
    }

    #[test]
    fn longest_names_come_first(path in "([a-z]{1,2}|A| |-|//|/){0,12}") {
        let found = splits(&path);
        prop_assert!(found.is_sorted_by(|a, b| a.0.len() > b.0.len()));
        for (name, file) in found {
            prop_assert_eq!(format!("{name}/{file}"), path.as_str());
            prop_assert!(SkillName::parse(name).is_ok() && !file.is_empty());
        }
    }

    #[test]
    fn anything_is_read_or_refused(text in any::<String>(), tail in "([a-c%2fFeE./\\\\]|%[0-9a-fA-F]{2}|\\PC){0,20}") {
        for uri in [text, format!("skill://{tail}")] {
            let _ = (splits(&uri), skill_of(&uri));
            if let Some(path) = path_of(&uri) {
                prop_assert!(path.is_empty() || path.split('/').all(|part| !matches!(part, "" | "." | "..")));
                prop_assert!(!path.contains('\\') && !path.contains(char::is_control));
                let again = path_of(&directory_uri(&path));
                prop_assert!(directory_uri(&path).len() > URI_BYTES || again == Some(path));
            }
        }
    }
}
