//! Reads stored settings. They may come from a later release or a manual edit.

use serde_json::{Value, json};

use super::{ChannelSettings, TenantSettings};
use crate::kernel::bounds::out_of_bounds;
use crate::kernel::validation_message::read_value;
use crate::{Channel, FieldError};

/// Settings in effect, and the stored members that this version cannot use.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSettings {
    /// Settings in effect: each unusable member has its default.
    pub settings: TenantSettings,
    /// Unusable members: of the wrong type, out of range, or unknown. Each has its pointer below the settings.
    pub unusable: Vec<FieldError>,
}

impl StoredSettings {
    /// Reads stored settings. Reading never fails: an unusable member gets its default and is reported.
    pub fn read(stored: &Value) -> Self {
        let (mut rest, mut unusable) = (stored.clone(), Vec::new());
        loop {
            match parse(&rest) {
                Ok(settings) => return Self { settings, unusable },
                // Each round removes at least one member, so the loop ends.
                Err(findings) => {
                    for finding in findings {
                        if !remove(&mut rest, &finding.pointer) {
                            rest = json!({});
                        }
                        unusable.push(finding);
                    }
                }
            }
        }
    }

    /// Checks whether the stored value of this setting is unusable.
    pub fn is_unusable(&self, setting: &str) -> bool {
        self.unusable.iter().any(|finding| finding.pointer.trim_start_matches('/') == setting)
    }
}

/// Reads settings strictly: each member must be known, have the right type and be in its range.
pub(super) fn parse(value: &Value) -> Result<TenantSettings, Vec<FieldError>> {
    if !value.is_object() {
        return Err(vec![FieldError::new("", "must be an object")]);
    }
    let settings = read_value::<TenantSettings>(value).map_err(|finding| vec![finding])?;
    // Checks the numbers as sent, because 1e39 is infinite as a 32-bit float.
    let mut findings = out_of_bounds::<TenantSettings>(value, "");
    for channel in Channel::NAMES {
        if let Some(channel_value) = value.pointer(&format!("/channels/{channel}")) {
            findings.extend(out_of_bounds::<ChannelSettings>(channel_value, &format!("/channels/{channel}")));
        }
    }
    if findings.is_empty() { Ok(settings) } else { Err(findings) }
}

/// Removes the member at a pointer. Returns `false` if the member does not exist.
fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let name = name.replace("~1", "/").replace("~0", "~");
    let members = value.pointer_mut(parent).and_then(Value::as_object_mut);
    members.is_some_and(|members| members.remove(&name).is_some())
}
