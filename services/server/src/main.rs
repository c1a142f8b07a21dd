//! The roof: the `knowhow` binary. REST, OpenAPI, MCP and the command line.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod api;
mod cli;
mod config;
mod entry;
mod http;
mod listen;
mod mcp;
mod telemetry;
mod visible;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    take_small_pages();
    cli::run()
}

/// Has the kernel give memory in pages of 4 KiB. mimalloc asks for those of 2 MiB where it may: they took 20 to 50 MiB more, and
/// nothing was faster.
#[cfg(target_os = "linux")]
fn take_small_pages() {
    // A kernel that does not know this gives what it would have given anyway.
    rustix::thread::disable_transparent_huge_pages(true).ok();
}
