//! Cost of requests: CPU time and memory of the service's process, and the effect on a user of another tenant. These
//! tests take minutes and need an idle machine, so they run with `make test-cost` and not with `make test`.

mod attacks;
mod bodies;
mod bounds;
mod diffs;
mod exports;
mod graph;
mod neighbour;
mod patches;
mod plain;
mod recall;
mod reviews;
mod sessions;
mod waits;

use std::fs::read_to_string;

use crate::service::Service;

/// Factor for the limits, which are those of optimised code as in `make test-cost`. Code without optimisation, as in
/// `make test`, takes about ten times as long.
const SLOWER: u64 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Milliseconds per tick of the kernel's process clock (USER_HZ, 100 on Linux).
const TICK_MS: u64 = 10;

/// Returns the CPU milliseconds that the service's process has used so far, in user and kernel mode.
pub fn cpu_ms(service: &Service) -> u64 {
    let stat = read_to_string(format!("/proc/{}/stat", service.id())).unwrap();
    // The program's name in parentheses may contain blanks. After it, utime and stime are the 12th and the 13th
    // field.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap() * TICK_MS).sum()
}

/// Returns the answer to `request` and the CPU milliseconds that the process used meanwhile. Prints them with the
/// label `what`.
pub async fn cpu_of<T>(service: &Service, what: &str, request: impl IntoFuture<Output = T>) -> (T, u64) {
    let before = cpu_ms(service);
    let answer = request.await;
    let spent = cpu_ms(service) - before;
    println!("{what}: {spent} ms of CPU");
    (answer, spent)
}

/// Panics if `spent` is more than `most` milliseconds of optimised code.
#[track_caller]
pub fn at_most(spent: u64, most: u64) {
    assert!(spent <= most * SLOWER, "{spent} ms of CPU; at most {most} ms, here times {SLOWER}");
}

/// Returns the highest memory use of the process so far, in MiB.
pub fn peak_mib(service: &Service) -> u64 {
    memory_mib(service, "VmHWM:")
}

/// Returns the current memory use of the process, in MiB.
pub fn resident_mib(service: &Service) -> u64 {
    memory_mib(service, "VmRSS:")
}

fn memory_mib(service: &Service, field: &str) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
