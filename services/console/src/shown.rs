//! Texts and times as a page shows them. Characters that a browser would hide or reorder become code points.

use std::fmt;

use chrono::{DateTime, Utc};
use knowhow_domain::text::invisible::show_invisible;
use knowhow_domain::text::visible::Visible;

/// A text on one line: a name, an id, a comment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(pub String);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Visible(&self.0).fmt(f)
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// A text with its line breaks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block(pub String);

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show_invisible(&self.0))
    }
}

impl<T: Into<String>> From<T> for Block {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// A time, as its distance from now. The exact time is shown by pointing at it.
#[derive(Debug, Clone, Copy)]
pub struct When {
    at: DateTime<Utc>,
    now: DateTime<Utc>,
}

impl When {
    /// Creates the view of a time.
    pub fn new(at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { at, now }
    }

    /// Returns the exact time, to the second.
    pub fn exact(&self) -> String {
        self.at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
    }

    /// Returns the time for machines.
    pub fn machine(&self) -> String {
        self.at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = (self.now - self.at).num_seconds();
        match seconds {
            -59..=59 => f.write_str("just now"),
            60..=3599 => write!(f, "{} min ago", seconds / 60),
            3600..=86_399 => write!(f, "{} h ago", seconds / 3600),
            86_400..=2_591_999 => write!(f, "{} d ago", seconds / 86_400),
            _ => write!(f, "{}", self.at.format("%Y-%m-%d")),
        }
    }
}

/// Returns a size in bytes with a unit.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Converts the line breaks of a form, which browsers send as CR LF, back to those of the text.
pub fn unix_lines(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// Gives a typed text the line breaks of the stored one. A browser turns CR LF into LF in a text area. If the text is
/// otherwise the same, the stored one is returned; else all lines end as most lines of the stored text do.
pub fn lines_like(stored: &str, typed: &str) -> String {
    if unix_lines(stored) == typed {
        return stored.to_owned();
    }
    let windows = stored.matches("\r\n").count();
    if 2 * windows > stored.matches('\n').count() { typed.replace('\n', "\r\n") } else { typed.to_owned() }
}

#[cfg(test)]
mod tests;
