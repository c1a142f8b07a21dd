//! Fences foreign text that may have several lines in a prompt. The text cannot end its own fence or imitate the
//! prompt's structure.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::skills::manifest;
use crate::text::chat_tokens::break_tokens;
use crate::text::invisible::seen;

/// Headings of a prompt, as normalised by [`seen`].
const HEADINGS: [&str; 6] = [
    "active skill instructions",
    "reference material",
    "untrusted skills",
    "soul",
    "core memories",
    "recent conversations",
];
/// Beginnings of other structural lines in a prompt.
const LINES: [&str; 21] = [
    "excluded skills for this message",
    "skills the user asks about",
    "available skills (",
    "relevant skills for this message",
    "related skills (see-also)",
    "named, but too long",
    "cut to fit",
    "files of ",
    "other files of ",
    "previous conversation",
    "<knowhow",
    "</knowhow",
    "<skill",
    "</skill",
    "<reference",
    "</reference",
    "<untrusted",
    "</untrusted",
    "update: the text of",
    "<soul",
    "</soul",
];

/// Number of hexadecimal digits in the mark, which shows a model the end of a text. The mark need not resist
/// collisions, because all tags inside the text are broken.
const MARK_DIGITS: usize = 8;

/// Tags of prompts. `break_tokens` breaks these names in every text, so that no text can open or close a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Tag {
    /// Everything that the service adds to an agent's prompt.
    Knowhow,
    /// A tenant's directive in the prompt for a model.
    Guidance,
    /// The body of a skill to follow.
    Skill,
    /// The body of a skill that may help.
    Reference,
    /// An untrusted text.
    Untrusted,
    /// The user's overlay of the agent's personality.
    Soul,
}

impl Tag {
    /// Maximum number of characters in a tag name.
    pub(crate) const LONGEST: usize = 9;
}

/// Wraps a block in `<knowhow>` tags, so that a host can find and remove it. The block must not contain these tags.
pub(crate) fn wrap(block: &str) -> String {
    tagged(Tag::Knowhow, block)
}

/// Wraps a tenant's directive in its tags.
pub fn fence_directive(directive: &str) -> String {
    tagged(Tag::Guidance, &break_tokens(directive))
}

fn tagged(tag: Tag, text: &str) -> String {
    let tag: &str = tag.into();
    format!("<{tag}>\n{text}\n</{tag}>")
}

/// Wraps a text in `<tag attributes mark="…">` and `</tag mark="…">`.
///
/// The mark is a prefix of the text's SHA-256, so the output is deterministic. Lines that imitate the prompt's
/// structure get a `\`. Control tokens of chat templates and all [`Tag`]s are broken.
pub fn fence(tag: Tag, attributes: &str, text: &str) -> String {
    fence_printed(tag, attributes, &PrintedBody::of(text))
}

/// Fences a text that `PrintedBody::of` has prepared, see `fence`.
pub(crate) fn fence_printed(tag: Tag, attributes: &str, PrintedBody(text): &PrintedBody) -> String {
    let tag: &str = tag.into();
    let digest = manifest::hex(&manifest::digest(text.as_bytes()));
    let mark = digest.get(..MARK_DIGITS).unwrap_or_default();
    format!("<{tag}{attributes} mark=\"{mark}\">\n{text}\n</{tag} mark=\"{mark}\">")
}

/// A foreign text, prepared for use inside a fence.
#[derive(Debug, Clone)]
pub struct PrintedBody(String);

impl PrintedBody {
    /// Prepares a text: breaks its tags and control tokens, and puts a `\` before lines that imitate structure. Callers
    /// should reuse the result, because every line is read.
    pub fn of(text: &str) -> Self {
        let mut printed = String::with_capacity(text.len());
        let text = break_tokens(text.trim_matches(['\n', '\r']));
        for (at, line) in split_lines(&text).enumerate() {
            if at > 0 {
                printed.push('\n');
            }
            if imitates_structure(line) {
                printed.push('\\');
            }
            printed.push_str(line);
        }
        Self(printed)
    }

    /// Returns the prepared text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Splits a text at every character that some program treats as a line end. CRLF counts as a single line end.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split(['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'])
    })
}

fn imitates_structure(line: &str) -> bool {
    if !line.is_ascii() {
        return begins_like_structure(seen(line));
    }
    // For ASCII this is equivalent to `seen` and several times faster. Almost all lines are ASCII.
    let is_shown = |c: &char| !c.is_control() || c.is_whitespace();
    begins_like_structure(line.chars().filter(is_shown).map(|c| c.to_ascii_lowercase()))
}

/// Checks whether a line, normalised by [`seen`], begins like a structural line of the prompt. If the line is a
/// heading, it is also compared with the prompt's headings. Emphasis and repeated blanks are ignored, and all marks and
/// numbers before the first letter or tag are skipped.
fn begins_like_structure(line: impl Iterator<Item = char>) -> bool {
    let (mut is_heading, mut words) = (false, String::new());
    for c in line {
        match c {
            _ if words.is_empty() && !(c.is_alphabetic() || c == '<') => {
                is_heading |= c == '#';
                continue;
            }
            '*' | '_' | '~' | '`' | '\\' => continue,
            // Skips repeated blanks, and blanks in `< skill`.
            _ if c.is_whitespace() && words.ends_with([' ', '<', '/']) => continue,
            _ if c.is_whitespace() => words.push(' '),
            _ => words.push(c),
        }
        let headings: &[&str] = if is_heading { &HEADINGS } else { &[] };
        let mut alike = LINES.iter().chain(headings).filter(|start| start.starts_with(&words)).peekable();
        // Stops early, because most lines differ in their first letters.
        if alike.peek().is_none() {
            return false;
        }
        if alike.any(|start| *start == words) {
            return true;
        }
    }
    false
}
