//! Signals that stop a process, and requirements of orchestrators.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};

use crate::raw;
use crate::service::{PATIENCE, Service, knowhow, migrated, owner_url, poll, scratch, scratch_file};

/// A client that keeps its connection open, as a load balancer does.
struct Kept {
    stream: BufReader<TcpStream>,
}

impl Kept {
    fn to(service: &Service) -> Self {
        let stream = TcpStream::connect(&service.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a GET and returns the head of the answer in lower case.
    fn get(&mut self, path: &str) -> String {
        write!(self.stream.get_mut(), "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).unwrap() > 0, "closed before an answer: {head}");
        }
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        self.stream.read_exact(&mut vec![0; length.parse().unwrap()]).unwrap();
        head
    }

    /// Waits until the connection ends. Returns whether the service closed it.
    fn is_closed(&mut self) -> bool {
        self.stream.read(&mut [0]).is_ok_and(|bytes| bytes == 0)
    }
}

fn signal(process: &str, name: &str) {
    assert!(Command::new("kill").args([name, process]).status().unwrap().success());
}

fn readiness(service: &Service) -> Option<u16> {
    raw::try_get(&service.address, "/readyz").map(|answer| answer.status)
}

#[test]
fn a_second_sigterm_ends_draining() {
    let mut service = Service::start(&[("KNOWHOW_DRAIN_S", "600")]);
    let mut kept = Kept::to(&service);
    assert!(!kept.get("/healthz").contains("connection: close"));
    service.terminate();
    poll("the process to say that it goes", || (readiness(&service) == Some(503)).then_some(()));
    // The process still answers, even on new connections, but closes each connection after its next answer.
    let answer = kept.get("/healthz");
    assert!(answer.starts_with("http/1.1 200") && answer.contains("connection: close"), "{answer}");
    assert!(kept.is_closed());
    assert!(Kept::to(&service).get("/healthz").starts_with("http/1.1 200"));
    service.terminate();
    assert!(service.wait(PATIENCE).success());
}

#[test]
fn an_interrupt_stops_the_process_without_draining() {
    let mut service = Service::start(&[("KNOWHOW_DRAIN_S", "600")]);
    signal(&service.id().to_string(), "-INT");
    assert!(service.wait(PATIENCE).success());
}

#[test]
fn a_worker_in_the_server_stops_with_the_first_signal() {
    let mut service = Service::start(&[("KNOWHOW_DRAIN_S", "600"), ("KNOWHOW_WITH_WORKER", "true")]);
    service.terminate();
    poll("the worker to stop", || service.log().contains("the worker stopped").then_some(()));
    assert_eq!(readiness(&service), Some(503));
    service.terminate();
    assert!(service.wait(PATIENCE).success());
}

/// Load balancers keep idle connections open.
#[test]
fn idle_connections_do_not_delay_the_stop() {
    let mut service = Service::start(&[("KNOWHOW_SHUTDOWN_TIMEOUT_S", "600")]);
    let mut idle = Kept::to(&service);
    idle.get("/healthz");
    service.terminate();
    assert!(idle.is_closed());
    assert!(service.wait(PATIENCE).success());
}

/// The shorter timeout closes its connection, while the connection with the longer timeout is still open. Both
/// timeouts differ from the 5 s that the HTTP server uses by default.
#[test]
fn an_idle_connection_is_closed_after_the_configured_time() {
    let (long, short) = (Service::start(&[]), Service::start(&[("KNOWHOW_KEEP_ALIVE_S", "7")]));
    let (mut kept, mut idle) = (Kept::to(&long), Kept::to(&short));
    kept.get("/healthz");
    idle.get("/healthz");
    assert!(idle.is_closed());
    kept.get("/healthz");
}

#[test]
fn variables_of_kubernetes_services_do_not_prevent_the_start() {
    let links = [("KNOWHOW_API_PORT", "tcp://10.0.0.7:8080"), ("KNOWHOW_SERVICE_HOST", "10.0.0.7")];
    let service = Service::start(&links);
    let log = service.log();
    for (name, _) in links {
        assert!(log.contains(&format!("\"variable\":\"{name}\"")), "{log}");
    }
}

#[test]
fn the_owners_url_can_be_read_from_a_file() {
    migrated();
    let file = scratch_file("owner-url", format!("{}\n", owner_url()).as_bytes());
    let migrate = || {
        let mut command = knowhow(&["migrate"]);
        command.env("DATABASE_URL_FILE", &file);
        command
    };
    let twice = migrate().output().unwrap();
    assert!(String::from_utf8_lossy(&twice.stderr).contains("DATABASE_URL or DATABASE_URL_FILE, not both"));
    let done = migrate().env_remove("DATABASE_URL").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Kills the process if a test fails before the process has ended.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first process of a container gets only the signals that it handles.
#[test]
fn it_stops_as_the_first_process_of_a_container() {
    let unshare = ["--fork", "--pid", "--kill-child", "--"];
    if !Command::new("unshare").args(unshare).arg("true").status().is_ok_and(|status| status.success()) {
        println!("skipped: this machine lets nobody make a namespace of processes (unshare --pid)");
        return;
    }
    migrated();
    let mut command = Command::new("unshare");
    command.args(unshare).args([env!("CARGO_BIN_EXE_knowhow"), "serve"]);
    for (name, value) in knowhow(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let log = scratch("first-process.log");
    let mut outside = Killed(command.stderr(File::create(&log).unwrap()).spawn().unwrap());
    let said = |what: &str| std::fs::read_to_string(&log).unwrap().contains(what).then_some(());
    poll("the service to serve", || said("\"serving\""));
    let id = outside.0.id();
    let inside = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    signal(inside.trim(), "-TERM");
    let ended = poll("the service to end", || outside.0.try_wait().unwrap());
    assert!(ended.success() && said("\"stopped\"").is_some(), "{ended}");
}
