//! The command line of the service.

mod audit;
mod backfill;
mod create;
mod database;
mod doctor;
mod dream;
mod heartbeat;
mod ledger;
mod migrate;
mod move_tenant;
mod process;
mod seed_demo;
mod serve;
mod shell;
mod signals;
mod startup;
mod token;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use knowhow_client::print;
use knowhow_domain::text::visible::Visible;

use crate::config::{self, Config};
use crate::mcp;
use crate::telemetry;

/// Stores what agents have learned to do ("skills": files named SKILL.md) for each of their users, and returns it when
/// it helps.
///
/// `knowhow serve` runs the service on PostgreSQL; `migrate` and `doctor` set it up; `tenant`, `key` and `token` create
/// credentials; `import` and `export` move skills into and out of a running service; `sync` synchronizes a folder with
/// it; `scan` checks skills for attacks.
#[derive(Parser)]
#[command(name = "knowhow", bin_name = "knowhow", version, about, propagate_version = true)]
struct Cli {
    /// TOML file with settings; KNOWHOW_* variables take precedence
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve REST, MCP and the interactive API
    Serve {
        /// Also run jobs, as `knowhow worker` does
        #[arg(long)]
        with_worker: bool,
    },
    /// Run the service's background jobs
    Worker,
    /// Migrate the database at DATABASE_URL, and create the login role in KNOWHOW_DATABASE_URL if it is missing
    Migrate(migrate::Migrate),
    /// Create a JWT, signed as a tenant's HS256 issuer or as the deployment's own issuer, for development
    Token(token::Token),
    /// Manage tenants
    #[command(subcommand)]
    Tenant(create::TenantCommand),
    /// Check the audit log
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Manage API keys, and secrets encrypted with the master key
    #[command(subcommand, visible_alias = "keys")]
    Key(create::KeyCommand),
    #[command(flatten)]
    Client(knowhow_client::Command),
    /// Print all erasures. Keep the output with backups, so that restoring an older one does not bring erased users
    /// back
    Erasures,
    /// Print the OpenAPI document
    Openapi {
        /// Print the definitions of MCP tools and prompts instead
        #[arg(long)]
        mcp: bool,
    },
    /// Print the effective settings, with secrets masked
    Config {
        /// Print all settings with defaults and meanings instead, as Markdown
        #[arg(long)]
        describe: bool,
    },
    /// Print all metrics with labels and meanings, as Markdown
    Metrics,
    /// Index all skills that are missing from the graph, and report progress
    Backfill(backfill::Backfill),
    /// Run a dream for one user now and print its proposals and changes
    Dream(dream::DreamCommand),
    /// Check database, roles, row-level security, models and settings, and report problems
    Doctor,
    /// Print a shell completion script, e.g. for ~/.bashrc: source <(knowhow completions bash)
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Create a demo tenant with a user, an API key and tokens, and print them as shell assignments
    SeedDemo(seed_demo::SeedDemo),
}

/// Runs the command line and returns the exit code.
pub fn run() -> ExitCode {
    let outcome = dispatch(parse());
    telemetry::flush();
    outcome.unwrap_or_else(|error| {
        print::note(format!("knowhow: {error:#}"));
        ExitCode::FAILURE
    })
}

/// Parses the arguments. Clap prints wrong arguments unescaped and over several lines. If an argument is wrong, the
/// escaped arguments are parsed instead.
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
            // The script is written to a buffer first, because the library panics if a reader such as `head` closes
            // the pipe.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "knowhow", &mut script);
            print::script(&script)?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Client(command) => return block_on(command.run()),
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
        Command::Openapi { .. } | Command::Completions { .. } | Command::Metrics | Command::Client(_) => {
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Adds the cause to an error if the database cannot be reached.
async fn or_explained(config: &Config, work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    match work.await {
        Err(error) => Err(database::explained(config, error).await),
        done => done,
    }
}

fn block_on(work: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")?.block_on(work)
}
