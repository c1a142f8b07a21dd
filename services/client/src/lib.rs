//! Commands of the command line that call a running service over HTTP or only read local files.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod admin;
mod atomic_file;
mod directory;
mod export;
mod import;
pub mod print;
mod scan;
mod service;
mod sync;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// The commands that a client can run.
#[derive(Subcommand)]
pub enum Command {
    /// Import a folder or archive of skills into a running service
    Import(import::Import),
    /// Export all skills of a user from a running service
    Export(export::Export),
    /// Manage a tenant of a running service
    Admin(admin::Admin),
    /// Synchronize a folder of skills with a user's skills in a running service
    Sync(sync::Sync),
    /// Scan a folder or archive of skills for attacks; needs no service and no database
    Scan(scan::Scan),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    /// Fails if the service cannot be reached or rejects the request, or a file cannot be read or written.
    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Self::Import(import) => import.run().await,
            Self::Export(export) => export.run().await,
            Self::Admin(admin) => admin.run().await,
            Self::Sync(sync) => sync.run().await,
            Self::Scan(scan) => scan.run(),
        }
    }
}
