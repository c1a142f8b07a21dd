//! Text of several lines in a prompt, fenced so that it cannot end its own fence or imitate what stands around it.

use crate::inert::is_invisible;
use crate::manifest;

/// How the lines of a prompt begin that carry its structure, folded as [`fold`] does.
const STRUCTURE: [&str; 15] = [
    "## active skill instructions",
    "## reference material",
    "## soul",
    "## core memories",
    "## recent conversations",
    "available skills (",
    "relevant skills for this message",
    "related skills (see-also)",
    "named, but too long",
    "<skill",
    "</skill",
    "<reference",
    "</reference",
    "<soul",
    "</soul",
];

/// Hexadecimal digits of the mark: 96 bits, so that no text is found that holds its own.
const MARK_DIGITS: usize = 24;

/// The text between `<tag attributes mark="…">` and `</tag mark="…">`.
///
/// The mark is cut from the SHA-256 of the text itself. The same text so gives the same bytes, and no text can hold its
/// own closing line: its author would have to know a digest of what contains it. Lines that begin like one of the
/// prompt's own are set off with a `\`, and `<|`, which opens the control tokens of chat templates, is printed `‹|`.
pub fn fence(tag: &str, attributes: &str, text: &str) -> String {
    let text = disarm(text);
    let digest = manifest::hex(&manifest::digest(text.as_bytes()));
    let mark = digest.get(..MARK_DIGITS).unwrap_or_default();
    format!("<{tag}{attributes} mark=\"{mark}\">\n{text}\n</{tag} mark=\"{mark}\">")
}

fn disarm(text: &str) -> String {
    let lines = split_lines(text.trim_matches(['\n', '\r'])).map(|line| {
        let line = line.replace("<|", "‹|");
        if imitates_structure(&line) { format!("\\{line}") } else { line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Lines at whatever any reader may take for the end of one; a line end of two characters is one.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split(['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'])
    })
}

fn imitates_structure(line: &str) -> bool {
    let folded = fold(line);
    STRUCTURE.iter().any(|start| folded.starts_with(start))
}

/// The beginning of a line without what is not seen, marks of quotes and lists, case, and runs of blanks.
fn fold(line: &str) -> String {
    let seen = line.chars().filter(|c| !is_invisible(*c) && (!c.is_control() || c.is_whitespace()));
    let mut folded = String::new();
    for c in seen.skip_while(|c| c.is_whitespace() || matches!(c, '>' | '*' | '-' | '\\')).take(200) {
        match c {
            _ if c.is_whitespace() => folded.push_str(if folded.ends_with(' ') { "" } else { " " }),
            _ => folded.extend(c.to_lowercase()),
        }
    }
    // `##Soul` and `### Soul` are read like `## Soul`.
    match folded.strip_prefix('#') {
        Some(rest) => format!("## {}", rest.trim_start_matches(['#', ' '])),
        None => folded,
    }
}
