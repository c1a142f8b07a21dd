//! Reads escape sequences that a model wrote out literally.

use std::collections::HashSet;

/// A part of a text: an escape sequence, a word, or another character.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    /// The character that the escape sequence stands for; `None` if the piece is not an escape sequence.
    meant: Option<char>,
}

/// Replaces `\n`, `\t`, `\r`, `\"`, `\'` and `\\` by the characters they mean; `None` if the text has no escape.
pub(super) fn unescape(text: &str) -> Option<String> {
    let pieces = pieces(text);
    let plain: String = pieces.iter().map(plain).collect();
    (pieces.iter().any(|piece| piece.meant.is_some()) && !plain.trim().is_empty()).then_some(plain)
}

/// Replaces the escapes in `new` that `old` also has, before or after an equal word. If `new` has another escape, fails
/// with that escape, because it may be meant literally, as in `C:\temp`.
pub(super) fn unescape_as<'a>(old: &str, new: &'a str) -> Result<String, &'a str> {
    let (old, new) = (pieces(old), pieces(new));
    let escapes = || (0..old.len()).filter(|&at| old[at].meant.is_some());
    let behind: HashSet<_> = escapes().map(|at| (old[at].text, before(&old, at))).collect();
    let ahead: HashSet<_> = escapes().map(|at| (old[at].text, after(&old, at))).collect();
    let is_known = |at: usize| {
        let text = new[at].text;
        behind.contains(&(text, before(&new, at))) || ahead.contains(&(text, after(&new, at)))
    };
    match (0..new.len()).find(|&at| new[at].meant.is_some() && !is_known(at)) {
        Some(at) => Err(new[at].text),
        None => Ok(new.iter().map(plain).collect()),
    }
}

fn plain(piece: &Piece<'_>) -> String {
    piece.meant.map_or_else(|| piece.text.to_owned(), String::from)
}

/// Returns the last piece before `at` that is not blank.
fn before<'a>(pieces: &[Piece<'a>], at: usize) -> Option<&'a str> {
    pieces[..at].iter().rev().map(|piece| piece.text).find(|text| !text.trim().is_empty())
}

/// Returns the first piece after `at` that is not blank.
fn after<'a>(pieces: &[Piece<'a>], at: usize) -> Option<&'a str> {
    pieces[at + 1..].iter().map(|piece| piece.text).find(|text| !text.trim().is_empty())
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let meant = meaning(rest);
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let length = if meant.is_some() { 2 } else { word.max(first.len_utf8()) };
        let (piece, behind) = rest.split_at(length);
        pieces.push(Piece { text: piece, meant });
        rest = behind;
    }
    pieces
}

/// Returns the character that the escape sequence at the start of a text stands for, if there is one.
fn meaning(text: &str) -> Option<char> {
    match *text.as_bytes() {
        [b'\\', b'n', ..] => Some('\n'),
        [b'\\', b't', ..] => Some('\t'),
        [b'\\', b'r', ..] => Some('\r'),
        [b'\\', same @ (b'"' | b'\'' | b'\\' | b'`'), ..] => Some(same.into()),
        _ => None,
    }
}
