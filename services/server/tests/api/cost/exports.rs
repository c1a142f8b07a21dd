//! Exports whose clients do not read the answer.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::resident_mib;
use crate::callers::{Caller, World, skill};
use crate::exchange::{noise, zip};
use crate::service::{Service, keeper};

const CLIENTS: usize = 10;
const FILES: u64 = 16;
const FILE_BYTES: usize = 1_000_000;

/// Gives a user two skills of 8 MB each.
async fn with_much(who: &Caller) {
    for name in ["large-a", "large-b"] {
        let mut files =
            vec![(format!("{name}/SKILL.md"), format!("---\nname: {name}\ndescription: d\n---\nb\n").into_bytes())];
        let file = |n: u64| (format!("{name}/assets/{n}"), noise(n + name.len() as u64, FILE_BYTES));
        files.extend((0..FILES / 2).map(file));
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let upload = who.send(reqwest::Method::POST, "/v1/skills/import").files(&[("a.zip", &zip(&files))]).await;
        assert_eq!(upload.ok(200)["created"], 1, "{upload}");
    }
}

fn ask_and_wait(service: &Service, who: &Caller) -> TcpStream {
    let mut stream = TcpStream::connect(&service.address).unwrap();
    let token = who.token.as_ref().unwrap();
    let head =
        format!("GET /v1/skills/export HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", service.address);
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn unread_exports_use_little_memory_and_delay_no_other_export() {
    let service = Service::start(&[]);
    let one = World::at(&service, keeper(), json!({"starter_skills": false, "review": "off"})).await;
    let two = World::at(&service, keeper(), json!({"starter_skills": false, "review": "off"})).await;
    for who in [&one.alice, &one.bob, &two.alice] {
        with_much(who).await;
    }
    two.bob.create(skill("p")).await;
    let before = resident_mib(&service);
    let users = [&one.alice, &one.bob, &two.alice];
    let mut streams: Vec<_> = (0..CLIENTS).map(|n| ask_and_wait(&service, users[n % users.len()])).collect();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let asked = Instant::now();
    assert_eq!(two.bob.get("/v1/skills/export").await.status, 200);
    let held = resident_mib(&service).saturating_sub(before);
    println!(
        "{CLIENTS} exports that nobody takes: {before} MiB before, {held} MiB more with them; a small export beside them took \
         {:?}",
        asked.elapsed()
    );
    assert!(held <= 32, "{held} MiB");
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    // A client that reads nothing for half a minute is disconnected, so its archive is incomplete.
    tokio::time::sleep(Duration::from_secs(70)).await;
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut taken = Vec::new();
        let outcome = stream.read_to_end(&mut taken);
        assert!(taken.len() < FILE_BYTES * FILES as usize, "{} bytes, {outcome:?}", taken.len());
    }
    assert_eq!(two.alice.get("/v1/skills/export").await.status, 200);
}
