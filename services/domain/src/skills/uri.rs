//! Formats and parses skill URIs, `skill://<skill name>/<file path>`.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::kernel::limits::SEGMENTS;
use crate::skills::name::SkillName;

const SCHEME: &str = "skill://";
const URI_BYTES: usize = 1024;

/// Returns the URI of a skill's file, e.g. `skill://mcp/email/references/api.md`.
pub fn file_uri(name: &str, path: &str) -> String {
    let mut uri = String::with_capacity(SCHEME.len() + name.len() + 1 + path.len());
    uri.push_str(SCHEME);
    encode(name, &mut uri);
    uri.push('/');
    encode(path, &mut uri);
    uri
}

/// Returns the URI of a folder, without a final slash; `skill://` for all skills.
pub fn directory_uri(path: &str) -> String {
    let mut uri = SCHEME.to_owned();
    encode(path, &mut uri);
    uri
}

/// Returns the path below `skill://`, percent-decoded once. Unencoded paths are accepted too. Returns `None` if the
/// text is not a skill URI or is ambiguous.
pub fn path_of(uri: &str) -> Option<String> {
    let rest = uri.strip_prefix(SCHEME)?;
    if uri.len() > URI_BYTES || rest.contains(['?', '#']) {
        return None;
    }
    if rest.is_empty() {
        return Some(String::new());
    }
    let segments: Vec<String> = rest.split('/').map(decoded_segment).collect::<Option<_>>()?;
    Some(segments.join("/"))
}

/// Returns all ways to split a path into a skill's name and a file's path, longest name first.
pub fn splits(path: &str) -> Vec<(&str, &str)> {
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).take(SEGMENTS).collect();
    let parts = slashes.iter().rev().map(|&at| (&path[..at], &path[at + 1..]));
    parts.filter(|(name, file)| !file.is_empty() && SkillName::parse(name).is_ok()).collect()
}

/// Returns the skill of a SKILL.md URI, if the URI is spelled as [`file_uri`] writes it.
pub fn skill_of(uri: &str) -> Option<SkillName> {
    let name = uri.strip_prefix(SCHEME)?.strip_suffix("/SKILL.md")?;
    SkillName::parse(name).ok()
}

/// Characters that are escaped in a path. The removed characters are allowed in a path (RFC 3986, `pchar`):
/// unreserved, sub-delims, `:` and `@`, and the slashes between segments.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

fn encode(path: &str, out: &mut String) {
    out.extend(utf8_percent_encode(path, &ESCAPED));
}

fn decoded_segment(segment: &str) -> Option<String> {
    let text = percent_decode(segment)?;
    // An escaped slash would change the segments, and `..` would leave the folder.
    let forbidden = |c: char| matches!(c, '/' | '\\') || c.is_control();
    let names_something = !matches!(text.as_str(), "" | "." | "..");
    (names_something && !text.contains(forbidden)).then_some(text)
}

/// Decodes the escapes in a part of a URI (RFC 3986, 2.1). Returns `None` if an escape is broken or the bytes are not
/// UTF-8.
pub fn percent_decode(part: &str) -> Option<String> {
    // The library would accept a broken escape as text.
    let is_whole =
        |behind: &str| behind.as_bytes().first_chunk::<2>().is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !part.split('%').skip(1).all(is_whole) {
        return None;
    }
    percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests;
