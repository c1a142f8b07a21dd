//! Texts that must not be printed.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize, Serializer};

/// Text that is printed in place of a secret.
pub const MASK: &str = "***";

/// A key, a password, or an address that contains one of these. Only code that sends or hashes a secret reads its text.
/// Debug output and serialized forms contain [`MASK`] instead, or an empty text if the secret is empty.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Serializes the text itself, for the only answer that shows a new secret to its caller.
    ///
    /// # Errors
    /// The serializer's error.
    pub fn show<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }

    fn masked(&self) -> &'static str {
        if self.0.is_empty() { "" } else { MASK }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.masked(), f)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.masked())
    }
}

#[cfg(test)]
mod tests;
