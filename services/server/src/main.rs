//! The roof: the `knowhow` binary. REST, OpenAPI, MCP and the command line.

mod api;
mod cli;
mod config;
mod entry;
mod http;
mod listen;
mod mcp;
mod telemetry;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
