//! A local server that imitates the OpenAI API and its failures.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::poll;

/// Answer to a request.
#[derive(Clone)]
pub enum Reply {
    /// Vectors of this dimension, unless the request names another one. Each is `[length of the text, 1, 1, ...]`.
    /// The vector of the last text comes first.
    Vectors(usize),
    /// The text of a chat model's answer.
    Says(String),
    /// The text of a chat model's answer. `$KEY` is replaced by the member `key` in the JSON of the user's message.
    Repeats(String),
    /// Like `Repeats`, but the answer is sent once the flag is set.
    When(Arc<AtomicBool>, String),
    /// Status 200 and this body.
    Body(Vec<u8>),
    /// An error status, a header line and a body.
    Status(u16, &'static str, &'static str),
    /// Sends no answer, and keeps the connection open.
    Hang,
    /// Sends the beginning of a body, and closes the connection.
    Half,
    /// Closes the connection without an answer.
    Close,
    /// Sends a body of about 50 MB.
    Huge,
    /// The answer that the function returns for the request.
    Chosen(Arc<dyn Fn(&Seen) -> Reply + Send + Sync>),
}

impl Reply {
    /// Returns a chat model's answer with this text.
    pub fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }

    /// Returns an answer that a function chooses for each request.
    pub fn chosen(choose: impl Fn(&Seen) -> Self + Send + Sync + 'static) -> Self {
        Self::Chosen(Arc::new(choose))
    }

    /// Returns an answer with status 200 and this body.
    pub fn body(text: &str) -> Self {
        Self::Body(text.as_bytes().to_vec())
    }
}

#[derive(Clone)]
pub struct Seen {
    /// The request line.
    pub line: String,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The body as received.
    pub text: String,
    /// The body parsed as JSON, or null if it is not JSON.
    pub body: Value,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    seen: Vec<Seen>,
}

/// A fake server. It sends the replies in order and repeats the last one.
pub struct FakeServer {
    port: u16,
    script: Arc<Mutex<Script>>,
}

impl FakeServer {
    /// Starts a server with these replies.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Mutex::new(Script { replies: replies.into_iter().collect(), seen: Vec::new() }));
        let shared = script.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let script = shared.clone();
                thread::spawn(move || serve(&stream.unwrap(), &script));
            }
        });
        Self { port, script }
    }

    /// Returns the base URL of the server.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Replaces the replies that were not sent yet.
    pub fn replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.script.lock().unwrap().replies = replies.into_iter().collect();
    }

    /// Returns all requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.script.lock().unwrap().seen.clone()
    }
}

fn serve(stream: &TcpStream, script: &Mutex<Script>) {
    let mut reader = BufReader::new(stream);
    while let Some(seen) = read_request(&mut reader) {
        let reply = {
            let mut script = script.lock().unwrap();
            script.seen.push(seen.clone());
            if script.replies.len() > 1 { script.replies.pop_front() } else { script.replies.front().cloned() }
        };
        if !answer(stream, reply.unwrap(), &seen) {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&read| read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).unwrap();
    Some(Seen { line: line.trim().to_owned(), headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
}

/// Sends an answer. Returns whether to leave the connection open.
fn answer(mut stream: &TcpStream, reply: Reply, seen: &Seen) -> bool {
    match reply {
        Reply::Vectors(dims) => send(stream, "200 OK", "", vectors(&seen.body, dims).to_string().as_bytes()),
        Reply::Says(text) => send(stream, "200 OK", "", said(&seen.body, &text).to_string().as_bytes()),
        Reply::Repeats(text) => {
            let question = seen.body["messages"][1]["content"].as_str().unwrap();
            let question: Value = serde_json::from_str(question).unwrap();
            let text = text.replace("$KEY", question["key"].as_str().unwrap_or_default());
            send(stream, "200 OK", "", said(&seen.body, &text).to_string().as_bytes())
        }
        Reply::When(may, text) => {
            poll("the model to be let go", || may.load(Ordering::SeqCst).then_some(()));
            answer(stream, Reply::Repeats(text), seen)
        }
        Reply::Body(body) => send(stream, "200 OK", "", &body),
        Reply::Status(status, header, body) => send(stream, &format!("{status} No"), header, body.as_bytes()),
        Reply::Hang => {
            // Waits until the client closes the connection.
            let _ = stream.read(&mut [0]);
            false
        }
        Reply::Half => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"data\":[{\"index\":0,\"emb");
            false
        }
        Reply::Close => false,
        Reply::Chosen(choose) => answer(stream, choose(seen), seen),
        Reply::Huge => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"data\":[");
            let _ = (0..800).try_for_each(|_| stream.write_all(&[b' '; 65536]));
            false
        }
    }
}

fn send(mut stream: &TcpStream, status: &str, header: &str, body: &[u8]) -> bool {
    let head = format!("HTTP/1.1 {status}\r\n{header}Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat()).is_ok()
}

fn vectors(request: &Value, dims: usize) -> Value {
    let dims = request["dimensions"].as_u64().map_or(dims, |asked| asked as usize);
    let texts = request["input"].as_array().unwrap().iter().enumerate();
    let data = texts.rev().map(|(index, text)| {
        let mut vector = vec![1.0; dims];
        vector[0] = text.as_str().unwrap().len() as f64;
        json!({ "object": "embedding", "index": index, "embedding": vector })
    });
    json!({ "object": "list", "data": data.collect::<Vec<_>>(), "model": request["model"], "usage": {} })
}

fn said(request: &Value, text: &str) -> Value {
    let message = json!({ "role": "assistant", "content": text });
    let choices = [json!({ "index": 0, "message": message, "finish_reason": "stop" })];
    json!({ "id": "chat-1", "object": "chat.completion", "choices": choices, "model": request["model"], "usage": {} })
}
