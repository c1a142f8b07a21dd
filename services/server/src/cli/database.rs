//! Explains to the operator why a database cannot be reached.

use anyhow::{Error, anyhow};
use knowhow_domain::Error as Refusal;
use knowhow_store::{Cause, Unreachable, explain};

use crate::config::Config;

/// Replaces an error that hides its cause, `Unavailable` or `Internal`, by the cause. Returns other errors unchanged.
pub(super) async fn explained(config: &Config, error: Error) -> Error {
    let hides = matches!(error.downcast_ref(), Some(Refusal::Unavailable(_) | Refusal::Internal(_)));
    if !hides {
        return error;
    }
    match explain(&config.database_url).await {
        Ok(Some(unreachable)) => anyhow!(advised(&unreachable)),
        _ => match error.downcast::<Refusal>() {
            Ok(Refusal::Internal(source)) => anyhow!(knowhow_store::join_messages(source.as_ref())),
            Ok(refusal) => refusal.into(),
            Err(error) => error,
        },
    }
}

/// Describes the cause, with advice about `KNOWHOW_DATABASE_URL`.
pub(super) fn advised(unreachable: &Unreachable) -> String {
    let advice = match unreachable.cause {
        Cause::Login => {
            "; correct the role or password in KNOWHOW_DATABASE_URL, or give the role that password with: \
             knowhow migrate --set-login-password"
        }
        Cause::NoDatabase => {
            "; correct the name in KNOWHOW_DATABASE_URL, or create the database and run knowhow migrate"
        }
        Cause::NoTls => "; enable TLS in the server (ssl = on), or set sslmode=prefer in KNOWHOW_DATABASE_URL",
        Cause::Silent => "; check that Postgres is running there, and that no firewall blocks this machine",
        Cause::Rules | Cause::Certificate | Cause::Tls | Cause::Busy | Cause::Misfit | Cause::Other => "",
    };
    format!("{unreachable}{advice}")
}
