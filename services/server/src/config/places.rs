//! Parses the databases in `KNOWHOW_PLACES` and `DATABASE_URLS`.

use anyhow::{Result, bail};
use knowhow_domain::Secret;
use knowhow_store::{HOME_NAME, PlaceConfig};

/// Maximum length of the name of a place, in bytes.
const LONGEST_NAME: usize = 63;

/// Parses `name=postgres://...` entries, separated by spaces or line breaks. Errors name `variable` but do not quote
/// the URLs, which contain passwords.
///
/// # Errors
/// Fails for an entry without a name, an invalid name or a repeated name.
pub(super) fn parse(variable: &str, text: &str) -> Result<Vec<PlaceConfig>> {
    let mut places: Vec<PlaceConfig> = Vec::new();
    for (n, entry) in text.split_whitespace().enumerate() {
        let Some((name, url)) = entry.split_once('=').filter(|(name, _)| is_name(name)) else {
            bail!(
                "{variable}, entry {}: write name=postgres://..., with a name of lower-case letters, digits and '-', at most \
                 {LONGEST_NAME}",
                n + 1
            );
        };
        if places.iter().any(|place| place.name == name) {
            bail!("{variable}: the place '{name}' is listed twice");
        }
        places.push(PlaceConfig { name: name.to_owned(), url: Secret::from(url) });
    }
    Ok(places)
}

/// Parses the databases other than `home`. The URL of `home` is a separate setting, `KNOWHOW_DATABASE_URL`.
///
/// # Errors
/// Fails like [`parse`], and for an entry named `home`.
pub(super) fn parse_others(text: &str) -> Result<Vec<PlaceConfig>> {
    let places = parse("KNOWHOW_PLACES", text)?;
    if places.iter().any(|place| place.name == HOME_NAME) {
        bail!("KNOWHOW_PLACES: '{HOME_NAME}' is the database of KNOWHOW_DATABASE_URL; give the other another name");
    }
    Ok(places)
}

fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(fits)
}

#[cfg(test)]
mod tests;
