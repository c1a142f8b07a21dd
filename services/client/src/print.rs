//! The only module that prints. Lines pass through [`Visible`] and JSON documents through [`JsonWriter`]. Both escape
//! control characters, so that a text from a service or a folder cannot control the terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::ser::{PrettyFormatter, Serializer};

use knowhow_domain::text::visible::{JsonWriter, Visible};

/// Prints one line. Line breaks in the text are escaped.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn line(text: impl Display) -> Result<()> {
    writeln!(output(), "{}", Visible(&text.to_string())).context(UNWRITABLE)
}

/// Prints each item on a line of its own.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn lines(texts: impl IntoIterator<Item = impl Display>) -> Result<()> {
    texts.into_iter().try_for_each(line)
}

/// Prints a value as indented JSON.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn json(value: &(impl Serialize + ?Sized)) -> Result<()> {
    value.serialize(&mut json_output()).context(UNWRITABLE)?;
    line("")
}

/// Prints a value as JSON on one line.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn json_line(value: &(impl Serialize + ?Sized)) -> Result<()> {
    serde_json::to_writer(JsonWriter::new(output()), value).context(UNWRITABLE)?;
    line("")
}

/// Prints a JSON document that is already serialized, followed by a line break.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn json_text(document: &str) -> Result<()> {
    JsonWriter::new(output()).write_all(document.as_bytes()).context(UNWRITABLE)?;
    line("")
}

/// Returns a serializer that streams indented JSON to standard output.
pub fn json_output() -> Serializer<JsonWriter<io::Stdout>, PrettyFormatter<'static>> {
    Serializer::pretty(JsonWriter::new(output()))
}

/// Returns a writer that streams JSON lines to standard output.
pub fn json_lines() -> JsonLines {
    JsonLines { output: JsonWriter::new(output()), line: Vec::new() }
}

/// Returns standard output for an archive. The bytes are not escaped.
///
/// # Errors
/// Fails if standard output is a terminal.
pub fn archive() -> Result<io::Stdout> {
    let output = output();
    ensure!(!output.is_terminal(), "archives are not printed to a terminal: name a file with -o, or use a pipe");
    Ok(output)
}

/// Prints a script that this program generated. The text is not escaped.
///
/// # Errors
/// Fails if standard output cannot be written.
pub fn script(bytes: &[u8]) -> Result<()> {
    output().write_all(bytes).context(UNWRITABLE)
}

/// Prints one line to standard error. Failures are ignored.
#[expect(clippy::disallowed_methods, reason = "the one place where commands print")]
pub fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", Visible(&text.to_string()));
}

/// Writer of JSON lines. It rejects lines that are not JSON objects, because other text could look like the command's
/// own output.
pub struct JsonLines {
    output: JsonWriter<io::Stdout>,
    /// The part of the last line that has been received so far.
    line: Vec<u8>,
}

fn is_object(line: &[u8]) -> bool {
    line.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// Maximum number of bytes in a JSON line.
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
