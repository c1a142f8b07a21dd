use serde_json::{Value, json};

use super::super::*;
use super::fixture::{PROTECTED, change, letters, refusal, ruling, shown, with};

fn see_also() -> Value {
    json!({"op": "see_also", "name": "deploy-web", "add": ["ship-web", "mine", "kept"]})
}

#[test]
fn a_skill_points_at_any_shown_skill() {
    let mut shown = shown(Pass::Consolidate);
    assert_eq!(ruling(&shown, &see_also()), Ruling::Apply);
    change(&mut shown, "deploy-web", |skill| skill.is_whole = false);
    assert_eq!(ruling(&shown, &see_also()), Ruling::Apply);
    for (add, word) in [(json!(["hidden"]), "not shown"), (json!(["deploy-web"]), "itself")] {
        assert!(refusal(&shown, &with(&see_also(), "add", add)).contains(word), "{word}");
    }
    assert!(refusal(&shown, &with(&see_also(), "name", json!("hidden"))).contains("not shown"));
}

#[test]
fn pointers_are_not_added_to_protected_skills() {
    let mut shown = shown(Pass::Consolidate);
    for source in PROTECTED {
        change(&mut shown, "deploy-web", |skill| skill.source = source);
        assert!(refusal(&shown, &see_also()).contains("must not change it"), "{source:?}");
    }
    assert!(
        refusal(&shown, &with(&with(&see_also(), "name", json!("kept")), "add", json!(["mine"]))).contains("pinned")
    );
}

#[test]
fn a_skill_has_at_most_eight_pointers_and_known_ones_are_refused() {
    let mut shown = shown(Pass::Consolidate);
    let known = "see-also: [ship-web, mine, note-a, note-b, note-c, note-d]\n";
    change(&mut shown, "deploy-web", |skill| {
        skill.raw = skill.raw.replace("allowed-tools", &format!("{known}allowed-tools"))
    });
    let add = |names: &[&str]| with(&see_also(), "add", json!(names));
    assert!(refusal(&shown, &add(&["ship-web", "mine"])).contains("already"));
    assert_eq!(ruling(&shown, &add(&["ship-web", "kept", "note-e", "kept"])), Ruling::Apply);
    assert!(refusal(&shown, &add(&["kept", "note-e", "note-f"])).contains("at most 8"));
}

#[test]
fn pointers_may_follow_another_change_but_not_other_pointers() {
    let shown = shown(Pass::Consolidate);
    let guide = json!({"op": "parent", "name": "mail/guide", "members": ["mail/send", "mail/read"], "description": "Guides.",
        "body": "Use mail/send or mail/read."});
    let to_guide = json!({"op": "see_also", "name": "mail/send", "add": ["mail/guide"]});
    let of_guide = json!({"op": "see_also", "name": "mail/guide", "add": ["mail/send"]});
    assert_eq!(letters(&shown, &json!([guide, to_guide, of_guide, to_guide, of_guide])), "aaarr");
    assert_eq!(letters(&shown, &json!([to_guide, of_guide, guide])), "rra");
}
