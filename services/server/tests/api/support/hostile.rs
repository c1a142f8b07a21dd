//! A fake service with scripted answers, and the command line that calls it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A received request.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method, path and query.
    pub line: String,
    /// All headers, as one text.
    pub head: String,
    pub body: Vec<u8>,
}

impl Asked {
    /// Returns whether the path has this prefix.
    pub fn is(&self, path: &str) -> bool {
        self.line.split(' ').nth(1).is_some_and(|asked| asked.starts_with(path))
    }
}

/// A fake service.
pub struct Hostile {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Hostile {
    /// Starts a fake service that answers with `answer`, one request per connection.
    pub fn start(answer: impl Fn(&Asked, &mut TcpStream) -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, answer) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::new(answer));
        let seen = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (seen.clone(), answer.clone());
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    seen.lock().unwrap().push(request.clone());
                    // The command may close the connection early.
                    let _ = answer(&request, &mut stream.try_clone().unwrap());
                });
            }
        });
        Self { url, asked }
    }

    /// Starts a fake service that answers with a status and a JSON document.
    pub fn json(choose: impl Fn(&Asked) -> (u16, Value) + Send + Sync + 'static) -> Self {
        Self::start(move |asked, stream| {
            let (status, document) = choose(asked);
            send(stream, status, "", document.to_string().as_bytes())
        })
    }

    /// Returns all requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Writes a complete answer with these header lines.
pub fn send(stream: &mut TcpStream, status: u16, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status} Status\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat())
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().ok()?;
        }
        head.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { line: line.trim().to_owned(), head, body })
}

/// Returns a command with only the service's URL and a token in its environment.
pub fn at(url: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knowhow"));
    command.env_clear().env("KNOWHOW_URL", url).env("KNOWHOW_TOKEN", TOKEN).args(arguments).stdin(Stdio::null());
    command
}

/// The token of all commands.
pub const TOKEN: &str = "khk_t0ken0ken0ken";

/// The result of a finished command.
pub struct Ended {
    pub output: Output,
    pub took: Duration,
    /// Peak memory in bytes.
    pub memory: u64,
}

impl Ended {
    /// Returns standard output and standard error.
    pub fn said(&self) -> String {
        both(&self.output)
    }

    /// Asserts that the command failed in time, within 200 MB and without printing the token. Returns its output.
    #[track_caller]
    pub fn failed_within(&self, seconds: u64) -> String {
        let said = self.said();
        assert!(!self.output.status.success(), "{said}");
        assert!(self.took < Duration::from_secs(seconds), "{:?}: {said}", self.took);
        assert!(self.memory < 200_000_000, "{} bytes of memory: {said}", self.memory);
        assert!(!said.contains(TOKEN), "{said}");
        said
    }
}

/// Returns both outputs of a command.
pub fn both(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a command for at most four minutes and measures its peak memory.
pub fn watched(mut command: Command) -> Ended {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (stdout, stderr) = (thread::spawn(|| drained(stdout)), thread::spawn(|| drained(stderr)));
    let mut memory = 0;
    let status = loop {
        memory = peak(&child).unwrap_or_default().max(memory);
        if began.elapsed() > Duration::from_secs(240) {
            child.kill().unwrap();
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let output = Output { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
    Ended { output, took: began.elapsed(), memory }
}

fn drained(mut pipe: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    pipe.read_to_end(&mut bytes).unwrap();
    bytes
}

fn peak(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}
