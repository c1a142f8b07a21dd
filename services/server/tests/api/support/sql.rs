//! SQL statements as the database's owner, for states that no request can produce.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU32;

use aws_lc_rs::{digest, hmac, pbkdf2};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use url::Url;

use crate::service::{PATIENCE, owner_url};
use crate::signing::random_secret;

const PROTOCOL: u32 = 196_608;

/// Executes a statement in the tests' database. Returns the number of affected rows.
pub fn execute(statement: &str) -> u64 {
    execute_at(&owner_url(), statement)
}

/// Executes a statement in another database. Returns the number of affected rows.
pub fn execute_at(url: &Url, statement: &str) -> u64 {
    run_at(url, statement, &mut |_| ())
}

/// Returns the first column of a query in another database. Null becomes an empty string.
pub fn column_at(url: &Url, statement: &str) -> Vec<String> {
    let mut found = Vec::new();
    run_at(url, statement, &mut |row| found.push(first_column(row)));
    found
}

/// Returns the first column of a row as text.
fn first_column(row: &[u8]) -> String {
    let length = i32::from_be_bytes(row[2..6].try_into().unwrap());
    let length = usize::try_from(length).unwrap_or(0);
    String::from_utf8(row[6..6 + length].to_vec()).unwrap()
}

fn run_at(url: &Url, statement: &str, take_row: &mut dyn FnMut(&[u8])) -> u64 {
    let address = (url.host_str().unwrap().to_owned(), url.port().unwrap_or(5432));
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let database = url.path().trim_start_matches('/');
    let parameters = format!("user\0{}\0database\0{database}\0\0", url.username());
    let start = [&PROTOCOL.to_be_bytes(), parameters.as_bytes()].concat();
    stream.write_all(&with_length(&start)).unwrap();
    log_in(&mut stream, url.password().unwrap_or_default());
    send(&mut stream, b'Q', format!("{statement}\0").as_bytes());
    let mut touched = 0;
    loop {
        let (kind, body) = receive(&mut stream);
        let text = String::from_utf8_lossy(&body);
        match kind {
            b'C' => touched = text.trim_end_matches('\0').rsplit(' ').next().unwrap().parse().unwrap_or(0),
            b'E' => panic!("{statement}: {text}"),
            b'D' => take_row(&body),
            b'Z' => return touched,
            _ => {}
        }
    }
}

fn log_in(stream: &mut TcpStream, password: &str) {
    assert!(!password.contains('%'), "a password that a URL has to escape");
    let nonce = random_secret();
    let bare = format!("n=,r={nonce}");
    loop {
        let (kind, body) = receive(stream);
        let (code, rest) = body.split_at(body.len().min(4));
        match (kind, code) {
            (b'R', [0, 0, 0, 3]) => send(stream, b'p', format!("{password}\0").as_bytes()),
            (b'R', [0, 0, 0, 10]) => {
                let first = with_length(format!("n,,{bare}").as_bytes());
                // This length does not include its own four bytes.
                let length = u32::try_from(first.len() - 4).unwrap().to_be_bytes();
                send(stream, b'p', &[b"SCRAM-SHA-256\0", length.as_slice(), &first[4..]].concat());
            }
            (b'R', [0, 0, 0, 11]) => {
                let last = proof(password, &bare, std::str::from_utf8(rest).unwrap());
                send(stream, b'p', last.as_bytes());
            }
            (b'E', _) => panic!("{}", String::from_utf8_lossy(&body)),
            (b'Z', _) => return,
            _ => {}
        }
    }
}

/// Returns the client's final message of SCRAM-SHA-256 (RFC 5802, section 3).
fn proof(password: &str, bare: &str, server: &str) -> String {
    let part = |key: &str| server.split(',').find_map(|part| part.strip_prefix(key)).unwrap();
    let salt = STANDARD.decode(part("s=")).unwrap();
    let rounds: NonZeroU32 = part("i=").parse().unwrap();
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, password.as_bytes(), &mut salted);
    let sign = |key: &[u8], text: &str| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes());
    let client_key = sign(&salted, "Client Key");
    let stored_key = digest::digest(&digest::SHA256, client_key.as_ref());
    let last = format!("c=biws,r={}", part("r="));
    let signature = sign(stored_key.as_ref(), &format!("{bare},{server},{last}"));
    let proof: Vec<u8> = client_key.as_ref().iter().zip(signature.as_ref()).map(|(a, b)| a ^ b).collect();
    format!("{last},p={}", STANDARD.encode(proof))
}

fn with_length(body: &[u8]) -> Vec<u8> {
    [&u32::try_from(body.len() + 4).unwrap().to_be_bytes(), body].concat()
}

fn send(stream: &mut TcpStream, kind: u8, body: &[u8]) {
    stream.write_all(&[&[kind], with_length(body).as_slice()].concat()).unwrap();
}

fn receive(stream: &mut TcpStream) -> (u8, Vec<u8>) {
    let mut head = [0; 5];
    stream.read_exact(&mut head).unwrap();
    let length = u32::from_be_bytes(head[1..].try_into().unwrap());
    let mut body = vec![0; usize::try_from(length).unwrap() - 4];
    stream.read_exact(&mut body).unwrap();
    (head[0], body)
}
