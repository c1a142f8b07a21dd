use serde_json::{Value, json};

use super::super::*;
use super::fixture::{change, refusal, ruling, shown, with};
use crate::Source;

fn parent() -> Value {
    json!({"op": "parent", "name": "mail/guide", "members": ["mail/send", "mail/read"], "description": "Guides.",
        "body": "Use mail/send to send, and `mail/read` to read."})
}

#[test]
fn a_known_family_gets_a_guide() {
    let mut shown = shown(Pass::Consolidate);
    assert_eq!(ruling(&shown, &parent()), Ruling::Apply);
    // A guide may refer to protected skills.
    change(&mut shown, "mail/send", |skill| {
        (skill.source, skill.is_pinned, skill.is_whole) = (Source::User, true, false)
    });
    assert_eq!(ruling(&shown, &parent()), Ruling::Apply);
    for name in ["web/guide", "mail/guides", "guide", "mail/x/guide", "mail"] {
        assert!(refusal(&shown, &with(&parent(), "name", json!(name))).contains("not the guide"), "{name}");
    }
    shown.names.insert("mail/guide".to_owned());
    assert!(refusal(&shown, &parent()).contains("exists"));
}

#[test]
fn members_of_a_guide_must_be_shown_and_named() {
    let mut shown = shown(Pass::Consolidate);
    for (members, word) in [
        (json!(["mail/send"]), "at least 2"),
        (json!(["mail/send", "mail/send"]), "at least 2"),
        (json!(["mail/send", "mail/foreign"]), "not shown"),
        (json!(["mail/send", "deploy-web"]), "does not begin"),
    ] {
        assert!(refusal(&shown, &with(&parent(), "members", members)).contains(word), "{word}");
    }
    let body = |text: &str| with(&parent(), "body", json!(text));
    assert!(refusal(&shown, &body("Use mail/send to send, mail/reader to read.")).contains("'mail/read'"));
    assert!(refusal(&shown, &body("mail/send mail/read, token: hunter2x")).contains("secret"));
    assert!(refusal(&shown, &with(&parent(), "description", json!("x".repeat(1025)))).contains("1024"));
    change(&mut shown, "mail/read", |skill| skill.name = "mailing/read".to_owned());
    let other = with(&parent(), "members", json!(["mail/send", "mailing/read"]));
    assert!(refusal(&shown, &other).contains("does not begin"));
}

#[test]
fn a_large_family_gets_a_guide_that_names_all_members() {
    let mut shown = shown(Pass::Consolidate);
    let names: Vec<String> = (0..40).map(|n| format!("mail/skill-{n}")).collect();
    let like = shown.skills.iter().find(|skill| skill.name == "mail/send").unwrap().clone();
    shown.skills.extend(names.iter().map(|name| ShownSkill { name: name.clone(), ..like.clone() }));
    let guide = with(&with(&parent(), "members", json!(names)), "body", json!(names.join("\n")));
    assert_eq!(ruling(&shown, &guide), Ruling::Apply);
    let operation: Operation = serde_json::from_value(guide).unwrap();
    let document = operation.document(None, &shown.limits).unwrap().unwrap();
    assert_eq!(document.fields().see_also, names[..32]);
}
