//! Describes this process for its row in the database, and reports on all processes for `knowhow doctor`.

use std::collections::BTreeSet;

use anyhow::Result;
use knowhow_domain::{Clock, Process, ProcessId, ProcessKind, SystemClock, new_id};
use knowhow_store::across::processes::{self, Admitted, NewProcess};
use knowhow_store::deployment::pooler;
use knowhow_store::{Database, DatabaseConfig, HOME, jobs};

use crate::config::Config;
use knowhow_client::print;

/// Returns the database configuration of the main thread of `knowhow serve`. If it runs jobs, it has the connections
/// for jobs; otherwise it uses one connection at a time.
pub(super) fn of_main_thread(config: &Config) -> Result<DatabaseConfig> {
    let database = config.database()?;
    Ok(if config.with_worker { database } else { database.one_at_a_time() })
}

/// Describes this process as a server.
pub(super) fn serving(config: &Config) -> Result<NewProcess> {
    let each = config.database()?.most_connections();
    let threads = u32::try_from(config.threads()?).unwrap_or(u32::MAX).saturating_mul(each);
    let main = of_main_thread(config)?.most_connections();
    let (kind, queue) = match config.with_worker {
        true => (ProcessKind::ServeWithWorker, jobs::CONNECTIONS),
        false => (ProcessKind::Serve, 0),
    };
    described(config, kind, [threads, main, queue])
}

/// Describes this process as a worker.
pub(super) fn working(config: &Config) -> Result<NewProcess> {
    described(config, ProcessKind::Worker, [config.database()?.most_connections(), jobs::CONNECTIONS, 0])
}

fn described(config: &Config, kind: ProcessKind, connections: [u32; 3]) -> Result<NewProcess> {
    let probes = match config.metrics_bind.is_empty() {
        true => 0,
        false => config.database()?.one_at_a_time().most_connections(),
    };
    let connections = connections.into_iter().fold(probes, u32::saturating_add);
    Ok(NewProcess {
        id: ProcessId(new_id()),
        kind,
        version: env!("CARGO_PKG_VERSION"),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        connections: i32::try_from(connections).unwrap_or(i32::MAX),
    })
}

/// Prints the running processes. Returns a problem if together they may open more connections than the database
/// allows.
pub(super) async fn report(db: &Database) -> Result<Option<String>> {
    let running = processes::list(db).await?;
    if running.is_empty() {
        print::line("processes: no running process")?;
        return Ok(None);
    }
    print::lines(running.iter().map(line))?;
    let versions: BTreeSet<&str> = running.iter().map(|process| process.version.as_str()).collect();
    if versions.len() > 1 {
        print::line(format!(
            "processes: {} versions are running; this is expected while a release is rolled out",
            versions.len()
        ))?;
    }
    compare_connections(db, &running).await
}

/// Returns a problem if the processes may open more connections to this database than it allows. The list of processes
/// is printed only for `home`.
pub(super) async fn report_connections(db: &Database) -> Result<Option<String>> {
    compare_connections(db, &processes::list(db).await?).await
}

async fn compare_connections(db: &Database, running: &[Process]) -> Result<Option<String>> {
    let wanted: i64 = running.iter().map(|process| i64::from(process.connections)).sum();
    let what = if db.here() == HOME {
        "connections".to_owned()
    } else {
        format!("connections at place '{}'", db.place_name())
    };
    if pooler::shares_connections(db).await? {
        print::line(format!("{what}: at most {wanted}, through a pooler; its max_client_conn must be higher"))?;
        return Ok(None);
    }
    let excess = find_excess(wanted, processes::read_admitted(db).await?);
    if excess.is_none() {
        print::line(format!("{what}: at most {wanted}, which the database allows"))?;
    }
    Ok(excess)
}

fn line(process: &Process) -> String {
    let Process { kind, version, host, connections, seen_at, .. } = process;
    // The clocks of the database and of this machine may differ.
    let seen = (SystemClock.now() - *seen_at).num_seconds().max(0);
    format!("process: {} {version} at {host}, at most {connections} connections, seen {seen} s ago", kind.as_str())
}

/// Returns a description of the lowest limit that the processes may exceed, with advice. Returns `None` if there is
/// no such limit.
fn find_excess(wanted: i64, admitted: Admitted) -> Option<String> {
    let Admitted { by_server, by_role, by_database } = admitted;
    let limits = [
        (Some(by_server), "the server (max_connections without reserved connections)"),
        (by_role, "the limit of the role (alter role ... connection limit)"),
        (by_database, "the limit of the database (alter database ... connection limit)"),
    ];
    let lowest = limits.into_iter().filter_map(|(limit, of)| limit.map(|limit| (limit, of)));
    let (limit, of) = lowest.min_by_key(|(limit, _)| *limit).filter(|(limit, _)| wanted > i64::from(*limit))?;
    Some(format!(
        "the running processes may open {wanted} connections together, but {of} allows {limit}: reduce threads \
         (KNOWHOW_WORKERS) or connections (KNOWHOW_WRITE_CONNECTIONS, KNOWHOW_READ_CONNECTIONS), raise the limit, or \
         use a pooler (docs/operators/deploy.md)"
    ))
}

#[cfg(test)]
mod tests;
