//! What commands say of a database that they cannot reach: to the operator, who may know why.

use anyhow::{Error, anyhow};
use knowhow_domain::Error as Refusal;
use knowhow_store::{Cause, Unreachable, explain};

use crate::config::Config;

/// The error itself; where it hides why the database is out of reach, that instead.
pub(super) async fn explained(config: &Config, error: Error) -> Error {
    let hides = matches!(error.downcast_ref(), Some(Refusal::Unavailable(_) | Refusal::Internal(_)));
    if !hides {
        return error;
    }
    match explain(&config.database_url).await {
        Ok(Some(unreachable)) => anyhow!(advised(&unreachable)),
        _ => match error.downcast::<Refusal>() {
            Ok(Refusal::Internal(source)) => anyhow!(knowhow_store::said(source.as_ref())),
            Ok(refusal) => refusal.into(),
            Err(error) => error,
        },
    }
}

/// Why, and what to do about `KNOWHOW_DATABASE_URL`.
pub(super) fn advised(unreachable: &Unreachable) -> String {
    let advice = match unreachable.cause {
        Cause::Login => {
            "; correct the role or password in KNOWHOW_DATABASE_URL, or give the role that password with: \
             knowhow migrate --set-login-password"
        }
        Cause::NoDatabase => "; correct the name in KNOWHOW_DATABASE_URL, or make the database and run knowhow migrate",
        Cause::NoTls => "; switch TLS on in the server (ssl = on), or write sslmode=prefer in KNOWHOW_DATABASE_URL",
        Cause::Silent => "; is Postgres running there, and does a firewall let this machine through?",
        Cause::Rules | Cause::Certificate | Cause::Tls | Cause::Busy | Cause::Misfit | Cause::Other => "",
    };
    format!("{unreachable}{advice}")
}
