use super::*;

fn found(body: &str) -> Vec<String> {
    find_references("team/own-skill", body).into_iter().map(|found| found.name).collect()
}

#[test]
fn names_are_found_as_authors_write_them() {
    for (text, names) in [
        ("- **ab-test-setup** — WHEN running split tests", vec!["ab-test-setup"]),
        ("**REQUIRED SUB-SKILL:** Use superpowers:test-driven-development", vec!["test-driven-development"]),
        ("Invoke `superpowers:brainstorming` first.", vec!["brainstorming"]),
        ("Run `/tools:convert-file` again.", vec!["convert-file"]),
        ("| code-team | Code implementation → use `code-team` |", vec!["code-team"]),
        ("See [the guide](../web-perf/SKILL.md) and ../pdf-forms/scripts/run.py", vec!["web-perf", "pdf-forms"]),
        ("Read `skills/team/mcp-email/SKILL.md`.", vec!["team/mcp-email"]),
        ("Use the `weather` skill, then the skill **calendar**.", vec!["weather", "calendar"]),
        ("Nutze den Skill „kalender“ oder `mcp/email`.", vec!["kalender", "mcp/email"]),
        ("## Related Skills\n\n- **pricing**: for prices\n- `ads`", vec!["pricing", "ads"]),
        ("ユーザーはcode-teamを使う", vec!["code-team"]),
        ("see web-perf.", vec!["web-perf"]),
    ] {
        assert_eq!(found(text), names, "{text}");
    }
}

#[test]
fn other_words_are_not_names() {
    for text in [
        "Read `web-perf.md`, `src/main.rs` and https://a-b.example/c-d.",
        "Multi-criteria search with Scikit-learn",
        "Use the weather service. This skill is new. `query` is a field.",
        "own-skill and `team/own-skill` are this skill.",
        "```\nweb-perf\n```\n<!-- web-perf -->",
        "a_b-c d-e_f @scope/pkg-a #tag-b key:value `a:b:c`",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn repeated_names_are_counted_and_evidence_has_no_markup() {
    let found = find_references("own", "First. Load **`web-perf`** with [it](x), please. Last.\n\nThen `web-perf`.");
    assert_eq!((found.len(), found[0].mentions), (1, 2));
    assert_eq!(found[0].evidence, "Load web-perf with it, please.");
    let late = format!("{}`last-one`", "some-word-1 x-2 y-3 ".repeat(3).replace('1', "one"));
    assert_eq!(find_references("own", &late)[0].name, "last-one");
    let many: String = (0..200).map(|n| format!("x-{n}\n\n")).collect();
    assert_eq!(find_references("own", &many).len(), MOST_EXTRACTED);
}

/// Quadratic work would take many minutes.
#[test]
fn long_texts_without_blanks_or_ends_of_sentences_are_read() {
    let body = "a-b漢".repeat(40_000);
    assert_eq!(names_in_piece(&body).len(), 40_000);
    assert_eq!(find_references("own", &body)[0].mentions, 40_000);
    let names: String = (0..400).map(|n| format!("x-{n} ")).collect();
    let found = find_references("own", &format!("{names}{}", "[a](b) ".repeat(30_000)));
    assert_eq!(found.len(), MOST_EXTRACTED);
    assert!(found.iter().all(|found| found.evidence.len() <= 200));
}

#[test]
fn changed_headings_and_listed_words_change_the_names_of_a_piece() {
    assert_ne!(names_in_piece("- **pricing**: x"), names_in_piece("- **billing**: x"));
    assert_ne!(names_in_piece("## Tools"), names_in_piece("## Skills"));
}
