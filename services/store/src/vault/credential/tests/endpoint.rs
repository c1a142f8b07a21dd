//! An HTTP endpoint on this machine. It misbehaves as configured and counts requests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;
use url::Url;

#[derive(Clone)]
pub(super) enum Reply {
    Body(Vec<u8>),
    Status(u16),
    Redirect(String),
    /// Never answers and leaves the connection open.
    Hang,
    /// Sends the head and one byte of the body, never the rest.
    Trickle,
    /// Sends this many bytes without a Content-Length.
    Endless(usize),
}

pub(super) struct KeyEndpoint {
    port: u16,
    reply: Arc<Mutex<Reply>>,
    hits: Arc<AtomicUsize>,
}

impl KeyEndpoint {
    pub(super) fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (reply, hits) = (Arc::new(Mutex::new(reply)), Arc::new(AtomicUsize::new(0)));
        let (shared_reply, shared_hits) = (reply.clone(), hits.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                shared_hits.fetch_add(1, Ordering::SeqCst);
                let reply = shared_reply.lock().unwrap().clone();
                thread::spawn(move || answer(stream.unwrap(), reply));
            }
        });
        Self { port, reply, hits }
    }

    pub(super) fn keys(keys: &[serde_json::Value]) -> Reply {
        Reply::Body(json!({ "keys": keys }).to_string().into_bytes())
    }

    pub(super) fn now(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    pub(super) fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    pub(super) fn url(&self) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}/jwks", self.port)).unwrap()
    }
}

fn answer(mut stream: TcpStream, reply: Reply) {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request);
    let head = |status: &str, more: &str| format!("HTTP/1.1 {status}\r\nConnection: close\r\n{more}\r\n").into_bytes();
    // The client may have disconnected before the whole answer is written.
    let _ = match reply {
        Reply::Body(body) => stream
            .write_all(&head("200 OK", &format!("Content-Length: {}\r\n", body.len())))
            .and_then(|()| stream.write_all(&body)),
        Reply::Status(code) => stream.write_all(&head(&format!("{code} No"), "Content-Length: 0\r\n")),
        Reply::Redirect(to) => {
            stream.write_all(&head("302 Found", &format!("Location: {to}\r\nContent-Length: 0\r\n")))
        }
        Reply::Hang => stream.read(&mut request).map(|_| ()),
        Reply::Trickle => stream
            .write_all(&head("200 OK", "Content-Length: 100\r\n"))
            .and_then(|()| stream.write_all(b"{"))
            .and_then(|()| stream.read(&mut request).map(|_| ())),
        Reply::Endless(bytes) => stream
            .write_all(&head("200 OK", ""))
            .and_then(|()| (0..bytes / 1000).try_for_each(|_| stream.write_all(&[b' '; 1000]))),
    };
}
