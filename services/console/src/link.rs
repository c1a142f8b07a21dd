//! Addresses of pages. Names are content, so they are percent-encoded.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters of a path segment or query value that need no encoding.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Encodes a segment of a path, or a value of a query.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// Returns the path of a skill's page.
pub fn skill(name: &str) -> String {
    format!("/console/skills/{}", encode(name))
}

/// Returns the path of a user's page, for admins.
pub fn user(external_id: &str) -> String {
    format!("/console/users/{}", encode(external_id))
}

/// Writes a query from the parameters that have a value.
pub fn query(parameters: &[(&str, Option<&str>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!("{name}={}", encode(value)))
    });
    let joined = given.collect::<Vec<_>>().join("&");
    if joined.is_empty() { joined } else { format!("?{joined}") }
}

/// Adds the result of an action to a path of the console.
pub fn after(path: &str, done: &str) -> String {
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}done={done}")
}

/// Returns `next` if it is a page of the console, else the console's first page.
pub fn inside(next: Option<&str>) -> &str {
    let is_inside = |next: &&str| {
        let rest = next.strip_prefix("/console");
        let is_page = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with('?'));
        let path = next.split(['?', '#']).next().unwrap_or_default();
        is_page
            && next.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
            && !path.split('/').any(is_relative)
    };
    next.filter(is_inside).unwrap_or("/console")
}

/// Returns whether a segment of a path leads to another folder. A browser reads `%2e` as a dot.
fn is_relative(segment: &str) -> bool {
    matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..")
}

#[cfg(test)]
mod tests;
