//! `knowhow admin`: what an admin of a tenant does, in a running service.

mod data_rights;
mod desk;
mod lists;
mod records;
mod standing;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::desk::Desk;
use self::lists::At;
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
        /// The file to write, which may not be a link
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
    /// List users, by how their ids begin
    Users {
        /// Only those whose ids begin so
        #[arg(default_value = "")]
        prefix: String,
    },
    /// Show a user, with what is kept and what was used in the last 30 days
    User {
        /// The tenant's own id of the user
        external_id: String,
    },
    /// List a user's sessions, newest first
    Sessions {
        /// The tenant's own id of the user
        external_id: String,
        /// Only those that are open
        #[arg(long)]
        open: bool,
    },
    /// End a user's session; its summary is made as ever
    EndSession {
        /// The tenant's own id of the user
        external_id: String,
        /// The session's id
        session: String,
    },
    /// For operators: list tenants
    Tenants,
    /// For operators: show a tenant, with its settings and what its users keep and use
    Tenant {
        /// The tenant's slug
        slug: String,
    },
    /// For operators: change settings of a tenant; all others stay
    SetTenant {
        /// The tenant's slug
        slug: String,
        #[command(flatten)]
        settings: lists::SettingsArgs,
    },
    /// Read the audit log, newest first
    Audit(records::AuditArgs),
    /// Count jobs by kind, with how long the oldest wait
    Queues,
    /// List jobs that are not done, newest first
    Jobs {
        /// Only those in this state: waiting, running, failed, dead
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Try a job again, at once and from the first attempt
    RetryJob {
        /// The job's id
        id: i64,
        #[command(flatten)]
        at: At,
    },
    /// Discard a job: what it was to do is not done
    DiscardJob {
        /// The job's id
        id: i64,
        #[command(flatten)]
        at: At,
    },
    /// For operators: list the processes that are running, of all tenants together
    Processes,
    /// For operators: show how the models are
    Models {
        /// Ask each for a word now
        #[arg(long)]
        ask: bool,
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
            Command::Users { prefix } => desk.list_users(&prefix).await?,
            Command::User { external_id } => desk.show_user(&external_id).await?,
            Command::Sessions { external_id, open } => desk.list_sessions(&external_id, open).await?,
            Command::EndSession { external_id, session } => desk.end_session(&external_id, &session).await?,
            Command::Tenants => desk.list_tenants().await?,
            Command::Tenant { slug } => desk.show_tenant(&slug).await?,
            Command::SetTenant { slug, settings } => desk.set_tenant(&slug, &settings).await?,
            Command::Audit(audit) => desk.read_audit(&audit).await?,
            Command::Queues => desk.list_queues().await?,
            Command::Jobs { state, at } => desk.list_jobs(state.as_deref(), &at).await?,
            Command::RetryJob { id, at } => desk.change_job(id, &at, true).await?,
            Command::DiscardJob { id, at } => desk.change_job(id, &at, false).await?,
            Command::Processes => desk.list_processes().await?,
            Command::Models { ask } => desk.show_models(ask).await?,
            Command::ResumeTenant { slug } => desk.suspend("tenants", &slug, None).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
