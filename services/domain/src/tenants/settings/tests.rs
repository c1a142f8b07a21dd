use serde_json::{Value, json};

use super::*;
use crate::Error;

fn patch(value: Value) -> SettingsPatch {
    serde_json::from_value(value).unwrap()
}

fn pointers(refusal: Error) -> Vec<String> {
    match refusal {
        Error::Invalid(findings) => findings.into_iter().map(|finding| finding.pointer).collect(),
        other => panic!("{other}"),
    }
}

#[test]
fn an_unusable_stored_setting_has_its_default() {
    let stored = json!({
        "min_score": 1e39, "skill_decay": -1, "memory_decay": "0.5", "importance_floor": null, "review": "strict",
        "audit_days": 99_999, "archive_days": 7, "from_a_later_release": {"a": 1}, "time_zone": 5,
        "dreams": {"gaps": "off", "optimize": "sometimes", "nap": "off"},
        "channels": {
            "chat": {"min_score": 1e308, "max_turns": 3, "tools": "all"}, "sms": [1], "voice": null, "fax": {"max_turns": 2},
        },
    });
    let StoredSettings { settings, unusable } = StoredSettings::read(&stored);
    let mut expected = TenantSettings { archive_days: 7, ..TenantSettings::default() };
    expected.dreams.gaps = Some(Mode::Off);
    expected.channels.insert(Channel::Chat, ChannelSettings { max_turns: Some(3), ..ChannelSettings::default() });
    assert_eq!(settings, expected);
    let mut found: Vec<&str> = unusable.iter().map(|finding| finding.pointer.as_str()).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "/audit_days",
            "/channels/chat/min_score",
            "/channels/chat/tools",
            "/channels/fax",
            "/channels/sms",
            "/channels/voice",
            "/dreams/nap",
            "/dreams/optimize",
            "/from_a_later_release",
            "/importance_floor",
            "/memory_decay",
            "/min_score",
            "/review",
            "/skill_decay",
            "/time_zone",
        ]
    );
}

#[test]
fn stored_settings_of_any_shape_are_read() {
    for stored in
        [json!(null), json!([]), json!([1, 2]), json!("x"), json!(7), json!({"": 1, "a/b~c": 2, "channels": 5})]
    {
        let read = StoredSettings::read(&stored);
        assert_eq!(read.settings, TenantSettings::default(), "{stored}");
        assert!(!read.unusable.is_empty(), "{stored}");
    }
    let whole = json!(TenantSettings::default());
    assert_eq!(StoredSettings::read(&whole).unusable, []);
    assert_eq!(StoredSettings::read(&json!({})).unusable, []);
}

#[test]
fn a_patch_is_merged_into_stored_settings() {
    let stored = json!({"audit_days": 2000, "channels": {"chat": {"max_turns": 3, "min_score": 0.5}}, "later": 1});
    let given = json!({"users": 5, "channels": {"chat": {"min_score": null}, "sms": {"max_turns": 1}}});
    let merged = patch(given).apply(&stored).unwrap();
    let expected = json!({
        "audit_days": 2000, "channels": {"chat": {"max_turns": 3}, "sms": {"max_turns": 1}}, "later": 1, "users": 5,
    });
    assert_eq!(merged, expected);
    let cleared = patch(json!({"audit_days": null, "channels": null, "later": null, "users": null})).apply(&merged);
    assert_eq!(cleared.unwrap(), json!({}));
    assert_eq!(patch(json!({})).apply(&json!([])).unwrap(), json!({}));
}

#[test]
fn a_patch_replaces_unusable_settings() {
    let stored = json!({"min_score": 1e39, "review": null, "channels": {"fax": {}, "chat": {"tools": 5}}});
    let repaired = patch(json!({"min_score": 0.5, "channels": {"fax": null, "chat": {"tools": "full"}}}));
    let repaired = repaired.apply(&stored).unwrap();
    assert_eq!(repaired, json!({"min_score": 0.5, "review": null, "channels": {"chat": {"tools": "full"}}}));
    assert_eq!(patch(json!({"review": null})).apply(&repaired).unwrap()["review"], Value::Null);
}

#[test]
fn a_patch_out_of_bounds_is_refused() {
    for (given, pointer) in [
        (json!({"min_score": 1e39}), "/settings/min_score"),
        (json!({"min_score": -1e-9}), "/settings/min_score"),
        (json!({"skill_decay": "NaN"}), "/settings/skill_decay"),
        (json!({"users": 1e39}), "/settings/users"),
        (json!({"audit_days": 29}), "/settings/audit_days"),
        (json!({"audit_day": null}), "/settings/audit_day"),
        (json!({"channels": {"fax": null}}), "/settings/channels/fax"),
        (json!({"channels": {"sms": {"min_score": 1e308}}}), "/settings/channels/sms/min_score"),
        (json!({"channels": {"sms": {"max_turn": null}}}), "/settings/channels/sms/max_turn"),
        (json!({"dreams": []}), "/settings/dreams"),
    ] {
        assert_eq!(pointers(patch(given).apply(&json!({})).unwrap_err()), [pointer]);
    }
    let twice = serde_json::from_str::<SettingsPatch>(r#"{"users": 1, "users": 2}"#).unwrap_err();
    assert!(twice.to_string().contains("duplicate field `users`"), "{twice}");
}

#[test]
fn less_retention_needs_confirmation() {
    let read = |stored: Value| StoredSettings::read(&stored);
    let refused =
        |old: Value, new: Value| require_longer_retention(&read(old), &read(new)).err().map(|e| e.to_string());
    for name in [
        "audit_days",
        "conversation_days",
        "archive_days",
        "example_days",
        "versions_per_skill",
        "stored_bytes_per_user",
        "sessions_per_user",
        "conversation_bytes_per_user",
    ] {
        let (more, less) = (json!({ name: 2_000_000 }), json!({ name: 1_500_000 }));
        let days = name.ends_with("_days") || name == "versions_per_skill" || name == "sessions_per_user";
        let (more, less) = if days { (json!({ name: 300 }), json!({ name: 200 })) } else { (more, less) };
        let (more, less) = match name {
            "stored_bytes_per_user" => {
                (json!({ name: 2_000_000, "bytes_per_user": 0 }), json!({ name: 1_500_000, "bytes_per_user": 0 }))
            }
            _ => (more, less),
        };
        assert!(refused(more.clone(), less.clone()).is_some_and(|detail| detail.contains(name)), "{name}");
        assert_eq!(refused(less, more.clone()), None, "{name}");
        assert_eq!(refused(more.clone(), more), None, "{name}");
    }
    // Going back to a shorter default, or replacing an unusable value, also needs confirmation.
    assert!(refused(json!({"audit_days": 2000}), json!({})).is_some());
    assert!(refused(json!({"audit_days": "2000"}), json!({"audit_days": 1000})).is_some());
    assert_eq!(refused(json!({"audit_days": "2000"}), json!({"audit_days": "2000", "users": 1})), None);
    assert_eq!(refused(json!({"users": 5}), json!({"users": 1, "skills_per_user": 0})), None);
}

#[test]
fn a_difference_contains_only_changed_members() {
    let (old, new) = (json!({"channels": {"chat": {"max_turns": 3}}}), json!({"audit_days": 500, "users": 1}));
    let (old, new) = difference(&described("a", &old), &described("a", &new));
    assert_eq!(
        old,
        json!({"settings": {"audit_days": 400, "users": 1_000_000, "channels": {"chat": {"max_turns": 3}}}})
    );
    let channels = json!({"chat": null});
    assert_eq!(new, json!({"settings": {"audit_days": 500, "users": 1, "channels": channels}}));
}
