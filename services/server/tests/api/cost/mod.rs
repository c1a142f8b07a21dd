//! What requests cost: the CPU time and the memory of the service's process, and what another tenant's user feels beside
//! them. These tests take minutes and want the machine for themselves, so `make test` leaves them out: `make test-cost`.

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

/// The bounds are those of optimised code, which `make test-cost` runs. Without optimisation, as in `make test`, it takes
/// about ten times as long.
const SLOWER: u64 = if cfg!(debug_assertions) { 10 } else { 1 };

/// Milliseconds between two ticks of the kernel's clock for processes (USER_HZ, 100 on Linux).
const TICK_MS: u64 = 10;

/// CPU milliseconds that the service's process has used so far, in user and in kernel mode.
pub fn cpu_ms(service: &Service) -> u64 {
    let stat = read_to_string(format!("/proc/{}/stat", service.id())).unwrap();
    // The program's name, in brackets, may have blanks. After it, utime and stime are the 12th and the 13th field.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap() * TICK_MS).sum()
}

/// What `request` answers, and the CPU milliseconds that the process spent meanwhile; printed under `what`.
pub async fn cpu_of<T>(service: &Service, what: &str, request: impl IntoFuture<Output = T>) -> (T, u64) {
    let before = cpu_ms(service);
    let answer = request.await;
    let spent = cpu_ms(service) - before;
    println!("{what}: {spent} ms of CPU");
    (answer, spent)
}

/// Fails where `spent` is more than `most` milliseconds of deployed code.
#[track_caller]
pub fn at_most(spent: u64, most: u64) {
    assert!(spent <= most * SLOWER, "{spent} ms of CPU; at most {most} ms, here times {SLOWER}");
}

/// Most memory that the process ever had, in MiB.
pub fn peak_mib(service: &Service) -> u64 {
    memory_mib(service, "VmHWM:")
}

/// Memory that the process has now, in MiB.
pub fn resident_mib(service: &Service) -> u64 {
    memory_mib(service, "VmRSS:")
}

fn memory_mib(service: &Service, field: &str) -> u64 {
    let status = read_to_string(format!("/proc/{}/status", service.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}
