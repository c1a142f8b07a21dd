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

/// Last segments of forms that have no page of the same path, with the number of segments to their page.
const ACTIONS: [(&str, usize); 12] = [
    ("rollback", 1),
    ("relate", 1),
    ("unrelate", 1),
    ("forget", 1),
    ("approve", 1),
    ("reject", 1),
    ("reason", 1),
    ("suspend", 1),
    ("resume", 1),
    ("retry", 2),
    ("discard", 2),
    ("logout", 1),
];

/// Returns the path of the page that a form belongs to.
pub fn page_of(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or_default();
    let levels = ACTIONS.iter().find(|(action, _)| *action == last).map_or(0, |(_, levels)| *levels);
    (0..levels).fold(path, |path, _| path.rsplit_once('/').map_or(path, |(above, _)| above))
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
