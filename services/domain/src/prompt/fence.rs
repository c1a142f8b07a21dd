//! Text of several lines in a prompt, fenced so that it cannot end its own fence or imitate what stands around it.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::chat_tokens::break_tokens;
use crate::invisible::seen;
use crate::manifest;

/// The headings of a prompt, in the letters of [`seen`].
const HEADINGS: [&str; 6] = [
    "active skill instructions",
    "reference material",
    "untrusted skills",
    "soul",
    "core memories",
    "recent conversations",
];
/// How its other lines begin that carry its structure.
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
    "found out since",
    "<soul",
    "</soul",
];

/// Hexadecimal digits of the mark. It shows a model where a text ends; that no text ends its own fence is ensured by
/// breaking every tag in it, so the mark need not withstand a search for its own digest.
const MARK_DIGITS: usize = 8;

/// The tags of prompts. No text between them can open or close one: `break_tokens` breaks each of these names in every text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Tag {
    /// All that the service puts into an agent's prompt.
    Knowhow,
    /// A tenant's directive in the prompt of a model.
    Guidance,
    /// The body of a skill to follow.
    Skill,
    /// The body of a skill that may help.
    Reference,
    /// A text that is not trusted.
    Untrusted,
    /// The user's overlay of the agent's personality.
    Soul,
}

impl Tag {
    /// Characters of the longest name.
    pub(crate) const LONGEST: usize = 9;
}

/// A block as it stands in a prompt: in tags by which a host can cite it and strip it. No text within holds them.
pub(crate) fn wrap(block: &str) -> String {
    tagged(Tag::Knowhow, block)
}

/// A tenant's directive between its tags.
pub fn fence_directive(directive: &str) -> String {
    tagged(Tag::Guidance, &break_tokens(directive))
}

fn tagged(tag: Tag, text: &str) -> String {
    let tag: &str = tag.into();
    format!("<{tag}>\n{text}\n</{tag}>")
}

/// The text between `<tag attributes mark="…">` and `</tag mark="…">`.
///
/// The mark is cut from the SHA-256 of the text itself, so the same text gives the same bytes. Lines that begin like one of
/// the prompt's own are set off with a `\`; the control tokens of chat templates and all [`Tag`]s are broken.
pub fn fence(tag: Tag, attributes: &str, text: &str) -> String {
    fence_printed(tag, attributes, &PrintedBody::of(text))
}

/// The same of a text that is printed already.
pub(crate) fn fence_printed(tag: Tag, attributes: &str, PrintedBody(text): &PrintedBody) -> String {
    let tag: &str = tag.into();
    let digest = manifest::hex(&manifest::digest(text.as_bytes()));
    let mark = digest.get(..MARK_DIGITS).unwrap_or_default();
    format!("<{tag}{attributes} mark=\"{mark}\">\n{text}\n</{tag} mark=\"{mark}\">")
}

/// A foreign text as it stands within its fence.
#[derive(Debug, Clone)]
pub struct PrintedBody(String);

impl PrintedBody {
    /// Prints a text. It reads every line of it, so who needs it twice keeps it.
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

    /// As it is printed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Lines at whatever any reader may take for the end of one; a line end of two characters is one.
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
    // What `seen` makes of ASCII, several times as fast; nearly all lines are that.
    let is_shown = |c: &char| !c.is_control() || c.is_whitespace();
    begins_like_structure(line.chars().filter(is_shown).map(|c| c.to_ascii_lowercase()))
}

/// Whether a line as it is [`seen`] begins like one of the prompt's own, or, where it is a heading of any kind, like one of its
/// headings. Emphasis and runs of blanks do not matter. It begins with its first letter or tag: the marks and numbers of
/// headings, quotes, lists and tables before that count for nothing, however many there are.
fn begins_like_structure(line: impl Iterator<Item = char>) -> bool {
    let (mut is_heading, mut words) = (false, String::new());
    for c in line {
        match c {
            _ if words.is_empty() && !(c.is_alphabetic() || c == '<') => {
                is_heading |= c == '#';
                continue;
            }
            '*' | '_' | '~' | '`' | '\\' => continue,
            // Neither one blank after another nor `< skill`.
            _ if c.is_whitespace() && words.ends_with([' ', '<', '/']) => continue,
            _ if c.is_whitespace() => words.push(' '),
            _ => words.push(c),
        }
        let headings: &[&str] = if is_heading { &HEADINGS } else { &[] };
        let mut alike = LINES.iter().chain(headings).filter(|start| start.starts_with(&words)).peekable();
        // Most lines are told apart by their first letters.
        if alike.peek().is_none() {
            return false;
        }
        if alike.any(|start| *start == words) {
            return true;
        }
    }
    false
}
