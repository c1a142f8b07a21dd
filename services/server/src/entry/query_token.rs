//! Credentials in the query of an address. They are never read there, because addresses are logged.

use knowhow_domain::{Error, Result};
use url::form_urlencoded;

/// Names under which clients send credentials, in small letters and without `-`, `_` and `.`.
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

/// Mark of an API key.
const KEY: &str = "kh_";
/// Length of the shortest text that is refused as an API key: the mark, 12 characters, and the beginning of the secret.
const SHORTEST_KEY: usize = 32;

/// Says what to do with a credential that came in a query.
pub const HINT: &str = "a token in the address is not read, because addresses are logged: send it in the header \
    Authorization: Bearer, and replace the one that was sent in the address";

/// Whether a query has a parameter that is named like a credential or looks like one.
pub fn has_token(query: &str) -> bool {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    parameters.any(|(name, value)| is_named_like_token(&name) || resembles_token(&name) || resembles_token(&value))
}

/// Refuses a query with an API key or a JWT, without repeating it.
///
/// # Errors
/// `Malformed`.
pub fn refuse_tokens(query: &str) -> Result<()> {
    let mut texts = form_urlencoded::parse(query.as_bytes()).flat_map(|(name, value)| [name, value]);
    if texts.any(|text| is_jwt(credential(&text)) || is_api_key(credential(&text))) {
        return Err(Error::Malformed(HINT.into()));
    }
    Ok(())
}

/// Whether clients send credentials under this name.
fn is_named_like_token(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).flat_map(char::to_lowercase).collect();
    NAMES.contains(&plain.as_str())
}

/// Whether a text may be a credential or a part of one.
pub fn resembles_token(text: &str) -> bool {
    let text = credential(text);
    begins_like_key(text) || is_jwt(text)
}

/// The text without a scheme in front of it.
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

/// A signed token has three parts, an encrypted one five. The first is an object of JSON in base64url, so it begins with `eyJ`.
fn is_jwt(text: &str) -> bool {
    let in_alphabet = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'='));
    text.starts_with("eyJ") && matches!(text.split('.').count(), 3 | 5) && text.split('.').all(in_alphabet)
}

#[cfg(test)]
mod tests;
