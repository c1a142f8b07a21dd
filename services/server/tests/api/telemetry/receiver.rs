//! A collector that receives data over OTLP and decodes them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// A received batch: the path of the request, and the bytes.
type Batch = (String, Vec<u8>);

pub struct Receiver {
    pub url: String,
    batches: Arc<Mutex<Vec<Batch>>>,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self { url: format!("http://{}", listener.local_addr().unwrap()), batches: Arc::default() };
        let batches = receiver.batches.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let batches = batches.clone();
                std::thread::spawn(move || while take(&stream, &batches).is_some() {});
            }
        });
        receiver
    }

    fn batches(&self, path: &str) -> Vec<Vec<u8>> {
        let batches = self.batches.lock().unwrap();
        batches.iter().filter(|(to, _)| to == path).map(|(_, bytes)| bytes.clone()).collect()
    }

    pub fn spans(&self) -> Vec<Span> {
        let all = self.batches("/v1/traces").into_iter();
        let all = all.flat_map(|bytes| ExportTraceServiceRequest::decode(&*bytes).unwrap().resource_spans);
        all.flat_map(|of| of.scope_spans).flat_map(|of| of.spans).collect()
    }

    pub fn lines(&self) -> Vec<LogRecord> {
        let all = self.batches("/v1/logs").into_iter();
        let all = all.flat_map(|bytes| ExportLogsServiceRequest::decode(&*bytes).unwrap().resource_logs);
        all.flat_map(|of| of.scope_logs).flat_map(|of| of.log_records).collect()
    }

    /// Returns the names of the received metrics.
    pub fn metrics(&self) -> Vec<String> {
        let all = self.batches("/v1/metrics").into_iter();
        let all = all.flat_map(|bytes| ExportMetricsServiceRequest::decode(&*bytes).unwrap().resource_metrics);
        all.flat_map(|of| of.scope_metrics).flat_map(|of| of.metrics).map(|metric| metric.name).collect()
    }

    /// Returns all received bytes as text.
    pub fn text(&self) -> String {
        let batches = self.batches.lock().unwrap();
        batches.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect()
    }
}

fn take(mut stream: &TcpStream, batches: &Mutex<Vec<Batch>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    batches.lock().unwrap().push((first.split(' ').nth(1)?.to_owned(), body));
    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer.as_bytes()).ok()
}
