use chrono::TimeDelta;
use serde_json::{Value, json};

use super::super::*;
use super::fixture::{PROTECTED, change, letters, refusal, ruling, rulings, shown, skill, waiting, with};
use crate::Source;

fn sources(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "version": 3})).collect()
}

fn merge() -> Value {
    json!({"op": "merge", "into": "deploy-web", "sources": sources(&["deploy-web", "ship-web"]),
        "description": "Says how.", "body": "Run `npm ci`, `npm run build`, and wait 30s."})
}

#[test]
fn skills_with_the_same_content_are_merged() {
    let shown = shown(Pass::Consolidate);
    assert_eq!(ruling(&shown, &merge()), Ruling::Apply);
    assert_eq!(ruling(&shown, &with(&merge(), "into", json!("web-out"))), Ruling::Apply);
    assert_eq!(ruling(&shown, &with(&merge(), "sources", sources(&["ship-web"]))), Ruling::Apply);
    for (operation, word) in [
        (with(&merge(), "sources", sources(&["deploy-web"])), "fewer than two"),
        (with(&merge(), "sources", sources(&["deploy-web", "hidden"])), "not shown"),
        (with(&merge(), "into", json!("hidden")), "not shown"),
        (
            with(
                &merge(),
                "sources",
                json!([{"name": "deploy-web", "version": 3}, {"name": "ship-web", "version": 4}]),
            ),
            "version",
        ),
        (with(&merge(), "body", json!("x".repeat(256 * 1024 + 1))), "too large"),
        (with(&merge(), "body", json!("`npm ci` `npm run build` 30s, password: hunter2x")), "secret"),
    ] {
        assert!(refusal(&shown, &operation).contains(word), "{word}");
    }
}

#[test]
fn protected_skills_are_not_merged() {
    let mut shown = shown(Pass::Consolidate);
    for source in PROTECTED {
        for name in ["deploy-web", "ship-web"] {
            change(&mut shown, name, |skill| skill.source = source);
            assert!(refusal(&shown, &merge()).contains("must not change it"), "{source:?}");
            change(&mut shown, name, |skill| skill.source = Source::Agent);
        }
    }
    // A protected skill must not be the target either, even if it is not a source.
    for (into, word) in [("mine", "must not change it"), ("kept", "pinned")] {
        assert!(refusal(&shown, &with(&merge(), "into", json!(into))).contains(word));
    }
    change(&mut shown, "ship-web", |skill| skill.is_pinned = true);
    assert!(refusal(&shown, &merge()).contains("pinned"));
    change(&mut shown, "ship-web", |skill| (skill.is_pinned, skill.is_whole) = (false, false));
    assert!(refusal(&shown, &merge()).contains("only a part"));
    // A target may have files, because it keeps them; a source must not.
    change(&mut shown, "ship-web", |skill| (skill.has_files, skill.is_whole) = (true, true));
    assert!(refusal(&shown, &merge()).contains("has files"));
    assert_eq!(ruling(&shown, &with(&merge(), "into", json!("ship-web"))), Ruling::Apply);
}

#[test]
fn a_merge_that_loses_two_of_sixty_hard_tokens_waits() {
    let mut shown = shown(Pass::Consolidate);
    let codes: Vec<String> = (0..60).map(|n| format!("`do x{n}`")).collect();
    for (name, half) in [("deploy-web", &codes[..30]), ("ship-web", &codes[30..])] {
        change(&mut shown, name, |shown| shown.raw = skill(name, &half.join(", ")).raw);
    }
    let keeping = |count: usize| with(&merge(), "body", json!(codes[..count].join(", ")));
    assert_eq!(ruling(&shown, &keeping(60)), Ruling::Apply);
    assert_eq!(ruling(&shown, &keeping(59)), Ruling::Apply);
    let reason = waiting(&shown, &keeping(58));
    assert!(
        reason.starts_with("the merge would lose") && reason.contains("2 of 60") && reason.contains("do x58; do x59"),
        "{reason}"
    );
}

#[test]
fn a_merge_shorter_than_half_of_a_source_waits() {
    let mut shown = shown(Pass::Consolidate);
    for name in ["deploy-web", "ship-web"] {
        change(&mut shown, name, |shown| shown.raw = skill(name, &"z".repeat(100)).raw);
    }
    let of = |length: usize| with(&merge(), "body", json!("y".repeat(length)));
    assert_eq!(ruling(&shown, &of(50)), Ruling::Apply);
    assert!(waiting(&shown, &of(49)).contains("has 49 characters"));
}

#[test]
fn a_merge_of_skills_that_are_not_known_duplicates_waits() {
    let mut shown = shown(Pass::Consolidate);
    shown.candidates.pairs.clear();
    assert!(waiting(&shown, &merge()).contains("'deploy-web' and 'ship-web' are not known duplicates: read both"));
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    shown.candidates.pairs = vec![pair("note-b", "note-a"), pair("note-b", "note-c")];
    let three = with(&merge(), "sources", sources(&["note-a", "note-b", "note-c"]));
    let three = with(&with(&three, "into", json!("note-b")), "body", json!("Write it down."));
    let reason = waiting(&shown, &three);
    assert!(reason.contains("'note-a' and 'note-c'") && !reason.contains("note-b"), "{reason}");
}

#[test]
fn a_recently_or_repeatedly_merged_skill_is_not_merged_again() {
    let mut shown = shown(Pass::Consolidate);
    let now = shown.now;
    change(&mut shown, "ship-web", |skill| skill.merged_at = Some(now - TimeDelta::days(30) + TimeDelta::seconds(1)));
    assert!(refusal(&shown, &merge()).contains("rests"));
    change(&mut shown, "ship-web", |skill| skill.merged_at = Some(now - TimeDelta::days(30)));
    assert_eq!(ruling(&shown, &merge()), Ruling::Apply);
    change(&mut shown, "deploy-web", |skill| skill.merges = 1);
    assert_eq!(ruling(&shown, &merge()), Ruling::Apply);
    change(&mut shown, "deploy-web", |skill| skill.merges = 2);
    assert!(refusal(&shown, &merge()).contains("2 successive merges"));
}

#[test]
fn a_plan_has_at_most_five_merges_of_at_most_five_skills() {
    let mut shown = shown(Pass::Consolidate);
    shown.archiving.open_skills = 1_000;
    let notes = ["note-a", "note-b", "note-c", "note-d", "note-e", "note-f"];
    let of = |count: usize| with(&with(&merge(), "into", json!("notes")), "sources", sources(&notes[..count]));
    let of = |count: usize| with(&of(count), "body", json!("Write it down."));
    assert_eq!(ruling(&shown, &of(5)), Ruling::Apply);
    assert!(refusal(&shown, &of(6)).contains("at most 5"));
    let mut shown = super::fixture::shown(Pass::Consolidate);
    shown.archiving.open_skills = 1_000;
    shown.skills = (0..12).map(|n| skill(&format!("s-{n}"), "Do it.")).collect();
    shown.names.clear();
    shown.candidates.pairs = (0..6).map(|n| [format!("s-{}", 2 * n), format!("s-{}", 2 * n + 1)]).collect();
    let one = |n: usize| {
        let sources = sources(&[&format!("s-{}", 2 * n), &format!("s-{}", 2 * n + 1)]);
        json!({"op": "merge", "into": format!("s-{}", 2 * n), "sources": sources, "description": "d", "body": "Do it."})
    };
    let all: Vec<Value> = (0..6).map(one).collect();
    let rulings = rulings(&shown, &json!(all));
    assert!(rulings[..5].iter().all(|ruling| *ruling == Ruling::Apply), "{rulings:?}");
    assert!(matches!(&rulings[5], Ruling::Refuse(reason) if reason.contains("at most 5")));
}

#[test]
fn sources_of_a_merge_count_towards_the_archive_limits() {
    let mut shown = shown(Pass::Consolidate);
    shown.archiving.days = 0;
    assert!(refusal(&shown, &merge()).contains("0 days"));
    shown.archiving = Archiving { days: 30, open_skills: 10, archived_lately: 0 };
    let notes = json!({"op": "merge", "into": "notes", "sources": sources(&["note-a", "note-b", "note-c", "note-d"]),
        "description": "d", "body": "Write it down."});
    assert!(refusal(&shown, &notes).contains("4 skills"));
    let notes = with(&notes, "into", json!("note-a"));
    // The first merge archives three skills; the second would archive a fourth, which exceeds the limit.
    assert_eq!(letters(&shown, &json!([notes, merge()])), "ar");
}
