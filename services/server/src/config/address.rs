//! Addresses that may hold a password or a key.

use std::fmt;
use std::ops::Deref;

use knowhow_domain::secret::MASK;
use serde::{Deserialize, Serialize, Serializer};

/// A URL as it was set. Debug output and serialized forms mask its password, and the values of its query, as some servers take
/// their key there.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Address(String);

impl Address {
    /// The URL without what is secret; a text that is no URL as it is.
    fn masked(&self) -> String {
        let Ok(mut url) = url::Url::parse(&self.0) else { return self.0.clone() };
        let hides_password = url.password().is_some() && url.set_password(Some(MASK)).is_ok();
        let query = url.query().map(masked_values);
        url.set_query(query.as_deref());
        if hides_password || query.is_some() { url.into() } else { self.0.clone() }
    }
}

impl Deref for Address {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.masked(), f)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.masked())
    }
}

/// A URL's query with the names alone.
fn masked_values(query: &str) -> String {
    let masked = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None => MASK.to_owned(),
    });
    masked.collect::<Vec<_>>().join("&")
}
