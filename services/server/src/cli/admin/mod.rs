//! `knowhow admin`: what an admin of a tenant does, in a running service.

mod data_rights;
mod desk;
mod standing;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::desk::Desk;
use super::client::Remote;

/// What an admin does for a tenant in a running service.
#[derive(Args)]
pub(super) struct Admin {
    #[command(flatten)]
    remote: Remote,
    /// For operators: the tenant to work in, by slug
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// Print what the service answers, as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

/// A list is called by its noun, a change by its verb and noun.
#[derive(Subcommand)]
enum Command {
    /// Erase a user: gone at once for everybody, and every row is removed
    EraseUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Why, in 8 to 200 characters; it is kept, and should name nobody
        #[arg(long)]
        reason: String,
        /// Wait until every row is removed
        #[arg(long)]
        wait: bool,
    },
    /// Export all that is kept of a user into one zip
    ExportUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Where to write
        #[arg(long, short, default_value = "user.zip", value_name = "FILE")]
        output: PathBuf,
    },
    /// List erasures, newest first
    Erasures,
    /// Keep a user from being erased
    HoldUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Why, in 8 to 200 characters
        #[arg(long)]
        reason: String,
    },
    /// Let a held user be erased again
    ReleaseUser {
        /// The tenant's own id of the user
        external_id: String,
    },
    /// Refuse a user's requests and put the user's jobs off, within a second
    SuspendUser {
        /// The tenant's own id of the user
        external_id: String,
        /// Why, in 8 to 200 characters; the user is told
        #[arg(long)]
        reason: String,
    },
    /// Let a suspended user in again
    ResumeUser {
        /// The tenant's own id of the user
        external_id: String,
    },
    /// For operators: refuse all callers of a tenant and put its jobs off, within a second
    SuspendTenant {
        /// The tenant's slug
        slug: String,
        /// Why, in 8 to 200 characters; its callers are told
        #[arg(long)]
        reason: String,
    },
    /// For operators: let a suspended tenant in again
    ResumeTenant {
        /// The tenant's slug
        slug: String,
    },
}

impl Admin {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let desk = Desk::new(self.remote.connect()?, self.tenant, self.json);
        match self.command {
            Command::EraseUser { external_id, reason, wait } => desk.erase(&external_id, &reason, wait).await?,
            Command::ExportUser { external_id, output } => desk.export(&external_id, &output).await?,
            Command::Erasures => desk.list_erasures().await?,
            Command::HoldUser { external_id, reason } => desk.hold(&external_id, Some(&reason)).await?,
            Command::ReleaseUser { external_id } => desk.hold(&external_id, None).await?,
            Command::SuspendUser { external_id, reason } => desk.suspend("users", &external_id, Some(&reason)).await?,
            Command::ResumeUser { external_id } => desk.suspend("users", &external_id, None).await?,
            Command::SuspendTenant { slug, reason } => desk.suspend("tenants", &slug, Some(&reason)).await?,
            Command::ResumeTenant { slug } => desk.suspend("tenants", &slug, None).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
