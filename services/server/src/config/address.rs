//! URLs that may contain a password or a key.

use std::fmt;
use std::ops::Deref;

use knowhow_domain::kernel::secret::MASK;
use serde::{Deserialize, Serialize, Serializer};

/// A URL from the settings. Debug output and serialized settings mask its password. They also mask the values in its
/// query, because some servers expect a key there.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct ConfiguredUrl(String);

impl ConfiguredUrl {
    /// Returns the URL without its secrets. The URL is split as text, because the crate `url` rejects URLs with
    /// several hosts.
    fn masked(&self) -> String {
        let (address, query) = match self.0.split_once('?') {
            Some((address, query)) => (address, format!("?{}", masked_values(query))),
            None => (&*self.0, String::new()),
        };
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        // The login ends at the last '@', because a password may have an unencoded '/' or '@'.
        let Some((login, hosts)) = rest.rsplit_once('@') else {
            // If there is a '@' after the '?', the apparent query may be a part of the password, so everything is
            // masked.
            return if self.0.contains('@') { format!("{scheme}://{MASK}") } else { format!("{address}{query}") };
        };
        let user = login.split_once(':').map_or(login.to_owned(), |(user, _)| format!("{user}:{MASK}"));
        format!("{scheme}://{user}@{hosts}{query}")
    }
}

impl Deref for ConfiguredUrl {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ConfiguredUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.masked(), f)
    }
}

impl Serialize for ConfiguredUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.masked())
    }
}

/// Masks the values in a URL's query. The names stay readable.
fn masked_values(query: &str) -> String {
    let masked = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None => MASK.to_owned(),
    });
    masked.collect::<Vec<_>>().join("&")
}
