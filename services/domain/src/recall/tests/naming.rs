//! Tests which names are found in a message, and which of them are meant.

use super::*;

fn mentions(names: &[&str], message: &str) -> Vec<String> {
    let skills: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
    let catalogue = catalogue_of(&skills);
    let (meant, _) = catalogue.find_named(message, None);
    meant.into_iter().map(|mention| names[mention.skill].to_owned()).collect()
}

#[test]
fn names_match_as_whole_words() {
    let names = ["git", "weather", "news-summary"];
    for message in
        ["run git, then push", "(git)", "GIT!", "git's log", "用git提交", "git", "`git`", "ｇｉｔ please", "git git"]
    {
        assert_eq!(mentions(&names, message), ["git"], "{message}");
    }
    for message in ["check github", "digit", "use git-flow", "pre-git hook", "git_x", "x_git", "gité", "git2", "гgit"]
    {
        assert_eq!(mentions(&names, message), Vec::<String>::new(), "{message}");
    }
    for message in ["use the News-Summary skill please", "a news summary, please", "NEWS\nSUMMARY"] {
        assert_eq!(mentions(&names, message), ["news-summary"], "{message}");
    }
    assert_eq!(mentions(&names, "news/summary and news - summary"), Vec::<String>::new());
}

#[test]
fn ordinary_words_need_an_explicit_form_or_agreement() {
    let names = ["git", "weather", "news-summary", "pdf"];
    for message in [
        "nice weather today",
        "a pdf of it",
        "how is the weather",
        "see src/weather/mod.rs",
        "see /weather/mod.rs",
        "http://weather.com",
        "user weather",
    ] {
        assert_eq!(mentions(&names, message), Vec::<String>::new(), "{message}");
    }
    for message in [
        "use weather",
        "/weather",
        "/use weather",
        "`weather` now",
        "the weather skill",
        "ok: /weather",
        "the \"weather\" skill",
        "use ‘weather’",
    ] {
        assert_eq!(mentions(&names, message), ["weather"], "{message}");
    }
    let skills = [("weather", "Forecast temperature and wind for a city"), ("pdf", "Fill forms in PDF files")];
    let catalogue = catalogue_of(&skills);
    let meant = |message| catalogue.find_named(message, None).0.iter().map(|m| m.skill).collect::<Vec<_>>();
    assert_eq!(meant("what weather and wind does the forecast expect"), [0]);
    assert_eq!(meant("nice weather today"), Vec::<usize>::new());
    assert_eq!(meant("fill these forms in the pdf"), [1]);
}

#[test]
fn a_limited_number_of_ordinary_names_is_checked() {
    let all = include_str!("../ordinary_words.txt").lines();
    let words: Vec<&str> = all.filter(|word| word.len() == 6).take(3 * named_skills::WEIGHED).collect();
    let said = words.join(" ");
    // Each skill contains all words, so the other words in the message agree with any name.
    let skills: Vec<(&str, &str)> = words.iter().map(|word| (*word, said.as_str())).collect();
    let catalogue = catalogue_of(&skills);
    let message = format!("{said} /{}", words[words.len() - 1]);
    let (meant, unmeant) = catalogue.find_named(&message, None);
    assert_eq!((meant.len(), meant.len() + unmeant.len()), (named_skills::WEIGHED + 1, words.len()));
    assert!(meant.iter().filter(|mention| !mention.explicit).map(|mention| mention.skill).eq(0..named_skills::WEIGHED));
}

#[test]
fn namespaces_join_freely_and_last_parts_match_if_unambiguous() {
    let names = ["mcp/gmail", "mcp/guide", "ops/guide", "git", "git-flow", "a/plan-trip"];
    for (message, expected) in [
        ("check mcp/gmail", &["mcp/gmail"][..]),
        ("check MCP gmail", &["mcp/gmail"]),
        ("check mcp-gmail", &["mcp/gmail"]),
        ("check gmail now", &["mcp/gmail"]),
        ("check other/gmail now", &[]),
        ("read the guide", &[]),
        ("use guide", &[]),
        ("ops guide and mcp guide", &["ops/guide", "mcp/guide"]),
        ("git flow then git", &["git-flow", "git"]),
        ("plan trip", &["a/plan-trip"]),
    ] {
        assert_eq!(mentions(&names, message), expected, "{message}");
    }
}

#[test]
fn mentions_have_byte_and_character_ranges() {
    let catalogue = catalogue_of(&[("git", "")]);
    let found = catalogue.find_mentions("é用git提交");
    assert_eq!((found[0].bytes.clone(), found[0].chars.clone()), (5..8, 2..5));
}

#[test]
fn names_are_found_as_users_write_them() {
    let names = ["google-meet", "pismo-banku", "uberweisung", "case"];
    for message in [
        "use google_meet now",
        "Google Meet please",
        "run plugin:google-meet",
        "/google-meet",
        "see google-meet.md",
        "read skill://google-meet/SKILL.md",
    ] {
        assert_eq!(mentions(&names, message), ["google-meet"], "{message}");
    }
    let cyrillic = "\u{41f}\u{438}\u{441}\u{44c}\u{43c}\u{43e} \u{431}\u{430}\u{43d}\u{43a}\u{443}, please";
    assert_eq!(mentions(&names, cyrillic), ["pismo-banku"]);
    assert_eq!(mentions(&names, "eine \u{dc}berweisung"), ["uberweisung"]);
    for message in ["my_google_meet", "google_meet_v2", "snake_case_name", "\u{fc}berw\u{435}isung"] {
        assert_eq!(mentions(&names, message), Vec::<String>::new(), "{message}");
    }
    let catalogue = catalogue_of(&[("weather", "")]);
    assert!(catalogue.find_mentions("read skill://weather/SKILL.md")[0].explicit);
}

#[test]
fn the_name_in_the_frontmatter_is_an_alias() {
    let skill = |name, alias| SkillText { name, alias, ..SkillText::default() };
    let catalogue = Catalogue::build(&[
        skill("react-practices", Some("acme-react-practices")),
        skill("vue", Some("acme-vue")),
        skill("vue-2", Some("acme-vue")),
        skill("lint", Some("react-practices")),
    ]);
    let found = |message: &str| -> Vec<usize> {
        let mut found: Vec<usize> = catalogue.find_mentions(message).iter().map(|mention| mention.skill).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(found("please use acme-react-practices for this component"), [0]);
    // A name that two skills share, or that another skill has, is not an alias.
    assert_eq!(found("use acme-vue"), Vec::<usize>::new());
    assert_eq!(found("use react-practices"), [0]);
}

#[test]
fn see_also_accepts_names_as_users_write_them() {
    let see_also = ["Google_Meet".to_owned(), "acme-vue".to_owned()];
    let catalogue = Catalogue::build(&[
        SkillText { name: "a", see_also: &see_also, ..SkillText::default() },
        SkillText { name: "google-meet", ..SkillText::default() },
        SkillText { name: "vue", alias: Some("acme-vue"), ..SkillText::default() },
    ]);
    assert_eq!(catalogue.related(0), [1, 2]);
}
