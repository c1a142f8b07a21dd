//! The command line.

mod admin;
mod audit;
mod backfill;
mod client;
mod create;
mod database;
mod directory;
mod doctor;
mod dream;
mod export;
mod heartbeat;
mod import;
mod ledger;
mod migrate;
mod move_tenant;
mod print;
mod process;
mod scan;
mod seed_demo;
mod serve;
mod shell;
mod signals;
mod sync;
mod token;
mod whole;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::config::{self, Config};
use crate::mcp;
use crate::telemetry;
use crate::visible::Visible;

/// Keeps what agents have learned to do ("skills": files named SKILL.md) for each of their users, and hands it to them
/// when it helps.
///
/// `knowhow serve` is the service, over PostgreSQL; `migrate` and `doctor` set it up; `tenant`, `key` and `token` let
/// callers in; `import` and `export` move skills in and out of a running one; `sync` keeps a folder of them the same; `scan`
/// reads skills for what looks like an attack.
#[derive(Parser)]
#[command(name = "knowhow", bin_name = "knowhow", version, about, propagate_version = true)]
struct Cli {
    /// TOML file with settings; KNOWHOW_* variables win over it
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve REST, MCP and the interactive API
    Serve {
        /// Work on jobs too, as `knowhow worker` does
        #[arg(long)]
        with_worker: bool,
    },
    /// Work on jobs: what the service does in the background
    Worker,
    /// Bring the database of DATABASE_URL up to date, and make the login role of KNOWHOW_DATABASE_URL where it is missing
    Migrate(migrate::Migrate),
    /// Mint a JWT of a tenant's HS256 issuer, or of the deployment's own, for development
    Token(token::Token),
    /// Tenants
    #[command(subcommand)]
    Tenant(create::TenantCommand),
    /// The audit log
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// API keys, and what is sealed under the deployment's master key
    #[command(subcommand, visible_alias = "keys")]
    Key(create::KeyCommand),
    /// Import a folder or archive of skills into a running service
    Import(import::Import),
    /// Export all skills of a user from a running service
    Export(export::Export),
    /// What an admin does for a tenant, in a running service
    Admin(admin::Admin),
    /// Print who was erased, to be kept beside backups: a restore of an older state must not bring them back
    Erasures,
    /// Keep a folder of skills and a user's skills in a running service the same
    Sync(sync::Sync),
    /// Read a folder or archive of skills for what looks like an attack; needs no service and no database
    Scan(scan::Scan),
    /// Print the OpenAPI document
    Openapi {
        /// Print what MCP clients are told about the tools and prompts instead
        #[arg(long)]
        mcp: bool,
    },
    /// Print the effective settings, secrets masked
    Config {
        /// Print what can be set instead, with defaults and meanings, as Markdown
        #[arg(long)]
        describe: bool,
    },
    /// Print what is measured, with labels and meanings, as Markdown
    Metrics,
    /// Have all skills read that are not in the graph yet, and say how far the workers are
    Backfill(backfill::Backfill),
    /// Have a user's skills and conversations looked at now, and print what is proposed and done
    Dream(dream::DreamCommand),
    /// Check database, roles, row-level security, models and settings, and say what is wrong
    Doctor,
    /// Print what lets a shell complete these commands, e.g. for ~/.bashrc: source <(knowhow completions bash)
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Make a demo tenant with a user, an API key and tokens, and print them as shell lines
    SeedDemo(seed_demo::SeedDemo),
}

/// Runs the command line.
pub fn run() -> ExitCode {
    let outcome = dispatch(parse());
    telemetry::flush();
    outcome.unwrap_or_else(|error| {
        print::note(format!("knowhow: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Reads the arguments. Clap quotes wrong ones over several lines, so its error is made from the arguments as they are printed.
fn parse() -> Cli {
    Cli::try_parse().unwrap_or_else(|error| {
        let shown = std::env::args_os().map(|argument| Visible(&argument.to_string_lossy()).to_string());
        Cli::try_parse_from(shown).err().unwrap_or(error).exit()
    })
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Openapi { mcp } => {
            let document = if mcp { mcp::document()? } else { crate::listen::document().to_pretty_json()? };
            print::json_text(&document)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Config { describe: true } => {
            print::lines(config::page()?.lines())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Metrics => {
            print::lines(telemetry::metrics_page().lines())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Completions { shell } => {
            // Not straight to the output: the library panics where a reader such as `head` has had enough.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "knowhow", &mut script);
            print::script(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Import(import) => return block_on(import.run()),
        Command::Export(export) => return block_on(export.run()),
        Command::Sync(sync) => return block_on(sync.run()),
        Command::Admin(admin) => return block_on(admin.run()),
        Command::Scan(scan) => return scan.run(),
        _ => {}
    }
    let config = Config::load(cli.config.as_deref())?;
    match cli.command {
        Command::Config { .. } => {
            print::lines(config.masked()?.lines())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Serve { with_worker } => {
            serve::run(&Config { with_worker: with_worker || config.with_worker, ..config })
        }
        Command::Worker => worker::run(&config),
        Command::Migrate(migrate) => block_on(migrate.run(&config)),
        Command::Backfill(backfill) => block_on(or_explained(&config, backfill.run(&config))),
        Command::Audit(command) => block_on(or_explained(&config, command.run(&config))),
        Command::Erasures => block_on(or_explained(&config, ledger::print(&config))),
        Command::Dream(dream) => block_on(or_explained(&config, dream.run(&config))),
        Command::Doctor => block_on(doctor::run(&config)),
        Command::Token(token) => block_on(or_explained(&config, token.run(&config))),
        Command::Tenant(command) => block_on(or_explained(&config, command.run(&config))),
        Command::Key(command) => block_on(or_explained(&config, command.run(&config))),
        Command::SeedDemo(seed) => block_on(or_explained(&config, seed.run(&config))),
        Command::Openapi { .. }
        | Command::Completions { .. }
        | Command::Metrics
        | Command::Import(_)
        | Command::Export(_)
        | Command::Sync(_)
        | Command::Admin(_)
        | Command::Scan(_) => Ok(ExitCode::SUCCESS),
    }
}

/// With the reason why the database is out of reach, where that is what is wrong.
async fn or_explained(config: &Config, work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    match work.await {
        Err(error) => Err(database::explained(config, error).await),
        done => done,
    }
}

fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?.block_on(work)
}
