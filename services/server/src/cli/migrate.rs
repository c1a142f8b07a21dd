//! `knowhow migrate`.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use knowhow_domain::Error;
use knowhow_domain::Secret;
use knowhow_domain::uri::percent_decode;
use knowhow_store::Login;
use knowhow_store::reach::{self, Cause};

use crate::config::{Config, owner_url};

/// Brings the database up to date.
#[derive(Args)]
pub(super) struct Migrate {
    /// Give the login role of KNOWHOW_DATABASE_URL the password there, also where the role exists already. A role belongs
    /// to the whole server: every service that logs in as it then needs the new password
    #[arg(long)]
    set_login_password: bool,
}

impl Migrate {
    /// Applies what is missing, and sees to the login role.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let owner_url = owner_url()?;
        let login = self.login(config)?;
        if let Some(unreachable) = reach::explain(&owner_url).await? {
            bail!("{unreachable} (DATABASE_URL)");
        }
        knowhow_store::migrate(&owner_url, login.as_ref()).await.map_err(cause).context("the migration failed")?;
        eprintln!("the database is up to date");
        match login {
            Some(login) => try_login(config, &login).await,
            None => Ok(ExitCode::SUCCESS),
        }
    }

    fn login(&self, config: &Config) -> Result<Option<Login>> {
        let url = url::Url::parse(&config.database_url).ok().filter(|url| !url.username().is_empty());
        let login = url.map(|url| self.login_of(&url)).transpose()?;
        if self.set_login_password && login.as_ref().is_none_or(|login| login.password.is_none()) {
            bail!("--set-login-password needs a role and a password in KNOWHOW_DATABASE_URL");
        }
        Ok(login)
    }

    fn login_of(&self, url: &url::Url) -> Result<Login> {
        let decode =
            |part: &str| percent_decode(part).context("KNOWHOW_DATABASE_URL: write a % in role or password as %25");
        Ok(Login {
            role: decode(url.username())?,
            password: url.password().map(decode).transpose()?.map(Secret::from),
            set_password: self.set_login_password,
        })
    }
}

/// Logs in as the service will. That its address cannot be reached from here may be as it should be; a wrong password
/// cannot.
async fn try_login(config: &Config, login: &Login) -> Result<ExitCode> {
    let role = &login.role;
    match reach::explain(&config.database_url).await? {
        Some(wrong) if wrong.cause == Cause::Login => bail!(
            "the role '{role}' exists and has another password, which was left as it is, as other databases of this \
             server may use the role: {wrong}. Either write its password in KNOWHOW_DATABASE_URL; or name a role of \
             this database's own there, which knowhow migrate makes; or change the password for all who use the role \
             with: knowhow migrate --set-login-password"
        ),
        Some(unknown) => eprintln!("the login was not tried: {unknown}"),
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// For the person who runs the command, the cause counts.
fn cause(error: Error) -> anyhow::Error {
    match error {
        Error::Internal(source) => anyhow!(knowhow_store::said(source.as_ref())),
        other => other.into(),
    }
}
