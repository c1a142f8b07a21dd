use serde_json::{Value, json};

use super::super::*;
use super::fixture::{refusal, ruling, rulings, shown, with};

fn create() -> Value {
    json!({"op": "create", "name": "book-room", "description": "Books a room. Use when people must meet.",
        "triggers": ["book a room"], "body": "Ask for the time, then call `rooms book`.", "evidence": ["s1", "s2"]})
}

#[test]
fn a_skill_is_created_for_a_recurring_request() {
    let shown = shown(Pass::Gaps);
    assert_eq!(ruling(&shown, &create()), Ruling::Apply);
    for evidence in [json!([]), json!(["s1"]), json!(["s1", "s1"]), json!(["s1", "s3"])] {
        assert!(refusal(&shown, &with(&create(), "evidence", evidence.clone())).contains("fewer than 2"), "{evidence}");
    }
    let foreign = with(&create(), "evidence", json!(["s1", "s2", "s99"]));
    assert!(refusal(&shown, &foreign).contains("not shown"));
}

#[test]
fn a_gap_of_one_conversation_needs_no_further_evidence() {
    let mut shown = shown(Pass::Gaps);
    let alone = with(&create(), "evidence", json!(["s1"]));
    assert!(matches!(ruling(&shown, &alone), Ruling::Refuse(_)));
    shown.candidates.gaps.push(std::iter::once("s1".to_owned()).collect());
    assert_eq!(ruling(&shown, &alone), Ruling::Apply);
    shown.candidates.gaps = vec![std::collections::BTreeSet::new()];
    assert!(matches!(ruling(&shown, &alone), Ruling::Refuse(_)), "nothing was found");
}

#[test]
fn a_new_skill_needs_a_free_name() {
    let shown = shown(Pass::Gaps);
    for name in ["deploy-web", "mine", "hidden"] {
        assert!(refusal(&shown, &with(&create(), "name", json!(name))).contains("exists"), "{name}");
    }
    let rulings = rulings(&shown, &json!([create(), create()]));
    assert!(matches!(&rulings[..], [Ruling::Apply, Ruling::Refuse(_)]));
}

#[test]
fn a_new_skill_too_similar_to_an_existing_one_is_refused() {
    let mut shown = shown(Pass::Gaps);
    let closest = |cosine| ClosestSkill { name: "mine".to_owned(), cosine };
    shown.closest.insert(0, closest(0.849));
    shown.closest.insert(1, closest(0.99));
    assert_eq!(ruling(&shown, &create()), Ruling::Apply);
    shown.closest.insert(0, closest(0.85));
    let reason = refusal(&shown, &create());
    assert!(reason.contains("'mine'") && reason.contains("patch it"), "{reason}");
}

#[test]
fn a_plan_creates_at_most_five_skills() {
    let mut shown = shown(Pass::Gaps);
    let of = |n: usize| format!("t{n}");
    shown.sessions.extend((0..6).map(|n| ShownSession { name: of(n), is_success: false }));
    shown.candidates.gaps = (0..6).map(|n| std::collections::BTreeSet::from([of(n)])).collect();
    let named = |n: usize| with(&create(), "name", json!(format!("room-{n}")));
    let mut all: Vec<Value> = (0..6).map(|n| with(&named(n), "evidence", json!([of(n)]))).collect();
    let rulings = rulings(&shown, &json!(all));
    assert!(rulings[..5].iter().all(|ruling| *ruling == Ruling::Apply));
    assert!(matches!(&rulings[5], Ruling::Refuse(reason) if reason.contains("at most 5")));
    // A refused operation does not count towards the limit.
    all[2]["evidence"] = json!([]);
    assert_eq!(super::fixture::letters(&shown, &json!(all)), "aaraaa");
}

#[test]
fn temporary_content_in_a_new_skill_is_refused_by_kind() {
    let shown = shown(Pass::Gaps);
    for (member, text, kind) in [
        ("body", "Since 2024-03-05 call `rooms`.", "a date"),
        ("description", "Books for ABC-123.", "a ticket id"),
        ("body", "Write to jane.doe@acme.io.", "an e-mail address"),
        ("body", "Call +49 30 1234567.", "a phone number"),
        ("body", "Ask 10.2.3.4.", "an IP address"),
        ("body", "For customer 48210033.", "a long number"),
        ("body", "The password is hunter2x.", "a secret"),
    ] {
        let reason = refusal(&shown, &with(&create(), member, json!(text)));
        assert!(reason.contains(kind) && !reason.contains("hunter2x"), "{reason}");
    }
    let trigger = with(&create(), "triggers", json!(["mail jane.doe@acme.io"]));
    assert!(refusal(&shown, &trigger).contains("e-mail"));
}

#[test]
fn claims_of_success_need_a_successful_conversation() {
    let shown = shown(Pass::Gaps);
    let claim = with(&create(), "body", json!("Verified: call `rooms book`."));
    assert!(refusal(&shown, &claim).contains("succeeded"));
    assert_eq!(ruling(&shown, &with(&claim, "evidence", json!(["s1", "s4"]))), Ruling::Apply);
}

#[test]
fn new_skills_obey_the_limits_of_documents() {
    let shown = shown(Pass::Gaps);
    for (member, value) in [
        ("description", json!("x".repeat(1025))),
        ("triggers", json!(vec!["call me"; 9])),
        ("triggers", json!(["two\nlines"])),
        ("body", json!("x".repeat(256 * 1024 + 1))),
        ("body", json!("a\0b")),
    ] {
        assert!(!refusal(&shown, &with(&create(), member, value)).is_empty());
    }
    assert_eq!(ruling(&shown, &with(&create(), "description", json!("x".repeat(1024)))), Ruling::Apply);
    assert_eq!(ruling(&shown, &with(&create(), "triggers", json!(vec!["call me"; 8]))), Ruling::Apply);
}

#[test]
fn a_request_is_answered_by_one_operation() {
    let mut shown = shown(Pass::Gaps);
    shown.candidates.gaps = vec![["s1", "s2", "s3", "s4"].map(str::to_owned).into()];
    let other = |evidence: Value| with(&with(&create(), "name", json!("room-two")), "evidence", evidence);
    for evidence in [json!(["s1", "s2"]), json!(["s3", "s4"])] {
        let both = rulings(&shown, &json!([create(), other(evidence.clone())]));
        assert!(
            matches!(&both[..], [Ruling::Apply, Ruling::Refuse(reason)] if reason.contains("operation 1 answers")),
            "{evidence}: {both:?}"
        );
    }
    let patch = json!({"op": "patch", "name": "deploy-web", "version": 3, "evidence": ["s3", "s4"],
        "edits": [{"old_string": "wait 30s", "new_string": "wait 30s, then look"}]});
    let both = rulings(&shown, &json!([patch, create()]));
    assert!(matches!(&both[..], [Ruling::Apply, Ruling::Refuse(_)]), "{both:?}");
    // A refused operation answers nothing.
    let both = rulings(&shown, &json!([with(&create(), "name", json!("mine")), create()]));
    assert!(matches!(&both[..], [Ruling::Refuse(_), Ruling::Apply]), "{both:?}");
}

#[test]
fn two_new_skills_of_a_plan_have_different_contents() {
    let mut shown = shown(Pass::Gaps);
    shown.candidates.gaps = vec![["s1", "s2"].map(str::to_owned).into(), ["s3", "s4"].map(str::to_owned).into()];
    let other = with(&with(&create(), "name", json!("room-two")), "evidence", json!(["s3", "s4"]));
    let plan = json!([create(), other]);
    assert_eq!(rulings(&shown, &plan), [Ruling::Apply, Ruling::Apply]);
    shown.twins.insert(1, vec![0]);
    assert!(matches!(&rulings(&shown, &plan)[1], Ruling::Refuse(reason) if reason.contains("operation 1 creates")));
    // A refused operation creates no skill.
    let plan = json!([with(&create(), "name", json!("mine")), other]);
    assert_eq!(rulings(&shown, &plan)[1], Ruling::Apply);
}
