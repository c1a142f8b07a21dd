//! Makes text from other sources safe to print: responses, files and command-line arguments.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use super::invisible::is_unseen;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Text with hidden characters, including line breaks, displayed as code points such as `<U+001B>`.
pub struct Visible<'a>(pub &'a str);

impl fmt::Display for Visible<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            if is_hidden(c) {
                write!(f, "<U+{:04X}>", u32::from(c))?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// Returns whether a terminal may interpret a character, break a line at it, reorder it or not show it. These are
/// Unicode's groups "other" and "separator" except the space, and characters without a glyph in other groups.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let group = c.general_category_group();
    matches!(group, GeneralCategoryGroup::Other | GeneralCategoryGroup::Separator) || is_unseen(c)
}

/// A writer that escapes hidden characters in JSON. They are valid only in strings, so the document keeps its meaning.
/// Line feeds stay, because JSON has them only between values. Invalid UTF-8 becomes U+FFFD.
pub struct JsonWriter<W> {
    output: W,
    /// First bytes of a character; the next write has the rest.
    begun: Vec<u8>,
}

impl<W: Write> JsonWriter<W> {
    /// Creates a writer on top of `output`.
    pub fn new(output: W) -> Self {
        Self { output, begun: Vec::new() }
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.write_text(chunk.valid())?;
            let is_begun = str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
            if is_begun && chunks.peek().is_none() {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.output.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(())
    }

    fn write_text(&mut self, text: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| *c != '\n' && is_hidden(*c)) {
            self.output.write_all(&text.as_bytes()[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(self.output, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        self.output.write_all(&text.as_bytes()[written..])
    }
}

impl<W: Write> Write for JsonWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() {
            self.write_bytes(bytes)?;
        } else {
            let mut joined = std::mem::take(&mut self.begun);
            joined.extend_from_slice(bytes);
            self.write_bytes(&joined)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests;
