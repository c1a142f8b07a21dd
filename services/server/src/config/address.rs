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
    /// Returns the URL without its secrets. It is split as a text, because the crate `url` rejects several hosts.
    fn masked(&self) -> String {
        let (address, query) = match self.0.split_once('?') {
            Some((address, query)) => (address, format!("?{}", masked_values(query))),
            None => (&*self.0, String::new()),
        };
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        // The last '@': a password may have an unencoded '/' or '@'.
        let Some((login, hosts)) = rest.rsplit_once('@') else {
            // With a '@' behind the '?', that may be a part of the password.
            return if self.0.contains('@') { format!("{scheme}://{MASK}") } else { format!("{address}{query}") };
        };
        let user = login.split_once(':').map_or(login.to_owned(), |(user, _)| format!("{user}:{MASK}"));
        format!("{scheme}://{user}@{hosts}{query}")
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
