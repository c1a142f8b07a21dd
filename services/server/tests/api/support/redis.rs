//! A Redis of a test's own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::certificate::{Pair, TlsPort};
use super::service::{poll, setting};

/// A server that keeps nothing on disk. It dies with the test.
pub struct Redis {
    process: Child,
    /// Where it listens.
    pub port: u16,
}

impl Redis {
    /// Starts one; `None`, and a line that says so, where the program is not installed.
    pub fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::start_at(port)
    }

    /// The same at this port.
    pub fn start_at(port: u16) -> Option<Self> {
        let program = setting("KNOWHOW_TEST_REDIS").unwrap_or_else(|| "redis-server".into());
        let mut command = Command::new(&program);
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", &port.to_string()]);
        let Ok(process) = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            eprintln!("skipped: there is no {program}; install it with: apt-get install -y redis-server");
            return None;
        };
        let redis = Self { process, port };
        poll("Redis to listen", || TcpStream::connect(("127.0.0.1", port)).ok().map(drop));
        Some(redis)
    }

    /// Its URL, as the setting takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The same behind TLS.
    pub async fn behind_tls(&self, pair: &Pair) -> TlsPort {
        pair.before(([127, 0, 0, 1], self.port).into()).await
    }

    /// Has it stand still: it takes connections and requests, and answers none.
    pub fn stop_answering(&self) {
        let done = Command::new("kill").args(["-STOP", &self.process.id().to_string()]).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
