//! Describes changes to a tenant for the audit log.

use serde_json::{Map, Value, json};

use super::TenantSettings;
use super::patch::merge;

/// Returns a tenant's name and all its settings: stored values, and defaults for settings without a stored value.
pub fn described(name: &str, stored: &Value) -> Value {
    let mut settings = json!(TenantSettings::default());
    if stored.is_object() {
        merge(&mut settings, stored);
    }
    json!({ "name": name, "settings": settings })
}

/// Returns the members that differ between two values, with their old and new values. An absent member is null.
pub fn difference(old: &Value, new: &Value) -> (Value, Value) {
    let (Value::Object(before), Value::Object(after)) = (old, new) else { return (old.clone(), new.clone()) };
    let (mut from, mut to) = (Map::new(), Map::new());
    let added = after.keys().filter(|name| !before.contains_key(*name));
    for name in before.keys().chain(added) {
        let of = |members: &Map<String, Value>| members.get(name).cloned().unwrap_or_default();
        let (old, new) = (of(before), of(after));
        if old != new {
            let (old, new) = difference(&old, &new);
            from.insert(name.clone(), old);
            to.insert(name.clone(), new);
        }
    }
    (from.into(), to.into())
}
