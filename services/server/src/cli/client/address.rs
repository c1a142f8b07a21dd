//! Addresses: what the user gives, and how errors show them.

use anyhow::{Context, Result, ensure};
use reqwest::Url;

/// Checks a service's address. Errors do not quote it, as it may hold credentials.
///
/// # Errors
/// If it is no HTTP address, or has more than a host, a port and a path.
pub(super) fn parse(text: &str) -> Result<String> {
    let wrong = "the service's address (KNOWHOW_URL or --url)";
    let url = Url::parse(text).ok().with_context(|| format!("{wrong} is not a URL such as https://knowhow.example"))?;
    ensure!(matches!(url.scheme(), "http" | "https"), "{wrong} must begin with http:// or https://");
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    ensure!(!has_credentials, "{wrong} has a user or password: leave them out, and give a token with KNOWHOW_TOKEN");
    let is_base = url.query().is_none() && url.fragment().is_none();
    ensure!(is_base, "{wrong} has a query or fragment: leave out everything from ? or # on");
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns the address without credentials, query and fragment.
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
