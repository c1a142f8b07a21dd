//! Changes to settings, as a JSON merge patch (RFC 7396).

use std::fmt::Formatter;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::{AdditionalProperties, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::{TenantSettings, stored};
use crate::{Error, FieldError, Result};

/// A JSON merge patch for settings: absent members stay unchanged, null restores the default, objects are merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SettingsPatch(Map<String, Value>);

impl SettingsPatch {
    /// Returns the time zone that the patch sets.
    pub fn time_zone(&self) -> Option<&str> {
        self.0.get("time_zone").and_then(Value::as_str)
    }

    /// Applies the patch to stored settings. Stored members outside the patch stay unchanged, even unusable ones.
    ///
    /// # Errors
    /// `Invalid` with a pointer below `/settings` for each member of the patch that is unknown, of the wrong type, or
    /// out of range.
    pub fn apply(&self, stored: &Value) -> Result<Value> {
        let findings = self.check(stored);
        if !findings.is_empty() {
            return Err(Error::Invalid(findings));
        }
        let mut merged = stored.clone();
        merge(&mut merged, &Value::Object(self.0.clone()));
        Ok(merged)
    }

    /// Returns an error for each member of the patch that is unknown, of the wrong type, or out of range. Its pointer
    /// is below `/settings`.
    pub fn check(&self, stored: &Value) -> Vec<FieldError> {
        let mut given = Value::Object(self.0.clone());
        remove_nulls_of_stored(&mut given, stored);
        put_defaults(&mut given);
        let findings = stored::parse(&given).err().unwrap_or_default();
        findings.into_iter().map(|f| FieldError::new(format!("/settings{}", f.pointer), f.detail)).collect()
    }
}

/// Removes nulls for stored members from the patch, so that stored members can be reset even if this version does not
/// know them.
fn remove_nulls_of_stored(given: &mut Value, stored: &Value) {
    let (Some(given), Some(stored)) = (given.as_object_mut(), stored.as_object()) else { return };
    given.retain(|name, value| !(value.is_null() && stored.contains_key(name)));
    for (name, value) in given {
        if let Some(stored) = stored.get(name) {
            remove_nulls_of_stored(value, stored);
        }
    }
}

/// Replaces nulls by defaults, so that the patch can be read as settings.
fn put_defaults(given: &mut Value) {
    let defaults = json!(TenantSettings::default());
    for (name, value) in given.as_object_mut().into_iter().flatten().filter(|(_, value)| value.is_null()) {
        *value = defaults.get(name).cloned().unwrap_or_default();
    }
    let channels = given.get_mut("channels").and_then(Value::as_object_mut);
    for channel in channels.into_iter().flatten().map(|(_, value)| value).filter(|value| value.is_null()) {
        *channel = json!({});
    }
}

/// Merges a patch into a value according to RFC 7396.
pub(super) fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Some(members) = target.as_object_mut() else { return };
    for (name, value) in patch {
        if value.is_null() {
            members.remove(name);
        } else {
            merge(members.entry(name).or_insert_with(|| json!({})), value);
        }
    }
}

impl<'de> Deserialize<'de> for SettingsPatch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

/// Reads members and rejects duplicates: a map would silently use the last.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = SettingsPatch;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut given: A) -> Result<SettingsPatch, A::Error> {
        let mut members = Map::new();
        while let Some((name, value)) = given.next_entry::<String, Value>()? {
            if members.contains_key(&name) {
                return Err(serde::de::Error::custom(format!("duplicate field `{name}`")));
            }
            members.insert(name, value);
        }
        Ok(SettingsPatch(members))
    }
}

impl PartialSchema for SettingsPatch {
    fn schema() -> RefOr<Schema> {
        let mut schema = TenantSettings::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            let text = "A JSON merge patch (RFC 7396) of settings: absent members stay, null restores the default, objects merge.";
            object.description = Some(text.into());
            for member in object.properties.values_mut() {
                *member = or_null(std::mem::replace(member, Object::new().into()));
            }
        }
        schema
    }
}

impl ToSchema for SettingsPatch {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        TenantSettings::schemas(schemas);
    }
}

/// Returns the schema of a member that may also be null. The default is removed, because an absent member stays
/// unchanged.
fn or_null(member: RefOr<Schema>) -> RefOr<Schema> {
    match member {
        RefOr::T(Schema::Object(mut object)) => {
            object.default = None;
            object.additional_properties = object.additional_properties.map(|members| match *members {
                AdditionalProperties::RefOr(member) => Box::new(AdditionalProperties::RefOr(or_null(member))),
                closed => Box::new(closed),
            });
            if let SchemaType::Type(kind) = object.schema_type {
                object.schema_type = SchemaType::from_iter([kind, Type::Null]);
            }
            object.into()
        }
        RefOr::Ref(mut reference) => {
            reference.default = None;
            OneOfBuilder::new().item(reference).item(Object::with_type(Type::Null)).into()
        }
        other => OneOfBuilder::new().item(other).item(Object::with_type(Type::Null)).into(),
    }
}
