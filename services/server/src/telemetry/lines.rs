//! Writes the log to standard error. Threads put their lines into a queue, and a separate thread writes them. If
//! standard error blocks or its disk is full, lines are dropped and counted, and the service keeps serving.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tracing_subscriber::fmt::MakeWriter;

use knowhow_domain::text::visible::{JsonWriter, Visible, is_hidden};

/// Maximum number of lines in the queue, which take about 4 MiB.
const WAITING: usize = 10_000;
/// Pause of the writer after a write, to collect more lines. Without the pause, each request woke the writer thread,
/// which took a tenth of the processor under load.
const GATHERED: Duration = Duration::from_millis(5);
/// Number of bytes that are written at once. A long last line may exceed it.
const AT_ONCE: usize = 64 * 1024;
/// Maximum time at exit to wait until queued lines are written.
const LAST_WAIT: Duration = Duration::from_secs(1);

static LINES: OnceLock<LogLines> = OnceLock::new();

#[derive(Clone)]
pub struct LogLines {
    queue: SyncSender<QueuedLine>,
    lost: Arc<AtomicU64>,
}

enum QueuedLine {
    Line(Vec<u8>),
    /// A mark. The writer signals it when all earlier lines are written.
    Mark(SyncSender<()>),
}

/// Starts the thread that writes the log.
pub fn start() -> Result<LogLines> {
    let (queue, lines) = sync_channel(WAITING);
    let lost = Arc::<AtomicU64>::default();
    let entrance = LogLines { queue, lost: lost.clone() };
    #[expect(clippy::disallowed_methods, reason = "lines are made visible as they are batched")]
    let write = move || write_all(&lines, &lost, &mut io::stderr());
    thread::Builder::new().name("log".into()).spawn(write).context("cannot start the thread that writes the log")?;
    Ok(LINES.get_or_init(|| entrance).clone())
}

/// Waits briefly until the queued lines are written, because the last lines may explain why the process ends.
pub fn flush() {
    let Some(lines) = LINES.get() else { return };
    let (done, written) = sync_channel(1);
    if lines.queue.try_send(QueuedLine::Mark(done)).is_ok() {
        let _ = written.recv_timeout(LAST_WAIT);
    }
}

fn write_all(lines: &Receiver<QueuedLine>, lost: &AtomicU64, output: &mut impl Write) {
    let mut batch = Batch::default();
    while let Ok(first) = lines.recv() {
        for message in std::iter::once(first).chain(lines.try_iter()) {
            match message {
                QueuedLine::Line(line) => batch.add(&line),
                QueuedLine::Mark(done) => {
                    batch.write(lost, output);
                    let _ = done.try_send(());
                }
            }
            if batch.bytes.len() >= AT_ONCE {
                batch.write(lost, output);
            }
        }
        batch.write(lost, output);
        thread::sleep(GATHERED);
    }
}

/// A batch of lines that are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: u64,
}

impl Batch {
    /// Adds a line. Hidden characters in texts from callers are escaped.
    fn add(&mut self, line: &[u8]) {
        self.lines += 1;
        let has_hidden = str::from_utf8(line).map_or(true, |text| text.trim_end_matches('\n').chars().any(is_hidden));
        if !has_hidden {
            self.bytes.extend_from_slice(line);
        } else if line.starts_with(b"{") {
            // Writing to a vector cannot fail.
            let _ = JsonWriter::new(&mut self.bytes).write_all(line);
        } else {
            self.bytes.extend_from_slice(visible_but_colors(line).as_bytes());
        }
    }

    /// Writes the batch. If lines were dropped since the last successful write, a line with their number precedes the
    /// batch.
    fn write(&mut self, lost: &AtomicU64, output: &mut impl Write) {
        if self.lines == 0 {
            return;
        }
        let missing = lost.swap(0, Ordering::Relaxed);
        let written = if missing > 0 { output.write_all(missing_line(missing).as_bytes()) } else { Ok(()) };
        if written.is_err() {
            lost.fetch_add(missing + self.lines, Ordering::Relaxed);
        } else if output.write_all(&self.bytes).is_err() {
            lost.fetch_add(self.lines, Ordering::Relaxed);
        }
        self.bytes.clear();
        self.lines = 0;
    }
}

/// Escapes a line of the format `pretty`. Escape characters are kept: they are our own colors, because
/// tracing-subscriber replaces escape characters in texts.
fn visible_but_colors(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let parts: Vec<String> = text.trim_end_matches('\n').split('\x1b').map(|part| Visible(part).to_string()).collect();
    parts.join("\x1b") + "\n"
}

fn missing_line(missing: u64) -> String {
    format!("{{\"level\":\"WARN\",\"message\":\"some log lines could not be written\",\"lost\":{missing}}}\n")
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { lines: self, bytes: Vec::new() }
    }
}

/// A line in progress. It is put into the queue as a whole.
pub struct LogLine<'a> {
    lines: &'a LogLines,
    bytes: Vec<u8>,
}

impl Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    fn drop(&mut self) {
        let line = QueuedLine::Line(std::mem::take(&mut self.bytes));
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.lines.queue.try_send(line) {
            self.lines.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
