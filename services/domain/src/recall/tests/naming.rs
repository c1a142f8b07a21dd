//! Names in a message, and which of them are meant.

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
fn so_many_ordinary_words_are_weighed_at_most() {
    let all = include_str!("../ordinary_words.txt").lines();
    let words: Vec<&str> = all.filter(|word| word.len() == 6).take(3 * mentions::WEIGHED).collect();
    let said = words.join(" ");
    // Each holds all words: whatever its name, the others agree.
    let skills: Vec<(&str, &str)> = words.iter().map(|word| (*word, said.as_str())).collect();
    let catalogue = catalogue_of(&skills);
    let message = format!("{said} /{}", words[words.len() - 1]);
    let (meant, unmeant) = catalogue.find_named(&message, None);
    assert_eq!((meant.len(), meant.len() + unmeant.len()), (mentions::WEIGHED + 1, words.len()));
    assert!(meant.iter().filter(|mention| !mention.explicit).map(|mention| mention.skill).eq(0..mentions::WEIGHED));
}

#[test]
fn namespaces_are_joined_freely_and_last_parts_only_where_clear() {
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
fn mentions_say_where_they_stand() {
    let catalogue = catalogue_of(&[("git", "")]);
    let found = catalogue.find_mentions("é用git提交");
    assert_eq!((found[0].bytes.clone(), found[0].chars.clone()), (5..8, 2..5));
}
