//! A Redis server of a test.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::certificate::{Pair, TlsPort};
use super::service::{poll, setting};

/// A Redis server without persistence, killed when it is dropped.
pub struct Redis {
    process: Child,
    /// The port on which the server listens.
    pub port: u16,
}

impl Redis {
    /// Starts a server. If the program is not installed, prints a line and returns `None`.
    pub fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self::start_at(port)
    }

    /// Starts a server on this port. If the program is not installed, prints a line and returns `None`.
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

    /// Returns the URL of the server for the setting.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Opens a TLS port in front of the server.
    pub async fn behind_tls(&self, pair: &Pair) -> TlsPort {
        pair.before(([127, 0, 0, 1], self.port).into()).await
    }

    /// Stops the process, so that it accepts connections and requests but does not answer.
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
