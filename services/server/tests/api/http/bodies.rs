//! Memory of bodies that are only half sent, and its limits.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::callers::{Caller, World, skill};
use crate::service::{Service, keeper};

const SMALLEST: [(&str, &str); 2] = [("KNOWHOW_BODY_MEMORY_MB", "120"), ("KNOWHOW_WORKERS", "1")];

/// Begins an import, sends `bytes` bytes of its body, and never ends it.
pub fn send_half(service: &Service, caller: &Caller, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let token = caller.token.as_ref().unwrap();
    let head = format!(
        "POST /v1/skills/import HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nContent-Length: 41000000\r\n\
         Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; \
         filename=\"a.zip\"\r\n\r\n",
        service.address
    );
    // Ignores write errors, because the service may answer and close the connection before it has read everything.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&vec![b'x'; bytes]));
    stream
}

/// Returns the beginning of the answer, in lower case.
pub fn answer_of(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 2048];
    let length = stream.read(&mut bytes).unwrap_or_default();
    String::from_utf8_lossy(&bytes[..length]).to_lowercase()
}

#[tokio::test]
async fn bodies_in_progress_are_limited_for_each_caller() {
    let service = Service::start(&SMALLEST);
    let World { alice, bob, .. } = &World::at(&service, keeper(), json!({"starter_skills": false})).await;
    alice.create(skill("p")).await;
    let held = send_half(&service, alice, 27_000_000);
    let mut refused = send_half(&service, alice, 27_000_000);
    let answer = answer_of(&mut refused);
    assert!(answer.starts_with("http/1.1 429") && answer.contains("\r\nretry-after: 5\r\n"), "{answer}");
    // Other callers are not affected, and the caller's own small requests still work.
    bob.create(skill("q")).await;
    alice.create(skill("q")).await;
    drop((held, refused));
    let large = vec![b'x'; 27_000_000];
    for _ in 0..3 {
        let upload = alice.send(reqwest::Method::POST, "/v1/skills/import").files(&[("a.md", &large)]).await;
        assert_eq!(upload.ok(200)["failed"], 1, "given back with each answer: {upload}");
    }
}
