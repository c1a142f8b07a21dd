//! Skill URIs, `skill://<skill name>/<file path>`: how they are written and what they are read as.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::limits::SEGMENTS;
use crate::name::SkillName;

const SCHEME: &str = "skill://";
const URI_BYTES: usize = 1024;

/// The URI of a file of a skill, e.g. `skill://mcp/email/references/api.md`.
pub fn file_uri(name: &str, path: &str) -> String {
    let mut uri = String::with_capacity(SCHEME.len() + name.len() + 1 + path.len());
    uri.push_str(SCHEME);
    encode(name, &mut uri);
    uri.push('/');
    encode(path, &mut uri);
    uri
}

/// The URI of a folder, without a slash at its end; that of all skills is `skill://`.
pub fn directory_uri(path: &str) -> String {
    let mut uri = SCHEME.to_owned();
    encode(path, &mut uri);
    uri
}

/// The path below `skill://`, percent-decoded once. A path that a client did not encode is taken as well; `None` for
/// what is no skill URI or would name something else than it seems to.
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

/// Every way in which a path reads as a skill's name and the path of one of its files, the longest name first.
pub fn splits(path: &str) -> Vec<(&str, &str)> {
    let slashes: Vec<usize> = path.match_indices('/').map(|(at, _)| at).take(SEGMENTS).collect();
    let parts = slashes.iter().rev().map(|&at| (&path[..at], &path[at + 1..]));
    parts.filter(|(name, file)| !file.is_empty() && SkillName::parse(name).is_ok()).collect()
}

/// The skill whose SKILL.md the URI names, in the one spelling that [`file_uri`] gives it.
pub fn skill_of(uri: &str) -> Option<SkillName> {
    let name = uri.strip_prefix(SCHEME)?.strip_suffix("/SKILL.md")?;
    SkillName::parse(name).ok()
}

/// What a path has as it is (RFC 3986, `pchar`): unreserved, sub-delims, `:` and `@`, and the slashes between its segments.
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
    // An escaped slash would move the borders between segments, dots would climb.
    let forbidden = |c: char| matches!(c, '/' | '\\') || c.is_control();
    let names_something = !matches!(text.as_str(), "" | "." | "..");
    (names_something && !text.contains(forbidden)).then_some(text)
}

/// A part of a URI without its escapes (RFC 3986, 2.1); `None` where one is broken or the bytes are no UTF-8.
pub fn percent_decode(part: &str) -> Option<String> {
    // The library takes a broken escape for what it says.
    let is_whole =
        |behind: &str| behind.as_bytes().first_chunk::<2>().is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !part.split('%').skip(1).all(is_whole) {
        return None;
    }
    percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned)
}

#[cfg(test)]
mod tests;
