//! The `knowhow` binary: REST, OpenAPI, MCP and the command line.

#![warn(clippy::print_stdout, clippy::print_stderr)]

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
    #[cfg(target_os = "linux")]
    take_small_pages();
    cli::run()
}

/// Makes the kernel use 4 KiB pages. mimalloc asks for 2 MiB pages if they are available. With those, the process took
/// 20 to 50 MiB more memory and was not faster.
#[cfg(target_os = "linux")]
fn take_small_pages() {
    // A kernel without this option ignores the call.
    rustix::thread::disable_transparent_huge_pages(true).ok();
}
