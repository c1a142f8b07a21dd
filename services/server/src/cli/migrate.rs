//! The command `knowhow migrate`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use knowhow_domain::Error;
use knowhow_store::{Cause, DatabaseUrl, Login, Restored, explain};

use super::ledger;
use crate::config::{Config, owner_url};
use knowhow_client::print;

/// Apply migrations to the database
#[derive(Args)]
pub(super) struct Migrate {
    /// Set the password of the login role to the one in KNOWHOW_DATABASE_URL, even if the role exists. A role belongs
    /// to the whole server: every service that uses it needs the new password afterwards
    #[arg(long)]
    set_login_password: bool,
    /// After restoring a backup: increase all revisions, so that no process serves newer cached data, and erase again
    /// the users in the list of erasures. Stop all processes first
    #[arg(long)]
    restored: bool,
    /// Output of `knowhow erasures` since that backup, so that users erased since are erased again
    #[arg(long, requires = "restored", value_name = "FILE")]
    erasures: Option<PathBuf>,
}

impl Migrate {
    /// Applies the missing migrations. Creates the login role, or checks it if it exists.
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
                "restored: revisions of {users} users were increased; workers erase {erased} users again"
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

/// Logs in as the service will. A wrong password is an error. An unreachable address is not an error, because it may
/// be reachable only from the service.
async fn try_login(config: &Config, login: &Login) -> Result<ExitCode> {
    let role = &login.role;
    match explain(&config.database_url).await? {
        Some(wrong) if wrong.cause == Cause::Login => bail!(
            "the role '{role}' exists and has another password, which was not changed, because other databases of \
             this server may use the role: {wrong}. Set its password in KNOWHOW_DATABASE_URL; or name another role \
             there, which knowhow migrate creates; or change the password for all users of the role with: knowhow \
             migrate --set-login-password"
        ),
        Some(unknown) => print::note(format!("the login could not be checked: {unknown}")),
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the cause of an internal error, which may be shown because an operator runs this command.
fn cause(error: Error) -> anyhow::Error {
    match error {
        Error::Internal(source) => anyhow!(knowhow_store::join_messages(source.as_ref())),
        other => other.into(),
    }
}
