//! Settings for commands that connect to databases as their owner. The service never reads these settings.

use anyhow::{Result, bail};
use knowhow_store::PlaceConfig;

use super::{environment, places};

/// Returns the URL that `migrate` connects with, as a superuser or the owner of the database. It is the value of
/// `DATABASE_URL`, or the content of the file `DATABASE_URL_FILE`.
///
/// # Errors
/// Fails if neither or both are set.
#[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
pub fn owner_url() -> Result<String> {
    match (std::env::var("DATABASE_URL"), std::env::var("DATABASE_URL_FILE")) {
        (Ok(_), Ok(_)) => bail!("set DATABASE_URL or DATABASE_URL_FILE, not both"),
        (Ok(url), _) => Ok(url),
        (_, Ok(path)) => environment::read_file("DATABASE_URL_FILE", &path),
        _ => bail!("set DATABASE_URL to a URL of the database with a superuser or its owner"),
    }
}

/// Returns the URLs of the databases for moving a tenant, with a superuser as login role. They are the value of
/// `DATABASE_URLS`, or the content of the file `DATABASE_URLS_FILE`.
///
/// # Errors
/// Fails if neither or both are set, or if they cannot be parsed.
#[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
pub fn owner_urls() -> Result<Vec<PlaceConfig>> {
    let text = match (std::env::var("DATABASE_URLS"), std::env::var("DATABASE_URLS_FILE")) {
        (Ok(_), Ok(_)) => bail!("set DATABASE_URLS or DATABASE_URLS_FILE, not both"),
        (Ok(urls), _) => urls,
        (_, Ok(path)) => environment::read_file("DATABASE_URLS_FILE", &path)?,
        _ => bail!(
            "set DATABASE_URLS to the URLs of both databases with a superuser, e.g. 'home=postgres://... \
             eu2=postgres://...'"
        ),
    };
    places::parse("DATABASE_URLS", &text)
}
