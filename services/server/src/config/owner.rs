//! What commands need that change databases as their owner: settings of those commands alone, which the service never sees.

use anyhow::{Result, bail};
use knowhow_store::PlaceConfig;

use super::{environment, places};

/// The URL that `migrate` connects with: `DATABASE_URL`, or what the file of `DATABASE_URL_FILE` says, of a superuser or the
/// database's owner.
///
/// # Errors
/// Where neither is set, or both are.
#[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
pub fn owner_url() -> Result<String> {
    match (std::env::var("DATABASE_URL"), std::env::var("DATABASE_URL_FILE")) {
        (Ok(_), Ok(_)) => bail!("set DATABASE_URL or DATABASE_URL_FILE, not both"),
        (Ok(url), _) => Ok(url),
        (_, Ok(path)) => environment::read_file("DATABASE_URL_FILE", &path),
        _ => bail!("set DATABASE_URL to the URL by which a superuser or the database's owner connects"),
    }
}

/// The URLs by which superusers connect to the places that a tenant is moved between: `DATABASE_URLS`, or what the file of
/// `DATABASE_URLS_FILE` says.
///
/// # Errors
/// Where neither is set, or both are, or they are not written as they must be.
#[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
pub fn owner_urls() -> Result<Vec<PlaceConfig>> {
    let text = match (std::env::var("DATABASE_URLS"), std::env::var("DATABASE_URLS_FILE")) {
        (Ok(_), Ok(_)) => bail!("set DATABASE_URLS or DATABASE_URLS_FILE, not both"),
        (Ok(urls), _) => urls,
        (_, Ok(path)) => environment::read_file("DATABASE_URLS_FILE", &path)?,
        _ => bail!(
            "set DATABASE_URLS to the URLs by which a superuser connects to both places, e.g.              'home=postgres://... eu2=postgres://...'"
        ),
    };
    places::parse("DATABASE_URLS", &text)
}
