//! The databases besides the first that tenants may live in, as operators write them.

use anyhow::{Result, bail};
use knowhow_domain::Secret;
use knowhow_store::{HOME_NAME, PlaceConfig};

/// Longest name of a place.
const LONGEST_NAME: usize = 63;

/// Reads `name=postgres://...`, several of them with spaces or line ends between. `variable` is named where that is not so; the URLs
/// are not, as they hold passwords.
///
/// # Errors
/// For an entry without a name, a name that cannot be one, and one that is there twice.
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
            bail!("{variable}: the place '{name}' is there twice");
        }
        places.push(PlaceConfig { name: name.to_owned(), url: Secret::from(url) });
    }
    Ok(places)
}

/// The places besides the first, which is `home` and has its URL in `KNOWHOW_DATABASE_URL`.
///
/// # Errors
/// As [`parse`], and for one of that name.
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
