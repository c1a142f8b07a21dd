//! Parses URLs that users give, and shows URLs without secrets.

use anyhow::{Context, Result, ensure};
use reqwest::Url;

/// Parses the URL of a service. Errors do not quote it, because it may contain credentials.
///
/// # Errors
/// Fails if it is not an HTTP URL, or if it has parts other than a host, a port and a path.
pub(super) fn parse(text: &str) -> Result<String> {
    let wrong = "the service's address (KNOWHOW_URL or --url)";
    let url = Url::parse(text).ok().with_context(|| format!("{wrong} is not a URL such as https://knowhow.example"))?;
    ensure!(matches!(url.scheme(), "http" | "https"), "{wrong} must begin with http:// or https://");
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    ensure!(!has_credentials, "{wrong} contains a user or password: remove them, and set KNOWHOW_TOKEN instead");
    let is_base = url.query().is_none() && url.fragment().is_none();
    ensure!(is_base, "{wrong} contains a query or fragment: remove everything from ? or # on");
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns a URL without credentials, query and fragment.
pub(super) fn shown(url: &Url) -> String {
    let origin = url.origin();
    if origin.is_tuple() {
        format!("{}{}", origin.ascii_serialization(), url.path())
    } else {
        format!("{}:", url.scheme())
    }
}

#[cfg(test)]
mod tests;
