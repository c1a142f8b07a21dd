//! Hand-written HTTP, for requests that normal clients do not send.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer as received.
#[derive(Debug)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Status line and headers of the answer.
    pub head: String,
    /// The body.
    pub body: String,
}

impl RawAnswer {
    /// Asserts a problem of this status and type, and returns it.
    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.head.to_lowercase().contains("content-type: application/problem+json"), "{self:?}");
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["type"], format!("/problems/{kind}"), "{self:?}");
        problem
    }
}

/// Sends bytes, closes the sending side and reads the answer. A failed write is ignored, because the service may
/// answer before it has read everything.
pub fn exchange(address: &str, request: &[u8]) -> Option<RawAnswer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let _ = stream.write_all(request).and_then(|()| stream.flush());
    let _ = stream.shutdown(Shutdown::Write);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(RawAnswer { status, head: head.to_owned(), body: body.to_owned() })
}

/// Sends a request with these header lines and this body. Adds `Content-Length` unless a header states the length.
pub fn request(address: &str, line: &str, headers: &[&[u8]], body: &[u8]) -> RawAnswer {
    let mut bytes = format!("{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n").into_bytes();
    let speaks_of_length = |header: &&&[u8]| {
        let name = header.split(|b| *b == b':').next().unwrap_or_default().to_ascii_lowercase();
        name == b"content-length" || name == b"transfer-encoding"
    };
    for header in headers {
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(b"\r\n");
    }
    if !headers.iter().any(|h| speaks_of_length(&h)) && !body.is_empty() {
        bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    exchange(address, &bytes).unwrap_or_else(|| panic!("no answer to {line}"))
}

/// Sends a GET without credentials. Returns `None` if no server listens.
pub fn try_get(address: &str, path: &str) -> Option<RawAnswer> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    exchange(address, request.as_bytes())
}

/// Encodes a body in chunks, as clients send a body of unknown length.
pub fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + 1024);
    for chunk in body.chunks(16 * 1024) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// The media type of most bodies.
pub const JSON: &str = "application/json";
/// The media types that MCP clients accept.
pub const BOTH: &str = "application/json, text/event-stream";

/// A request whose head and body are sent separately.
pub struct Post<'a> {
    pub path: &'a str,
    pub media_type: &'a str,
    pub body: &'a str,
}

/// Sends the head of a POST and waits for `100 Continue`, so that the service has read the head.
pub fn begin_post(address: &str, token: &str, post: &Post<'_>) -> TcpStream {
    let (Post { path, media_type, .. }, length) = (post, post.body.len());
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: {media_type}\r\n\
         Accept: {BOTH}\r\nContent-Length: {length}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// Sends the body of the POST and returns the whole answer.
pub fn finish_post(mut stream: TcpStream, post: &Post<'_>) -> String {
    stream.write_all(post.body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
