//! The one place where commands print. Each line goes through [`Visible`] and each JSON document through [`JsonWriter`], so that no
//! text from a service or a folder reaches the terminal as it is.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::ser::{PrettyFormatter, Serializer};

use crate::visible::{JsonWriter, Visible};

/// Prints one line. Line breaks within it are shown, not obeyed.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn line(text: impl Display) -> Result<()> {
    writeln!(output(), "{}", Visible(&text.to_string())).context(UNWRITABLE)
}

/// Prints each item on a line of its own.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn lines(texts: impl IntoIterator<Item = impl Display>) -> Result<()> {
    texts.into_iter().try_for_each(line)
}

/// Prints a value as JSON over several lines.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn json(value: &(impl Serialize + ?Sized)) -> Result<()> {
    value.serialize(&mut json_output()).context(UNWRITABLE)?;
    line("")
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn json_line(value: &(impl Serialize + ?Sized)) -> Result<()> {
    serde_json::to_writer(JsonWriter::new(output()), value).context(UNWRITABLE)?;
    line("")
}

/// Prints a JSON document that is text already.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn json_text(document: &str) -> Result<()> {
    JsonWriter::new(output()).write_all(document.as_bytes()).context(UNWRITABLE)?;
    line("")
}

/// Returns a serializer that writes JSON to standard output piece by piece.
pub(super) fn json_output() -> Serializer<JsonWriter<io::Stdout>, PrettyFormatter<'static>> {
    Serializer::pretty(JsonWriter::new(output()))
}

/// Returns a writer of lines of JSON to standard output.
pub(super) fn json_lines() -> JsonLines {
    JsonLines { output: JsonWriter::new(output()), line: Vec::new() }
}

/// Returns standard output for an archive, whose bytes are not changed.
///
/// # Errors
/// If standard output is a terminal.
pub(super) fn archive() -> Result<io::Stdout> {
    let output = output();
    ensure!(!output.is_terminal(), "an archive is not printed to a terminal: name a file with -o, or use a pipe");
    Ok(output)
}

/// Prints a script of this program without changes.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn script(bytes: &[u8]) -> Result<()> {
    output().write_all(bytes).context(UNWRITABLE)
}

/// Prints one line to standard error. A failure cannot be reported.
#[expect(clippy::disallowed_methods, reason = "the one place where commands print")]
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", Visible(&text.to_string()));
}

/// Writer of lines of JSON, each of which must be an object: other text could pass for an output of the command.
pub(super) struct JsonLines {
    output: JsonWriter<io::Stdout>,
    /// The line so far.
    line: Vec<u8>,
}

fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Longest line of JSON that is printed, in bytes.
const LINE_BYTES: usize = 1 << 20;

impl Write for JsonLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            let is_whole = self.line.ends_with(b"\n");
            if is_whole && !is_object(&self.line) || self.line.len() > LINE_BYTES {
                return Err(io::Error::other("the service sent a line that is not a JSON object"));
            }
            if is_whole {
                self.output.write_all(&self.line)?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

const UNWRITABLE: &str = "cannot write to standard output";

#[expect(clippy::disallowed_methods, reason = "the one place where commands print")]
fn output() -> io::Stdout {
    io::stdout()
}
