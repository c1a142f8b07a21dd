//! Makes foreign text a single inert line of a prompt, so that it cannot imitate the prompt's structure.

use crate::text::chat_tokens::break_tokens;
use crate::text::invisible::is_invisible;

/// Beginning of the skill index in a prompt.
const HEADER_START: &str = "Available skills (";

/// Makes a text a single inert line:
///
/// - Line breaks, other control characters and runs of blanks become a blank.
/// - Invisible characters are removed.
/// - `<`, `>` and backticks become look-alikes that open no tag and no code.
/// - Marks of headings, lists and rules at the start are removed.
/// - The index's header and control tokens are broken.
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
