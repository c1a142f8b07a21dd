//! The lines of the log on their way to standard error. A thread that logs puts a line into a queue and goes on; a thread writes.
//! Where nobody reads the log, or its disk is full, lines are lost and counted, and the service serves.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tracing_subscriber::fmt::MakeWriter;

use crate::visible::{JsonWriter, Visible, is_hidden};

/// Lines that wait at most, some 4 MiB.
const WAITING: usize = 10_000;
/// How long lines are gathered behind those that were just written. Without it each request wakes the thread that writes,
/// which took a tenth of the processor under load.
const GATHERED: Duration = Duration::from_millis(5);
/// Bytes that are written at once; a little more where the last line is long.
const AT_ONCE: usize = 64 * 1024;
/// Longest wait for the lines that are still on their way at the end.
const LAST_WAIT: Duration = Duration::from_secs(1);

static LINES: OnceLock<Lines> = OnceLock::new();

#[derive(Clone)]
pub struct Lines {
    queue: SyncSender<QueuedLine>,
    lost: Arc<AtomicU64>,
}

enum QueuedLine {
    Line(Vec<u8>),
    /// Everything before it is written.
    Mark(SyncSender<()>),
}

/// Starts the thread that writes.
///
/// # Errors
/// Where it cannot be started.
pub fn start() -> Result<Lines> {
    let (queue, lines) = sync_channel(WAITING);
    let lost = Arc::<AtomicU64>::default();
    let entrance = Lines { queue, lost: lost.clone() };
    #[expect(clippy::disallowed_methods, reason = "lines are made visible as they are batched")]
    let write = move || write_all(&lines, &lost, &mut io::stderr());
    thread::Builder::new().name("log".into()).spawn(write).context("cannot start the thread that writes the log")?;
    Ok(LINES.get_or_init(|| entrance).clone())
}

/// Waits until what was logged is written, for a moment at most: the last lines say why a process ends.
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

/// Lines that are written together.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: u64,
}

impl Batch {
    /// Adds a line, in which texts of callers have no hidden characters.
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

    /// Writes them, and before them how many were lost since the last ones that could be written.
    fn write(&mut self, lost: &AtomicU64, output: &mut impl Write) {
        if self.lines == 0 {
            return;
        }
        let missing = lost.swap(0, Ordering::Relaxed);
        let told = if missing > 0 { output.write_all(missing_line(missing).as_bytes()) } else { Ok(()) };
        if told.is_err() {
            lost.fetch_add(missing + self.lines, Ordering::Relaxed);
        } else if output.write_all(&self.bytes).is_err() {
            lost.fetch_add(self.lines, Ordering::Relaxed);
        }
        self.bytes.clear();
        self.lines = 0;
    }
}

/// Returns a line for people. Its escape characters are colors of our own: tracing-subscriber replaces those of texts.
fn visible_but_colors(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let parts: Vec<String> = text.trim_end_matches('\n').split('\x1b').map(|part| Visible(part).to_string()).collect();
    parts.join("\x1b") + "\n"
}

fn missing_line(missing: u64) -> String {
    format!("{{\"level\":\"WARN\",\"message\":\"lines of the log could not be written\",\"lost\":{missing}}}\n")
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { lines: self, bytes: Vec::new() }
    }
}

/// One line in the making, which goes into the queue as a whole.
pub struct Line<'a> {
    lines: &'a Lines,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let line = QueuedLine::Line(std::mem::take(&mut self.bytes));
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = self.lines.queue.try_send(line) {
            self.lines.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
