//! Detects credentials in the query of a URL. Credentials are never accepted there, because URLs are logged.

use knowhow_domain::{Error, Result};
use url::form_urlencoded;

/// Parameter names that clients use for credentials. They are in lower case and without `-`, `_` and `.`.
const NAMES: [&str; 19] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "auth",
    "authorization",
    "authtoken",
    "bearer",
    "bearertoken",
    "credential",
    "credentials",
    "idtoken",
    "jwt",
    "key",
    "password",
    "secret",
    "token",
    "xaccesstoken",
    "xapikey",
];

/// Prefix of an API key.
const KEY: &str = "kh_";
/// Minimum length of a text that is rejected as an API key. It covers the prefix, 12 characters, and the start of the
/// secret.
const SHORTEST_KEY: usize = 32;

/// Error message for a credential in the query.
pub const HINT: &str = "a token in the URL is not accepted, because URLs are logged: send it in the header \
    Authorization: Bearer, and replace the token that was sent in the URL";

/// Returns whether any parameter of a query has a name or value that looks like a credential.
pub fn has_token(query: &str) -> bool {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    parameters.any(|(name, value)| is_named_like_token(&name) || resembles_token(&name) || resembles_token(&value))
}

/// Rejects a query that contains an API key or a JWT. The error does not quote it.
pub fn refuse_tokens(query: &str) -> Result<()> {
    let mut texts = form_urlencoded::parse(query.as_bytes()).flat_map(|(name, value)| [name, value]);
    if texts.any(|text| is_jwt(credential(&text)) || is_api_key(credential(&text))) {
        return Err(Error::Malformed(HINT.into()));
    }
    Ok(())
}

/// Returns whether clients use this parameter name for credentials.
fn is_named_like_token(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect();
    NAMES.contains(&plain.as_str())
}

/// Returns whether a text may be a credential or a part of one.
pub fn resembles_token(text: &str) -> bool {
    let text = credential(text);
    begins_like_key(text) || is_jwt(text)
}

/// Removes a leading `Bearer` from a text.
fn credential(text: &str) -> &str {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer") => rest.trim(),
        _ => text,
    }
}

fn begins_like_key(text: &str) -> bool {
    text.get(..KEY.len()).is_some_and(|mark| mark.eq_ignore_ascii_case(KEY))
}

fn is_api_key(text: &str) -> bool {
    let is_one_word = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    begins_like_key(text) && text.len() >= SHORTEST_KEY && is_one_word
}

/// Returns whether a text looks like a JWT. A signed token has three parts, an encrypted one five. The first part is
/// a JSON object in base64url, so it starts with `eyJ`.
fn is_jwt(text: &str) -> bool {
    let in_alphabet = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'='));
    text.starts_with("eyJ") && matches!(text.split('.').count(), 3 | 5) && text.split('.').all(in_alphabet)
}

#[cfg(test)]
mod tests;
