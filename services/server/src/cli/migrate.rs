//! `knowhow migrate`.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::config::{Config, owner_url};

/// Applies what is missing; the login role gets the password of `KNOWHOW_DATABASE_URL`.
pub(super) async fn run(config: &Config) -> Result<ExitCode> {
    let password = url::Url::parse(&config.database_url)
        .ok()
        .filter(|url| url.username() == "knowhow_login")
        .and_then(|url| url.password().map(str::to_owned))
        .map(|password| percent_decode(&password));
    knowhow_store::migrate(&owner_url()?, password.as_deref())
        .await
        .map_err(describe)
        .context("the migration failed")?;
    eprintln!("the database is up to date");
    Ok(ExitCode::SUCCESS)
}

/// For whoever runs the command, the cause counts.
fn describe(error: knowhow_domain::Error) -> anyhow::Error {
    match error {
        knowhow_domain::Error::Internal(source) => anyhow::anyhow!(source),
        other => other.into(),
    }
}

/// A password in a URL may be percent-encoded (RFC 3986, 3.2.1).
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match escaped.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
