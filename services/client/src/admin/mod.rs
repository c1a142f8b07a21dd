//! The command `knowhow admin`: manages a tenant of a running service.

mod approvals;
mod credentials;
mod data_rights;
mod library;
mod lines;
mod lists;
mod records;
mod requests;
mod submissions;
mod suspensions;
mod webhook;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use self::lists::JobsPlace;
use self::requests::AdminRequests;
use crate::service::Remote;

/// Manage a tenant of a running service
#[derive(Args)]
pub struct Admin {
    #[command(flatten)]
    remote: Remote,
    /// For operators: slug of the tenant to work in
    #[arg(long, global = true)]
    tenant: Option<String>,
    /// Print the service's responses as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: AdminCommand,
}

/// Lists are named by a noun, changes by a verb and a noun.
#[derive(Subcommand)]
enum AdminCommand {
    /// Erase a user: the user's data becomes invisible immediately, and then every row is deleted
    EraseUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// Reason, 8 to 200 characters; it is stored and should not name the user
        #[arg(long)]
        reason: String,
        /// Wait until every row has been deleted
        #[arg(long)]
        wait: bool,
    },
    /// Export all data of a user into a zip file
    ExportUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// The file to write; it must not be a symbolic link
        #[arg(long, short, default_value = "user.zip", value_name = "FILE")]
        output: PathBuf,
    },
    /// List erasures, newest first
    Erasures,
    /// Prevent a user from being erased
    HoldUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// Reason, 8 to 200 characters
        #[arg(long)]
        reason: String,
    },
    /// Allow a held user to be erased again
    ReleaseUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
    },
    /// Reject a user's requests and postpone the user's jobs, within a second
    SuspendUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// Reason, 8 to 200 characters; it is shown to the user
        #[arg(long)]
        reason: String,
    },
    /// List users, optionally by a prefix of their ids
    Users {
        /// Only ids with this prefix
        #[arg(default_value = "")]
        prefix: String,
    },
    /// Show a user with stored data and the usage of the last 30 days
    User {
        /// External id of the user, as assigned by the tenant
        external_id: String,
    },
    /// List a user's sessions, newest first
    Sessions {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// Only open sessions
        #[arg(long)]
        open: bool,
    },
    /// End a user's session; it is summarized as usual
    EndSession {
        /// External id of the user, as assigned by the tenant
        external_id: String,
        /// Id of the session
        session: String,
    },
    /// For operators: list tenants
    Tenants,
    /// For operators: show a tenant with its settings, stored data and usage
    Tenant {
        /// Slug of the tenant
        slug: String,
    },
    /// For operators: change settings of a tenant; others stay unchanged
    SetTenant {
        /// Slug of the tenant
        slug: String,
        #[command(flatten)]
        settings: lists::SettingsArgs,
    },
    /// Read the audit log, newest first
    Audit(records::AuditArgs),
    /// Count jobs by kind, and show how long the oldest have been waiting
    Queues,
    /// List unfinished jobs, newest first
    Jobs {
        /// Only jobs in this state: waiting, running, failed, dead
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        at: JobsPlace,
    },
    /// Retry a job immediately, counting from the first attempt
    RetryJob {
        /// Id of the job
        id: i64,
        #[command(flatten)]
        at: JobsPlace,
    },
    /// Discard a job; its work is not done
    DiscardJob {
        /// Id of the job
        id: i64,
        #[command(flatten)]
        at: JobsPlace,
    },
    /// For operators: list the running processes of all tenants together
    Processes,
    /// For operators: show the health of the models
    Models {
        /// Send a test request to each model now
        #[arg(long)]
        ask: bool,
    },
    /// Resume a suspended user
    ResumeUser {
        /// External id of the user, as assigned by the tenant
        external_id: String,
    },
    /// For operators: reject all requests of a tenant and postpone its jobs, within a second
    SuspendTenant {
        /// Slug of the tenant
        slug: String,
        /// Reason, 8 to 200 characters; it is shown to the tenant's callers
        #[arg(long)]
        reason: String,
    },
    /// For operators: resume a suspended tenant
    ResumeTenant {
        /// Slug of the tenant
        slug: String,
    },
    #[command(flatten)]
    Submissions(submissions::SubmissionCommand),
    #[command(flatten)]
    Approvals(approvals::ApprovalCommand),
    #[command(flatten)]
    Library(library::LibraryCommand),
    #[command(flatten)]
    Credentials(credentials::CredentialCommand),
    #[command(flatten)]
    Webhook(webhook::WebhookCommand),
}

impl Admin {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let requests = AdminRequests::new(self.remote.connect()?, self.tenant, self.json);
        match self.command {
            AdminCommand::EraseUser { external_id, reason, wait } => {
                requests.erase(&external_id, &reason, wait).await?
            }
            AdminCommand::ExportUser { external_id, output } => requests.export(&external_id, &output).await?,
            AdminCommand::Erasures => requests.list_erasures().await?,
            AdminCommand::HoldUser { external_id, reason } => requests.hold(&external_id, Some(&reason)).await?,
            AdminCommand::ReleaseUser { external_id } => requests.hold(&external_id, None).await?,
            AdminCommand::SuspendUser { external_id, reason } => {
                requests.suspend("users", &external_id, Some(&reason)).await?
            }
            AdminCommand::ResumeUser { external_id } => requests.suspend("users", &external_id, None).await?,
            AdminCommand::SuspendTenant { slug, reason } => requests.suspend("tenants", &slug, Some(&reason)).await?,
            AdminCommand::Users { prefix } => requests.list_users(&prefix).await?,
            AdminCommand::User { external_id } => requests.show_user(&external_id).await?,
            AdminCommand::Sessions { external_id, open } => requests.list_sessions(&external_id, open).await?,
            AdminCommand::EndSession { external_id, session } => requests.end_session(&external_id, &session).await?,
            AdminCommand::Tenants => requests.list_tenants().await?,
            AdminCommand::Tenant { slug } => requests.show_tenant(&slug).await?,
            AdminCommand::SetTenant { slug, settings } => requests.set_tenant(&slug, &settings).await?,
            AdminCommand::Audit(audit) => requests.read_audit(&audit).await?,
            AdminCommand::Queues => requests.list_queues().await?,
            AdminCommand::Jobs { state, at } => requests.list_jobs(state.as_deref(), &at).await?,
            AdminCommand::RetryJob { id, at } => requests.change_job(id, &at, true).await?,
            AdminCommand::DiscardJob { id, at } => requests.change_job(id, &at, false).await?,
            AdminCommand::Processes => requests.list_processes().await?,
            AdminCommand::Models { ask } => requests.show_models(ask).await?,
            AdminCommand::ResumeTenant { slug } => requests.suspend("tenants", &slug, None).await?,
            AdminCommand::Submissions(command) => requests.review_submissions(command).await?,
            AdminCommand::Approvals(command) => requests.review_texts(command).await?,
            AdminCommand::Library(command) => requests.manage_library(command).await?,
            AdminCommand::Credentials(command) => requests.manage_credentials(command).await?,
            AdminCommand::Webhook(command) => return requests.manage_webhook(command).await,
        }
        Ok(ExitCode::SUCCESS)
    }
}
