//! Tests the patch engine on single texts.

mod changed_words;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::{Miss, Strategy, apply};

fn replaced(text: &str, old: &str, new: &str) -> (String, Strategy) {
    let replaced = apply(text, old, new, false).unwrap_or_else(|miss| panic!("{old:?} in {text:?}: {miss:?}"));
    assert_eq!(replaced.replacements, 1);
    (replaced.text, replaced.matched)
}

/// The text that an edit searches, and its replacement.
struct Swap<'a> {
    old: &'a str,
    new: &'a str,
}

fn swap<'a>(old: &'a str, new: &'a str) -> Swap<'a> {
    Swap { old, new }
}

fn assert_replaced(text: &str, swap: Swap<'_>, expected: &str, matched: Strategy) {
    let Swap { old, new } = swap;
    assert_eq!(replaced(text, old, new), (expected.to_owned(), matched), "{old:?} in {text:?}");
}

fn lines_of(miss: Miss) -> Vec<(usize, String)> {
    match miss {
        Miss::NotFound { closest: found, .. } | Miss::Ambiguous { matches: found } => {
            found.into_iter().map(|passage| (passage.line, passage.text)).collect()
        }
        Miss::Invalid(detail) => panic!("{detail}"),
    }
}

#[test]
fn several_matches_are_listed_or_all_replaced() {
    let miss = apply("word word", "word", "x", false).unwrap_err();
    assert!(matches!(miss, Miss::Ambiguous { .. }));
    assert_eq!(lines_of(miss), [(1, "word word".into()), (1, "word word".into())]);
    let miss = apply("a x\r\nb\r\nc x\n", "x", "y", false).unwrap_err();
    assert_eq!(lines_of(miss), [(1, "a x".into()), (3, "c x".into())]);
    assert_eq!(apply("word word", "word", "x", true).unwrap().replacements, 2);
    let all = apply("aaaa", "aa", "b", true).unwrap();
    assert_eq!((all.text.as_str(), all.replacements), ("bb", 2));
    assert_eq!(lines_of(apply("aaa", "aa", "b", false).unwrap_err()).len(), 2);
    assert_eq!(lines_of(apply(&"ab\n".repeat(90), "ab", "b", false).unwrap_err()).len(), 20);
}

#[test]
fn blank_equal_and_oversized_edits_are_refused() {
    for (old, new) in [("", "x"), (" \n\t", "x"), ("a", "a")] {
        assert!(matches!(apply("a b", old, new, false), Err(Miss::Invalid(_))));
        assert!(matches!(apply("a b", old, new, true), Err(Miss::Invalid(_))));
    }
    assert!(matches!(apply(&"a".repeat(250_000), "a", &"b".repeat(250_000), true), Err(Miss::Invalid(_))));
}

#[test]
fn exact_matches_are_replaced_without_adapting_the_indentation() {
    assert_replaced("a\n        b\n", swap("b", "c\nd"), "a\n        c\nd\n", Strategy::Exact);
    assert_replaced("abc", swap("b", ""), "ac", Strategy::Exact);
    assert_replaced("x — y -- z", swap("--", "…"), "x — y … z", Strategy::Exact);
    assert_replaced("foo bar\nfoo  bar\n", swap("foo bar", "x"), "x\nfoo  bar\n", Strategy::Exact);
    assert_replaced("a\r\nb\r\n", swap("b", "c\nd"), "a\r\nc\r\nd\r\n", Strategy::Exact);
    assert_replaced("a\r\nb\n", swap("b", "c\nd"), "a\r\nc\nd\n", Strategy::Exact);
}

#[test]
fn different_blanks_match_inside_a_line() {
    let w = Strategy::Whitespace;
    assert_replaced("def  foo(  x,  y  ):", swap("def foo( x, y ):", "def bar(x, y):"), "def bar(x, y):", w);
    assert_replaced("foo   bar baz", swap("foo bar", "XY"), "XY baz", w);
    assert_replaced("see foo   bar   baz", swap("foo bar ", "XY "), "see XY baz", w);
    assert_replaced("foo\tbar", swap("foo bar", "x"), "x", w);
    assert_replaced("foo bar\nbaz", swap("foo bar  ", "x  "), "x\nbaz", Strategy::TrailingWhitespace);
    assert_replaced("    foo  bar\nz", swap("foo bar", "foo\n  bar"), "    foo\n      bar\nz", w);
    assert!(apply("foobar", "foo bar", "x", false).is_err());
    assert!(apply("foo\nbar", "foo bar", "x", false).is_err());
    assert_eq!(lines_of(apply("a  b\na   b", "a b", "x", false).unwrap_err()).len(), 2);
    assert_eq!(apply("a  b\na   b", "a b", "x", true).unwrap().text, "x\nx");
}

#[test]
fn different_blanks_and_line_ends_match_in_blocks() {
    assert_replaced("a  \nb\t\nc\n", swap("a\nb\nc", "a\nB\nc"), "a  \nB\nc\n", Strategy::TrailingWhitespace);
    assert_replaced("a\r\nb\r\nc\r\n", swap("a\nb\n", "a\nx\nb\n"), "a\r\nx\r\nb\r\nc\r\n", Strategy::LineEndings);
    assert_replaced("a\nb\nc\n", swap("a\r\nb\r\n", "x\r\n"), "x\nc\n", Strategy::LineEndings);
    assert_replaced("a\rb\rc", swap("b\nc", "d\ne"), "a\rd\re", Strategy::LineEndings);
    assert_replaced("a b\nc  d\n", swap("a  b\nc d", "e\nc d"), "e\nc  d\n", Strategy::Whitespace);
    assert_replaced("x\na  \nb\n", swap("a\nb\n", ""), "x\n", Strategy::TrailingWhitespace);
    assert_replaced("x\na  \nb", swap("a\nb\n", "c\n"), "x\nc", Strategy::TrailingWhitespace);
    assert!(apply("xa\nb \nc", "a\nb\n", "y", false).is_err());
}

#[test]
fn replacements_take_the_indentation_of_the_file() {
    let i = Strategy::Indentation;
    let text = "class A:\n        def f(self):\n            return 1\n\n        def g(self):\n";
    let edit = swap("def f(self):\n    return 1", "def f(self):\n    if x:\n        return 2\n\n    return 1");
    let expected = "class A:\n        def f(self):\n            if x:\n                return 2\n\n            return 1\n\n        def g(self):\n";
    assert_replaced(text, edit, expected, i);
    assert_replaced(
        "\tif a:\n\t\tb\n",
        swap("if a:\n    b\n", "if a:\n    c\n    if d:\n        e\n"),
        "\tif a:\n\t\tc\n\t\tif d:\n\t\t\te\n",
        i,
    );
    assert_replaced("  a:\n    b\n", swap("\ta:\n\t\tb", "\ta:\n\t\tc\n\t\t\td"), "  a:\n    c\n      d\n", i);
    assert_replaced("a\n  b\n", swap("    a\n      b", "    a\n      c\n    d"), "a\n  c\nd\n", i);
    assert_replaced(
        "- x\n  - y  z\n",
        swap("    - y z", "    - y z\n      - w"),
        "- x\n  - y z\n    - w\n",
        Strategy::Whitespace,
    );
    assert_replaced("    a\n    b\n", swap("  a\n  b", "a\nb"), "  a\n  b\n", i);
    assert_replaced("        x = 1\n        y = 2\n", swap("x = 1\ny = 2", "z = 3"), "        z = 3\n", i);
}

#[test]
fn different_typography_matches_and_is_preserved() {
    let u = Strategy::Unicode;
    assert_replaced("Hello—world", swap("Hello--world", "Bye--world"), "Bye—world", u);
    assert_replaced("Hello—world", swap("Hello-world", "Hi"), "Hi", u);
    assert_replaced(
        "say “hi” – it’s “ok”…",
        swap("say \"hi\" - it's \"ok\"...", "say \"ho\" - it's \"fine\"..."),
        "say “ho” – it’s “fine”…",
        u,
    );
    assert_replaced("a\u{a0}b c", swap("a b c", "a b d"), "a\u{a0}b d", u);
    assert_replaced("Cafe\u{301} noir", swap("Café noir", "Café blanc"), "Cafe\u{301} blanc", u);
    assert_replaced(
        "x “a”\n    y — z\n",
        swap("x \"a\"\ny -- z", "x \"a\"\ny -- w\nv -- z"),
        "x “a”\n    y — w\n    v -- z\n",
        u,
    );
    assert_replaced("1 — 2\nrest — 3", swap("1 -- 2", "one"), "one\nrest — 3", u);
    assert!(apply("wait…", "wait.", "x", false).is_err());
    assert!(apply("a --- b", "a - b", "x", false).is_err());
    assert_eq!(apply("“a” “a”", "\"a\"", "b", true).unwrap().text, "b b");
}

#[test]
fn escapes_that_are_written_out_match() {
    let e = Strategy::Escapes;
    assert_replaced("a\nb\n", swap("a\\nb", "a\\nc"), "a\nc\n", e);
    assert_replaced("say \"x\"", swap("say \\\"x\\\"", "say \\\"y\\\""), "say \"y\"", e);
    assert_replaced("a\\nb", swap("a\\nb", "c"), "c", Strategy::Exact);
}

#[test]
fn escapes_in_the_new_text_need_the_same_escape_in_the_old_text() {
    let folder = "Open the folder\nthen run it\n";
    let miss = apply(folder, "Open the folder\\nthen run it", "Open C:\\temp\\new\\nthen run it", false).unwrap_err();
    assert!(matches!(&miss, Miss::Invalid(detail) if detail.contains("\\t")), "{miss:?}");
    let e = Strategy::Escapes;
    assert_replaced("a\nb\n", swap("a\\nb", "a\\n\\d+\\nb"), "a\n\\d+\nb\n", e);
    assert_replaced("a\n  b\n", swap("a\\n  b", "a\\n  x\\n  b"), "a\n  x\n  b\n", e);
    assert_replaced("a\n\nb\n", swap("a\\n\\nb", "a\\n\\nc"), "a\n\nc\n", e);
    for (text, old, new) in [
        ("say \"x\" to", "say \\\"x\\\" to", "say \\\"x\\\" in D:\\road\\to"),
        ("a\nb\n", "a\\nb", "a\\nb in \\\\host\\share"),
        ("a\tb\n", "a\\tb", "a\\tb with grep '\\tx'"),
        ("a\nb\n", "a\\nb", "print(\"x\\ny\")\\nb"),
    ] {
        assert!(matches!(apply(text, old, new, false), Err(Miss::Invalid(_))), "{old:?}");
    }
}

#[test]
fn blocks_with_the_same_words_are_similar() {
    let text = "start\n    let total = sum(items);\n    print('total', a);\nend\n";
    let old = "start\n    let total = sum( items );\n    print(\"total\",a);\nend";
    let new = "start\n    let total = sum( items );\n    log(total);\nend";
    let expected = "start\n    let total = sum(items);\n    log(total);\nend\n";
    assert_replaced(text, swap(old, new), expected, Strategy::Similarity);
    assert!(matches!(apply(text, old, new, true), Err(Miss::NotFound { .. })));
    assert!(matches!(apply(&format!("{text}{text}"), old, new, false), Err(Miss::Ambiguous { .. })));
    let miss = apply(text, &old.replace("items", "item"), new, false).unwrap_err();
    assert_eq!(lines_of(miss)[0].0, 1);
}

/// Lines as in a skill, each with a variant that differs in a word.
const READINGS: &[[&str; 2]] = &[
    [
        "- Never send mail to customers on Sunday without asking",
        "- Always send mail to customers on Sunday without asking",
    ],
    ["make deploy ENV=staging", "make deploy ENV=prod"],
    ["kubectl delete -f x.yaml", "kubectl apply -f x.yaml"],
    ["Listen on port 8080", "Listen on port 9090"],
    ["Listen on port 8080", "Listen  on port 80"],
    ["rm -rf ./build", "rm -rf /build"],
    ["git push --force", "git push -force"],
    ["git checkout -- file", "git checkout - file"],
    ["cat -n file", "cat --n file"],
    ["Do not restart the node", "Do restart the node"],
    ["It's allowed to restart", "Its allowed to restart"],
    ["Ask Ana before 5 pm", "Ask Anna before 5 pm"],
    ["retry 1,000 times", "retry 1, 000 times"],
    ["rm -rf / tmp", "rm -rf /tmp"],
    ["use now here", "use nowhere"],
    ["run a_b", "run a-b"],
    ["Wait 10 s", "Wait 10 S"],
    ["x = -5", "x = 5"],
];

#[test]
fn a_text_with_a_different_word_is_refused_and_both_lines_are_shown() {
    for [file, read] in READINGS {
        let block = |line: &str| format!("Rules:\n{line}\n- ok\nEnd");
        for (text, old) in [(block(file), block(read)), ((*file).to_owned(), (*read).to_owned())] {
            for all in [false, true] {
                let miss = apply(&format!("# T\n{text}\n"), &old, "changed", all).unwrap_err();
                let Miss::NotFound { difference: Some(shown), .. } = miss else { panic!("{read:?}: {miss:?}") };
                assert_eq!((shown.text.as_str(), shown.old_string.as_str()), (*file, *read));
            }
        }
    }
}

#[test]
fn a_difference_far_into_a_long_line_is_shown() {
    let line = |last: &str| format!("{}{last}", "word ".repeat(100));
    let miss = apply(&line("yes"), &line("no"), "x", false).unwrap_err();
    let Miss::NotFound { difference: Some(shown), .. } = miss else { panic!("{miss:?}") };
    assert!(shown.text.ends_with("word yes") && shown.old_string.ends_with("word no"), "{shown:?}");
}

#[test]
fn a_miss_lists_the_closest_passages() {
    let text = "# Deploy\n\nRun `npm install` first.\nThen run the tests.\n\nDeploy with wrangler.\n";
    let found = lines_of(apply(text, "Run `npm ci` first.", "x", false).unwrap_err());
    assert_eq!(found[0], (3, "Run `npm install` first.".into()));
    assert!(found.len() <= 3);
    let found = lines_of(apply(text, "Then ran the test.\n\nDeploy using wrangler", "x", false).unwrap_err());
    assert_eq!(found[0], (4, "Then run the tests.\n\nDeploy with wrangler.".into()));
    assert_eq!(lines_of(apply("\nq", "zzz", "x", false).unwrap_err()), [(2, "q".into())]);
    assert!(lines_of(apply("", "zzz", "x", false).unwrap_err()).is_empty());
    assert_eq!(lines_of(apply(&"é".repeat(300), "éé!", "x", false).unwrap_err())[0].1.chars().count(), 200);
}

#[test]
fn large_inputs_do_not_take_quadratic_time() {
    /// Quadratic work takes many minutes. The limit is far above the time of linear work on a busy machine.
    const BOUND: Duration = Duration::from_secs(90);
    const SIZE: usize = 256 * 1024;
    let mixed: String = (0..SIZE / 8).map(|n| format!("{:07}\n", n * 7919 % 1000)).collect();
    let cases = [
        ("a".repeat(SIZE), "a".repeat(SIZE / 2)),
        ("a".repeat(SIZE), "a".repeat(SIZE / 2) + "b"),
        ("a".repeat(SIZE), "a".repeat(SIZE / 2) + " "),
        ("a ".repeat(SIZE / 2), "a  ".repeat(SIZE / 8) + "b"),
        ("a\n".repeat(SIZE / 2), "a\n".repeat(SIZE / 4) + "b"),
        ("a\n".repeat(SIZE / 2), "  a\n".repeat(SIZE / 8)),
        ("\n".repeat(SIZE), "\n".repeat(SIZE / 2) + "a"),
        (" \n".repeat(SIZE / 2), "\n".repeat(SIZE / 4) + "a"),
        ("x\ny\nz\n".repeat(SIZE / 6), "x\nq\nz".into()),
        ("x\ny\n".repeat(SIZE / 4), "x\n".to_owned() + &"q\n".repeat(SIZE / 8) + "y"),
        ("—".repeat(SIZE / 3), "-".repeat(SIZE)),
        ("…".repeat(SIZE / 3), ".".repeat(1000)),
        ("e\u{301}".repeat(SIZE / 3), "é".repeat(SIZE / 8) + "x"),
        (mixed.clone(), mixed.replace("0\n", "1\n")),
        (mixed.clone(), mixed.replace('\n', " \n")),
        ("\\n".repeat(SIZE / 2), "\\n\\n".repeat(SIZE / 8) + "x"),
        (" ".repeat(SIZE), " ".repeat(SIZE - 1) + "x"),
    ];
    for (index, (text, old)) in cases.iter().enumerate() {
        let (all, new) = (index % 2 == 1, old.replace('a', "c"));
        let start = Instant::now();
        drop(apply(text, old, &new, all));
        let took = start.elapsed();
        assert!(took < BOUND, "case {index}, all {all}: {took:?}");
    }
}

fn is_ambiguous(miss: &Miss) -> bool {
    matches!(miss, Miss::Ambiguous { .. })
}

/// Generates texts with few letters and much white space, so that tolerant matches are common.
fn layout() -> impl proptest::strategy::Strategy<Value = String> {
    let bits = ["a", "b", "é", " ", "  ", "\t", "\n", "\r\n", "—", "--", "“", "\"", "…", "\u{a0}", "a b", "    a\n"];
    prop::collection::vec(prop::sample::select(bits.to_vec()), 1..14).prop_map(|bits| bits.concat())
}

#[test]
fn a_tolerant_match_ignores_blanks_around_the_searched_text() {
    let replaced = apply("--", " \u{2014}\t", "\t", false);
    assert!(replaced.is_ok_and(|r| r.matched == Strategy::Unicode));
}
