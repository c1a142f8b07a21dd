use proptest::prelude::*;

use super::*;

fn missing_tokens(before: &[&str], after: &str) -> Vec<String> {
    missing_of(&hard_tokens_of(before.iter().copied()), after)
}

fn tokens(text: &str) -> Vec<String> {
    hard_tokens(text).into_iter().collect()
}

#[test]
fn commands_paths_numbers_and_names_are_hard_tokens() {
    for (text, expected) in [
        ("Run `npm  ci` now.", &["npm ci"][..]),
        ("``a ` b`` and ` c `", &["a ` b", "c"]),
        ("```sh\n  make   all  \n}\n\nls -l\n```\nDone.", &["ls -l", "make all"]),
        ("~~~\n`a`\n```\nb\n~~~\n", &["`a`", "b"]),
        ("See https://x.example/a?b=1#c, (http://y.example/).", &["http://y.example/", "https://x.example/a?b=1#c"]),
        ("[it](https://x.example/a) or <https://x.example/b>", &["https://x.example/a", "https://x.example/b"]),
        (
            "In ~/a/b, ./c.sh, references/api.md and /etc/hosts; Cargo.toml too.",
            &["./c.sh", "/etc/hosts", "Cargo.toml", "references/api.md", "~/a/b"],
        ),
        ("Use mcp/email and/or web-perf, a well-known one.", &["mcp/email", "web-perf"]),
        (
            "Wait 30s or 1.5 hours; 99.9% of 1,000 at 10:30, $5, v3.2.",
            &["$5", "1,000", "1.5", "10:30", "30s", "99.9%", "v3.2"],
        ),
        ("The 1st of them. Step 2: see.\n\n3. Third\n4) Fourth\n## 5. Fifth\n", &[]),
        (
            "GitHub, PostgreSQL, useState, max_items and MAX_ITEMS over HTTP.",
            &["GitHub", "HTTP", "MAX_ITEMS", "PostgreSQL", "max_items", "useState"],
        ),
        ("You MUST NOT pass --force, NEVER.", &["--force"]),
        ("用npm-check检查", &["npm-check"]),
        ("nothing here at all", &[]),
    ] {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn a_token_counts_only_if_it_is_found_as_a_whole() {
    for (token, kept_in) in [
        ("`npm ci`", "```\nnpm ci --omit=dev\n```"),
        ("web-perf", "see\nweb-perf."),
        ("waits 30", "(30)"),
        ("`a b`", "a\n   b"),
        ("1.5", "in 1.5."),
        ("/etc/hosts", "`/etc/hosts/`"),
    ] {
        assert_eq!(missing_tokens(&[token], kept_in), Vec::<String>::new(), "{token}");
    }
    for (token, lost_in) in [
        ("`npm ci`", "npm cite"),
        ("web-perf", "web-perfect, my-web-perf, web-perf-two, a/web-perf"),
        ("waits 30", "300, 1.30, 30.5, 30,000, 10:30, v30, 30s"),
        ("/etc/hosts", "x/etc/hosts /etc/hosts.d"),
        ("max_items", "max_items_now"),
    ] {
        assert_eq!(missing_tokens(&[token], lost_in).len(), 1, "{token}");
    }
    assert_eq!(missing_tokens(&["x-1 `y`", "w-1 x-1"], "x-1"), ["w-1", "y"]);
}

#[test]
fn large_texts_with_many_tokens_are_compared_quickly() {
    let text: String = (0..5_000).map(|n| format!("word-x{n} `code {n}` ")).collect();
    let started = std::time::Instant::now();
    assert_eq!(missing_tokens(&[&text], &text), Vec::<String>::new());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    let marks = "`".repeat(100_000) + &"`a ``b ".repeat(10_000);
    hard_tokens(&marks);
    assert!(started.elapsed().as_secs() < 40, "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Asserts that a text contains all of its own tokens.
    #[test]
    fn a_text_has_all_its_own(text in "([a-z]{1,3}|[A-Z]{1,3}|[0-9]|[-_./:@,` \n$%#*]|```\n|~~~\n|https://|字|ä|\u{a0}){0,60}") {
        prop_assert_eq!(missing_tokens(&[&text], &text), Vec::<String>::new());
    }

    #[test]
    fn more_text_never_loses_more(
        before in "([a-z]{1,3}|[A-Z]{2}|[0-9]|[-_./:` \n]|```\n){0,40}",
        after in "([a-z]{1,3}|[A-Z]{2}|[0-9]|[-_./:` \n]|```\n){0,40}",
        more in "([a-z]{1,3}|[A-Z]{2}|[0-9]|[-_./:` \n]|```\n){0,40}",
    ) {
        let some = missing_tokens(&[&before], &after).len();
        for all in [format!("{after}\n{more}"), format!("{more}\n{after}")] {
            prop_assert!(missing_tokens(&[&before], &all).len() <= some);
        }
    }

    #[test]
    fn any_text_has_all_its_own(text in any::<String>()) {
        prop_assert_eq!(missing_tokens(&[&text], &text), Vec::<String>::new());
    }
}
