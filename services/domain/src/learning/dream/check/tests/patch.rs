use serde_json::{Value, json};

use super::super::*;
use super::fixture::{PROTECTED, change, refusal, ruling, rulings, shown, skill, waiting, with};
use crate::Source;

fn patch() -> Value {
    json!({"op": "patch", "name": "deploy-web", "version": 3,
        "edits": [{"old_string": "wait 30s", "new_string": "wait 30s and look at the page"}], "evidence": ["s1"]})
}

fn edit(old: &str, new: &str) -> Value {
    with(&patch(), "edits", json!([{"old_string": old, "new_string": new}]))
}

#[test]
fn a_shown_skill_is_patched_at_the_shown_version() {
    for pass in [Pass::Optimize, Pass::Gaps] {
        let shown = shown(pass);
        assert_eq!(ruling(&shown, &with(&patch(), "evidence", json!(["s1", "s2"]))), Ruling::Apply);
        assert!(refusal(&shown, &with(&patch(), "version", json!(2))).contains("version 3"));
        assert!(refusal(&shown, &with(&patch(), "name", json!("hidden"))).contains("not shown"));
        assert!(refusal(&shown, &with(&patch(), "evidence", json!(["s9"]))).contains("not shown"));
    }
}

#[test]
fn protected_or_partly_shown_skills_are_not_patched() {
    let mut shown = shown(Pass::Optimize);
    for source in PROTECTED {
        change(&mut shown, "deploy-web", |skill| skill.source = source);
        assert!(refusal(&shown, &patch()).contains("must not change it"), "{source:?}");
    }
    for source in [Source::Dream, Source::Reflection] {
        change(&mut shown, "deploy-web", |skill| skill.source = source);
        assert_eq!(ruling(&shown, &patch()), Ruling::Apply);
    }
    change(&mut shown, "deploy-web", |skill| skill.is_pinned = true);
    assert!(refusal(&shown, &patch()).contains("pinned"));
    change(&mut shown, "deploy-web", |skill| (skill.is_pinned, skill.is_whole) = (false, false));
    assert!(refusal(&shown, &patch()).contains("only a part"));
    change(&mut shown, "deploy-web", |skill| (skill.is_whole, skill.raw) = (true, "no document".to_owned()));
    assert!(refusal(&shown, &patch()).contains("cannot be read"));
}

#[test]
fn edits_must_match_and_change_the_text() {
    let shown = shown(Pass::Optimize);
    assert!(refusal(&shown, &edit("wait an hour", "wait")).contains("do not fit"));
    assert!(refusal(&shown, &edit("npm", "pnpm")).contains("do not fit"));
    let back = json!([{"old_string": "30s", "new_string": "40s"}, {"old_string": "40s", "new_string": "30s"}]);
    assert!(refusal(&shown, &with(&patch(), "edits", back)).contains("do not change"));
    let everywhere = json!([{"old_string": "then", "new_string": "and then", "replace_all": true}]);
    assert_eq!(ruling(&shown, &with(&patch(), "edits", everywhere)), Ruling::Apply);
    for path in ["references/api.md", "../x", ""] {
        let elsewhere = json!([{"old_string": "a", "new_string": "b", "path": path}]);
        assert!(refusal(&shown, &with(&patch(), "edits", elsewhere)).contains("a file other than"), "{path}");
    }
}

#[test]
fn a_patch_of_an_only_similar_passage_waits() {
    let mut shown = shown(Pass::Optimize);
    let lines = "First do this.\nLook at every page (that was built).\nThen do that.";
    change(&mut shown, "deploy-web", |shown| shown.raw = skill("deploy-web", lines).raw);
    let similar = lines.replace("(that", "( that");
    assert!(waiting(&shown, &edit(&similar, &format!("{lines}\nAnd more."))).contains("only similar"));
}

#[test]
fn a_patch_shrinks_a_text_by_at_most_thirty_percent() {
    let mut shown = shown(Pass::Optimize);
    let body = |short: usize| format!("{}{}", "a ".repeat(100 - short), "b ".repeat(short));
    for (short, is_taken) in [(30, true), (31, false)] {
        let text = body(short).trim().to_owned();
        change(&mut shown, "deploy-web", |shown| shown.raw = skill("deploy-web", &format!("{text} c")).raw);
        let cut = edit(&format!(" {} c", "b ".repeat(short).trim()), " c");
        let ruling = ruling(&shown, &cut);
        assert_eq!(ruling == Ruling::Apply, is_taken, "{short}: {ruling:?}");
        assert!(is_taken || refusal(&shown, &cut).contains("30 %"));
    }
}

#[test]
fn a_patch_keeps_four_of_five_hard_tokens() {
    let mut shown = shown(Pass::Optimize);
    let codes: Vec<String> = (0..10).map(|n| format!("`do {n}`")).collect();
    change(&mut shown, "deploy-web", |shown| shown.raw = skill("deploy-web", &codes.join(" and ")).raw);
    let two = edit("`do 8` and `do 9`", "the other things");
    assert_eq!(ruling(&shown, &two), Ruling::Apply);
    let three = refusal(&shown, &edit("`do 7` and `do 8` and `do 9`", "all of the other things"));
    assert!(
        three.starts_with("the patch would lose") && three.contains("3 of 10") && three.contains("do 7; do 8; do 9"),
        "{three}"
    );
}

#[test]
fn a_patch_changes_only_frontmatter_keys_that_help_to_find_the_skill() {
    let shown = shown(Pass::Optimize);
    for (old, new) in [
        ("name: deploy-web", "name: other"),
        ("allowed-tools: Bash", "allowed-tools: Bash Write"),
        ("allowed-tools: Bash", "allowed-tools: Bash\npinned: true"),
        ("  tags: [one]", "  tags: [one]\n  importance: 1"),
        ("  tags: [one]", "  tags: [one]\n  see-also: [mine]"),
        ("allowed-tools: Bash", "allowed-tools: Bash\nsource: user"),
    ] {
        let reason = refusal(&shown, &edit(old, new));
        assert!(reason.contains("frontmatter"), "{new}: {reason}");
    }
    assert_eq!(ruling(&shown, &edit("Says how.", "Says how. Use when the web app is to go out.")), Ruling::Apply);
    assert_eq!(ruling(&shown, &edit("[one]", "[one, two]")), Ruling::Apply);
}

#[test]
fn a_patch_adds_no_secret() {
    let shown = shown(Pass::Optimize);
    assert!(refusal(&shown, &edit("wait 30s", "wait 30s, password: hunter2x")).contains("secret"));
}

#[test]
fn an_optimizing_patch_of_a_skill_not_known_to_be_weak_waits() {
    let mut shown = shown(Pass::Optimize);
    shown.candidates.weak.clear();
    assert!(waiting(&shown, &patch()).contains("'deploy-web' is not known to fail"));
    shown.pass = RunPass::Reflection;
    assert_eq!(ruling(&shown, &patch()), Ruling::Apply);
}

#[test]
fn a_plan_patches_at_most_ten_skills() {
    let mut shown = shown(Pass::Optimize);
    shown.candidates.weak = (0..11).map(|n| format!("s-{n}")).collect();
    shown.skills = (0..11).map(|n| skill(&format!("s-{n}"), "Do it and wait 30s.")).collect();
    let all: Vec<Value> = (0..11).map(|n| with(&patch(), "name", json!(format!("s-{n}")))).collect();
    let rulings = rulings(&shown, &json!(all));
    assert!(rulings[..10].iter().all(|ruling| *ruling == Ruling::Apply), "{rulings:?}");
    assert!(matches!(&rulings[10], Ruling::Refuse(reason) if reason.contains("at most 10")));
}

#[test]
fn a_patch_for_a_request_needs_a_close_skill_and_the_request() {
    let mut shown = shown(Pass::Gaps);
    assert!(refusal(&shown, &patch()).contains("fewer than 2"));
    let asked = with(&patch(), "evidence", json!(["s1", "s2"]));
    shown.candidates.near.clear();
    assert!(waiting(&shown, &asked).contains("close to the request"));
}

#[test]
fn a_patch_rests_if_all_its_conversations_were_answered() {
    let mut shown = shown(Pass::Optimize);
    shown.answered.insert("deploy-web".to_owned(), ["s1", "s2"].map(str::to_owned).into());
    assert!(matches!(ruling(&shown, &patch()), Ruling::Rest(reason) if reason.contains("already made or rejected")));
    assert_eq!(ruling(&shown, &with(&patch(), "evidence", json!(["s1", "s3"]))), Ruling::Apply);
    // Without evidence, the patch is based on all shown conversations.
    assert_eq!(ruling(&shown, &with(&patch(), "evidence", json!([]))), Ruling::Apply);
    shown.answered.insert("deploy-web".to_owned(), ["s1", "s2", "s3", "s4", "s5"].map(str::to_owned).into());
    assert!(matches!(ruling(&shown, &with(&patch(), "evidence", json!([]))), Ruling::Rest(_)));
    shown.sessions.clear();
    assert_eq!(ruling(&shown, &with(&patch(), "evidence", json!([]))), Ruling::Apply, "it is based on none");
    shown.sessions = self::shown(Pass::Optimize).sessions;
    shown.answered.remove("deploy-web");
    assert_eq!(ruling(&shown, &patch()), Ruling::Apply);
}

#[test]
fn learning_adds_a_bounded_number_of_bytes_to_a_skill_in_a_week() {
    let mut shown = shown(Pass::Optimize);
    let added = " and look at the page".len() as i64;
    change(&mut shown, "deploy-web", |skill| skill.grown = WEEKLY_GROWTH - added);
    assert_eq!(ruling(&shown, &patch()), Ruling::Apply);
    change(&mut shown, "deploy-web", |skill| skill.grown += 1);
    assert!(refusal(&shown, &patch()).contains("the limit is 3000"));
    // A patch that replaces text by shorter text is always possible.
    assert_eq!(ruling(&shown, &edit("Run `npm ci`", "`npm ci`")), Ruling::Apply);
}
