//! Words of a skill as a line of a prompt: whatever they say, they are no structure of the prompt.

use crate::chat_tokens::break_tokens;
use crate::invisible::is_invisible;

/// How the index begins.
const HEADER_START: &str = "Available skills (";

/// The text as a single line that cannot pass for anything but a text. Line breaks, other control characters and runs
/// of blanks become one blank; invisible characters go; `<`, `>` and backticks become look-alikes that open no tag and
/// no code; marks of headings, lists and rules at the start go; the index's header and control tokens are broken.
pub fn inert_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => line.push('‹'),
            '>' => line.push('›'),
            '`' => line.push('\''),
            '!'..='~' => line.push(c),
            _ if c.is_whitespace() || c.is_control() => line.push_str(if line.ends_with(' ') { "" } else { " " }),
            _ if is_invisible(c) => {}
            _ => line.push(c),
        }
    }
    let marks = [' ', '-', '#', '*', '+', '=', '_', '~', '|'];
    break_tokens(&line.trim_start_matches(marks).trim_end().replace(HEADER_START, "Available skills [")).into_owned()
}

#[cfg(test)]
mod tests;
