//! Tests the rules for all kinds of operations, and for operations in one plan that affect each other.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::super::*;
use super::fixture::{change, letters, refusal, ruling, rulings, shown, waiting, with};
use crate::learning::dream::{ReadOperation, read_plan};

fn create() -> Value {
    json!({"op": "create", "name": "new-one", "description": "d", "body": "Do it.", "evidence": ["s1", "s2"]})
}

fn patch() -> Value {
    json!({"op": "patch", "name": "deploy-web", "version": 3, "edits": [{"old_string": "wait 30s", "new_string": "wait for 30s"}],
        "evidence": ["s3", "s5"]})
}

fn merge() -> Value {
    json!({"op": "merge", "into": "deploy-web",
        "sources": [{"name": "deploy-web", "version": 3}, {"name": "ship-web", "version": 3}],
        "description": "Says how.", "body": "Run `npm ci`, `npm run build`, and wait 30s."})
}

fn parent() -> Value {
    json!({"op": "parent", "name": "mail/guide", "members": ["mail/send", "mail/read"], "description": "Guides.",
        "body": "Use mail/send or mail/read."})
}

fn see_also(name: &str, other: &str) -> Value {
    json!({"op": "see_also", "name": name, "add": [other]})
}

fn archive(name: &str, absorbed_into: &str) -> Value {
    json!({"op": "archive", "name": name, "version": 3, "absorbed_into": absorbed_into})
}

#[test]
fn each_pass_accepts_only_its_operations() {
    let all = json!([create(), patch(), merge(), parent(), see_also("note-a", "note-b"), archive("note-d", "note-c")]);
    for (pass, outcome) in [(Pass::Gaps, "aarrrr"), (Pass::Consolidate, "rraaaa"), (Pass::Optimize, "rarrar")] {
        assert_eq!(letters(&shown(pass), &all), outcome, "{pass}");
    }
    assert!(refusal(&shown(Pass::Gaps), &merge()).contains("pass 'gaps'"));
    // A reflection may propose any kind of operation with enough evidence.
    let mut reflection = shown(Pass::Consolidate);
    reflection.pass = RunPass::Reflection;
    assert_eq!(letters(&reflection, &all), "aaraaa");
    let unfounded = with(&create(), "evidence", json!([]));
    assert!(refusal(&reflection, &unfounded).contains("supports it"));
    reflection.candidates = Candidates::default();
    assert_eq!(letters(&reflection, &all), "aarraw");
}

#[test]
fn rejected_operations_rest() {
    let mut shown = shown(Pass::Consolidate);
    let until = shown.now + TimeDelta::days(10);
    let keys = ["merge:deploy-web+ship-web", "parent:mail/guide", "see_also:note-a>note-b", "archive:note-d"];
    shown.resting = keys.iter().map(|key| ((*key).to_owned(), until)).collect();
    let all = json!([merge(), parent(), see_also("note-a", "note-b"), archive("note-d", "note-c")]);
    assert_eq!(letters(&shown, &all), "rrrr");
    assert!(refusal(&shown, &merge()).contains("rests until 2026-06-11"));
    // An operation is refused while at least one of its keys rests.
    assert_eq!(letters(&shown, &json!([with(&see_also("note-a", "x"), "add", json!(["note-c", "note-b"]))])), "r");
    assert_eq!(letters(&shown, &json!([see_also("note-a", "note-c")])), "a");
    for rest in shown.resting.values_mut() {
        *rest = shown.now;
    }
    assert_eq!(letters(&shown, &all), "aaaa");
}

#[test]
fn operations_wait_if_the_model_read_tainted_text() {
    let mut tainted = shown(Pass::Gaps);
    tainted.is_tainted = true;
    assert_eq!(letters(&tainted, &json!([create(), patch()])), "ww");
    assert!(waiting(&tainted, &create()).contains("untrusted"));
    tainted.pass = Pass::Consolidate.into();
    let all = json!([merge(), parent(), see_also("note-a", "note-b"), archive("note-d", "note-c")]);
    assert_eq!(letters(&tainted, &all), "wwww");
    // A refusal takes precedence over waiting.
    assert_eq!(letters(&tainted, &json!([archive("mine", "note-c")])), "r");
    let mut one = shown(Pass::Consolidate);
    for name in ["ship-web", "mail/read", "note-b", "note-c"] {
        change(&mut one, name, |skill| skill.is_tainted = true);
    }
    assert_eq!(letters(&one, &all), "wwww");
    assert!(waiting(&one, &merge()).contains("'ship-web'"));
}

#[test]
fn a_plan_changes_a_skill_once() {
    let shown_ = shown(Pass::Consolidate);
    let other = with(&merge(), "into", json!("web-out"));
    assert_eq!(letters(&shown_, &json!([merge(), merge()])), "ar");
    assert_eq!(letters(&shown_, &json!([merge(), other])), "ar");
    // An archived skill must not be changed or archived again, or receive `see_also` entries.
    assert_eq!(letters(&shown_, &json!([merge(), archive("ship-web", "deploy-web")])), "ar");
    assert_eq!(letters(&shown_, &json!([merge(), see_also("ship-web", "note-a")])), "ar");
    assert_eq!(letters(&shown_, &json!([merge(), archive("deploy-web", "note-a")])), "ar");
    assert_eq!(letters(&shown_, &json!([archive("note-a", "note-b"), archive("note-a", "note-c")])), "ar");
    assert_eq!(letters(&shown_, &json!([merge(), see_also("deploy-web", "note-a")])), "aa");
    let shown_ = shown(Pass::Optimize);
    assert_eq!(letters(&shown_, &json!([patch(), patch()])), "ar");
    assert_eq!(letters(&shown_, &json!([patch(), see_also("deploy-web", "note-a")])), "aa");
    assert_eq!(letters(&shown_, &json!([see_also("deploy-web", "note-a"), patch()])), "ar");
}

#[test]
fn no_operation_refers_to_an_archived_skill() {
    let shown = shown(Pass::Consolidate);
    for (operations, outcome) in [
        (json!([archive("note-a", "note-b"), archive("note-b", "note-a")]), "rr"),
        (json!([archive("note-a", "note-b"), archive("note-b", "note-c"), archive("note-c", "note-a")]), "rrr"),
        (json!([archive("note-a", "note-b"), archive("note-b", "note-c")]), "ra"),
        (json!([merge(), see_also("note-a", "ship-web")]), "ar"),
        (json!([see_also("note-a", "ship-web"), merge()]), "ra"),
        (json!([archive("mail/send", "note-a"), parent()]), "wr"),
    ] {
        assert_eq!(letters(&shown, &operations), outcome, "{operations}");
    }
}

#[test]
fn an_operation_waits_or_is_refused_with_the_one_it_depends_on() {
    let mut shown = shown(Pass::Consolidate);
    let out = with(&merge(), "into", json!("web-out"));
    let after = |first: &Value| json!([first, see_also("note-a", "web-out"), see_also("web-out", "note-b")]);
    assert_eq!(letters(&shown, &after(&out)), "aaa");
    assert_eq!(letters(&shown, &after(&with(&out, "body", json!("Nothing.")))), "www");
    assert_eq!(letters(&shown, &after(&with(&out, "into", json!("hidden")))), "rrr");
    let wrong =
        with(&out, "sources", json!([{"name": "ship-web", "version": 9}, {"name": "deploy-web", "version": 3}]));
    assert_eq!(letters(&shown, &after(&wrong)), "rrr");
    // A skill is archived because the target of a merge absorbs it, so its tokens must be in the merged text.
    let into = |first: &Value| json!([first, archive("kept-by-agent", "deploy-web")]);
    shown.skills.push(super::fixture::skill("kept-by-agent", "Run `npm ci`."));
    shown.candidates.pairs.push(["kept-by-agent".to_owned(), "deploy-web".to_owned()]);
    assert_eq!(letters(&shown, &into(&merge())), "aa");
    let held = with(&merge(), "body", json!("Run `npm ci`."));
    let reasons = rulings(&shown, &into(&held)).remove(1);
    assert!(
        matches!(&reasons, Ruling::Wait(reasons) if reasons == &["it depends on operation 1, which waits"]),
        "{reasons:?}"
    );
    let refused = with(&merge(), "sources", json!([{"name": "hidden", "version": 1}]));
    assert_eq!(letters(&shown, &into(&refused)), "ra");
}

#[test]
fn a_bad_operation_does_not_affect_the_others() {
    let shown = shown(Pass::Consolidate);
    let all = json!([{"op": "delete", "name": "mine"}, merge(), archive("kept", "note-a"), parent(), 5]);
    assert_eq!(letters(&shown, &all), "rarar");
    assert!(matches!(ruling(&shown, &json!({"op": "delete"})), Ruling::Refuse(reason) if reason.contains("delete")));
}

#[test]
fn checks_accept_empty_data_and_long_plans() {
    let empty = Shown {
        skills: Vec::new(),
        names: std::collections::HashSet::new(),
        sessions: Vec::new(),
        candidates: Candidates::default(),
        archiving: Archiving { days: 0, open_skills: 0, archived_lately: 0 },
        ..shown(Pass::Consolidate)
    };
    assert_eq!(check_plan(&[], &empty), []);
    let all = json!([create(), patch(), merge(), parent(), see_also("note-a", "note-b"), archive("note-d", "note-c")]);
    for pass in [Pass::Gaps, Pass::Consolidate, Pass::Optimize] {
        assert_eq!(letters(&Shown { pass: pass.into(), ..empty.clone() }, &all), "rrrrrr");
    }
    let read = read_plan(&json!({ "ops": all }).to_string(), &|_| None).unwrap();
    let many: Vec<ReadOperation> = read.iter().cycle().take(1_000).cloned().collect();
    assert_eq!(check_plan(&many, &shown(Pass::Consolidate)).len(), 1_000);
}
