//! Prints YAML in the block style that strict parsers accept: no flow collections, no anchors, no `---`.

use super::core;
use super::yaml::{Node, NodeContent, Style};

/// Notation for empty collections, which have no block form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// An empty text, which is the only form that strict parsers accept.
    Strict,
    /// `[]` and `{}`.
    Lenient,
}

/// Prints the entries of a mapping, each line indented by `indent`.
pub(super) fn mapping(entries: &[(Node, Node)], indent: usize, dialect: Dialect) -> String {
    let mut out = String::new();
    for (key, value) in entries {
        out.push_str(&" ".repeat(indent));
        out.push_str(&entry(key.key(), value, indent, dialect));
    }
    out
}

/// Prints `key: value` with its line end; later lines are indented below `indent`.
pub(super) fn entry(key: &str, value: &Node, indent: usize, dialect: Dialect) -> String {
    format!("{}:{}\n", text(key), self::value(value, indent, dialect))
}

/// Prints the value after a key's colon, without the last line end.
pub(super) fn value(node: &Node, indent: usize, dialect: Dialect) -> String {
    let block = block(node, indent + 2, dialect);
    match block {
        Some(block) => format!("\n{}", block.trim_end_matches('\n')),
        None => format!(" {}", inline(node, dialect)),
    }
}

/// Prints a scalar or an empty collection.
pub(super) fn inline(node: &Node, dialect: Dialect) -> String {
    match &node.shape {
        NodeContent::Scalar(value, Style::Plain) if value.is_empty() || node.is_null() => match dialect {
            Dialect::Strict if value.is_empty() => "\"\"".into(),
            _ => "null".into(),
        },
        NodeContent::Scalar(value, Style::Plain) if (is_plain(value) && core::has_json(value)) || is_number(node) => {
            value.clone()
        }
        NodeContent::Scalar(value, _) => text(value),
        _ if dialect == Dialect::Strict => "\"\"".into(),
        NodeContent::Sequence(_) => "[]".into(),
        NodeContent::Mapping(_) => "{}".into(),
    }
}

fn block(node: &Node, indent: usize, dialect: Dialect) -> Option<String> {
    match &node.shape {
        NodeContent::Mapping(entries) if !entries.is_empty() => Some(mapping(entries, indent, dialect)),
        NodeContent::Sequence(items) if !items.is_empty() => {
            Some(items.iter().map(|item| self::item(item, indent, dialect)).collect())
        }
        _ => None,
    }
}

/// Prints `- item` with its line end.
pub(super) fn item(node: &Node, indent: usize, dialect: Dialect) -> String {
    let pad = " ".repeat(indent);
    match block(node, indent + 2, dialect) {
        Some(block) => format!("{pad}- {}", &block[indent + 2..]),
        None => format!("{pad}- {}\n", inline(node, dialect)),
    }
}

/// Prints a text on one line: bare if it cannot be misread as another type, otherwise in double quotes.
pub(super) fn text(value: &str) -> String {
    if is_plain(value) && !looks_typed(value) { value.to_owned() } else { quoted(value) }
}

/// Prints a text in double quotes, with line breaks, invisible characters and `---` escaped.
pub(super) fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for (at, c) in value.char_indices() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // A strict parser splits the file at the first two `---`, even inside a value.
            '-' if value[at..].starts_with("---") => out.push_str("\\x2d"),
            _ if must_escape(c) && u32::from(c) > 0xffff => out.push_str(&format!("\\U{:08x}", u32::from(c))),
            _ if must_escape(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

fn must_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || u32::from(c) & 0xfffe == 0xfffe
}

/// Checks whether the characters of a text are safe without quotes, regardless of its type.
fn is_plain(value: &str) -> bool {
    let first_fits = value.chars().next().is_some_and(|c| c.is_alphanumeric());
    let inside_fits = !value.contains(": ") && !value.contains(" #") && !value.contains("---");
    let last_fits = !value.ends_with(':') && !value.ends_with(char::is_whitespace);
    let blanks_fit = value.chars().all(|c| c == ' ' || !(c.is_whitespace() || must_escape(c)));
    first_fits && inside_fits && last_fits && blanks_fit
}

fn is_number(node: &Node) -> bool {
    node.to_json().is_number()
}

/// Checks whether some YAML parser reads the bare text as a number, date, boolean or null.
fn looks_typed(value: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    value.starts_with(|c: char| c.is_numeric()) || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}
