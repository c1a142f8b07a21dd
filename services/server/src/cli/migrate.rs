//! `knowhow migrate`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use knowhow_domain::Error;
use knowhow_store::{Cause, DatabaseUrl, Login, Restored, explain};

use super::{ledger, print};
use crate::config::{Config, owner_url};

/// Brings the database up to date.
#[derive(Args)]
pub(super) struct Migrate {
    /// Give the login role of KNOWHOW_DATABASE_URL the password there, also where the role exists already. A role belongs
    /// to the whole server: every service that logs in as it then needs the new password
    #[arg(long)]
    set_login_password: bool,
    /// The database was put back to an older state: lift all revisions, so that no process serves what it remembers of a later
    /// one, and erase again whom the ledger names. Stop every process before
    #[arg(long)]
    restored: bool,
    /// What `knowhow erasures` printed after that state, so that who was erased since does not come back
    #[arg(long, requires = "restored", value_name = "FILE")]
    erasures: Option<PathBuf>,
}

impl Migrate {
    /// Applies what is missing, and sees to the login role.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let owner_url = owner_url()?;
        let login = self.login(config)?;
        let ledger = self.erasures.as_deref().map(ledger::read).transpose()?.unwrap_or_default();
        if let Some(unreachable) = explain(&owner_url).await? {
            bail!("{unreachable} (DATABASE_URL)");
        }
        knowhow_store::migrate(&owner_url, login.as_ref()).await.map_err(cause).context("the migration failed")?;
        print::note("the database is up to date");
        if self.restored {
            let done = knowhow_store::note_restored(&owner_url, &ledger).await.map_err(cause)?;
            let Restored { users, erased } = done;
            print::note(format!(
                "restored: the revisions of {users} users are lifted, {erased} users are erased again by the workers"
            ));
        }
        match login {
            Some(login) => try_login(config, &login).await,
            None => Ok(ExitCode::SUCCESS),
        }
    }

    fn login(&self, config: &Config) -> Result<Option<Login>> {
        let (role, password) = match config.database_url.is_empty() {
            true => (None, None),
            false => DatabaseUrl::written_login(&config.database_url).context("KNOWHOW_DATABASE_URL")?,
        };
        let login = role.map(|role| Login { role, password, set_password: self.set_login_password });
        if self.set_login_password && login.as_ref().is_none_or(|login| login.password.is_none()) {
            bail!("--set-login-password needs a role and a password in KNOWHOW_DATABASE_URL");
        }
        Ok(login)
    }
}

/// Logs in as the service will. That its address cannot be reached from here may be as it should be; a wrong password
/// cannot.
async fn try_login(config: &Config, login: &Login) -> Result<ExitCode> {
    let role = &login.role;
    match explain(&config.database_url).await? {
        Some(wrong) if wrong.cause == Cause::Login => bail!(
            "the role '{role}' exists and has another password, which was left as it is, as other databases of this \
             server may use the role: {wrong}. Either write its password in KNOWHOW_DATABASE_URL; or name a role of \
             this database's own there, which knowhow migrate makes; or change the password for all who use the role \
             with: knowhow migrate --set-login-password"
        ),
        Some(unknown) => print::note(format!("the login was not tried: {unknown}")),
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
