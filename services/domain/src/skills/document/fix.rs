//! Repairs invalid YAML that is common in published skills: plain values that need quotes, and JSON without
//! indentation.

use super::print::quoted;
use super::split::split;
use super::yaml::{self, Fault};
use crate::text::lines::{self, TextLine};

/// The corrected form of some lines in a frontmatter.
pub(super) struct Repair {
    /// Byte position of the first line in the raw text.
    pub(super) start: usize,
    /// The corrected lines, without the last line end.
    pub(super) text: String,
    pub(super) kind: RepairKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RepairKind {
    /// A value on one line was put in quotes.
    Quoted,
    /// A value on several lines was joined and put in quotes.
    Joined,
    /// A JSON value was indented.
    Indented,
}

impl RepairKind {
    /// Returns the instruction with which the author can make the repair.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Quoted => "Put the value in quotes",
            Self::Joined => "Join the lines of the value and put it in quotes",
            Self::Indented => "Indent the value",
        }
    }

    /// Returns the sentence about the repair for the report on an import.
    pub(super) fn done(self) -> &'static str {
        match self {
            Self::Quoted => "put quotes around values that are not valid YAML without them",
            Self::Joined => "joined the lines of values that are not valid YAML, and put quotes around them",
            Self::Indented => "indented JSON values that are not valid YAML without it",
        }
    }
}

/// A frontmatter's text and its lines.
struct FrontmatterLines<'a> {
    text: &'a str,
    all: Vec<TextLine>,
}

/// Repairs the top-level values that make the frontmatter invalid YAML. Returns the new text, and the repairs by line.
/// Returns `None` if the YAML is valid, or if the repairs do not make it valid.
pub(super) fn fix(raw: &str) -> Option<(String, Vec<Repair>)> {
    let parts = split(raw).ok()?;
    let text = &raw[parts.frontmatter.clone()];
    if !matches!(yaml::parse(text), Err(Fault::Syntax(..))) {
        return None;
    }
    let lines = FrontmatterLines { text, all: lines::split(text) };
    let mut fixed = String::with_capacity(raw.len() + 16);
    let mut repairs = Vec::new();
    fixed.push_str(&raw[..parts.frontmatter.start]);
    let mut index = 0;
    while let Some(line) = lines.all.get(index) {
        let mut last = index;
        match lines.repaired(index) {
            Some((end, new, kind)) => {
                fixed.push_str(&new);
                repairs.push(Repair { start: parts.frontmatter.start + line.start, text: new, kind });
                last = end - 1;
            }
            None => fixed.push_str(&text[line.text()]),
        }
        fixed.push_str(&text[lines.all[last].end..lines.all[last].next]);
        index = last + 1;
    }
    let header = fixed[parts.frontmatter.start..].to_owned();
    fixed.push_str(&raw[parts.frontmatter.end..]);
    yaml::parse(&header).ok()?;
    (!repairs.is_empty()).then_some((fixed, repairs))
}

impl FrontmatterLines<'_> {
    /// Returns the corrected form of the value that starts at a line, and the index of the line after it. Returns
    /// `None` if it cannot be corrected.
    fn repaired(&self, index: usize) -> Option<(usize, String, RepairKind)> {
        let content = self.line(index)?;
        let colon = content.find(':')?;
        let (key, rest) = content.split_at(colon);
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let value = rest[1..].trim();
        if !is_key || !value.is_empty() && !rest[1..].starts_with([' ', '\t']) {
            return None;
        }
        let end = self.end_of_continuation(index);
        if end > index + 1 {
            return Some((end, self.joined(index, end, key)?, RepairKind::Joined));
        }
        if value.is_empty() {
            let end = self.end_of_json(index + 1)?;
            return Some((end, self.indented(index, end), RepairKind::Indented));
        }
        if yaml::parse(content).is_ok_and(|node| node.get(key).is_some()) {
            return None;
        }
        let blanks = &rest[1..rest.len() - rest[1..].trim_start().len()];
        Some((end, format!("{key}:{blanks}{}", quote(value)), RepairKind::Quoted))
    }

    fn line(&self, index: usize) -> Option<&str> {
        self.all.get(index).map(|line| &self.text[line.text()])
    }

    /// Returns the index of the first line after the indented lines that continue the value of a line.
    fn end_of_continuation(&self, index: usize) -> usize {
        let is_indented = |at: &usize| self.line(*at).is_some_and(|line| line.starts_with([' ', '\t']));
        let is_filled = |at: &usize| self.line(*at).is_some_and(|line| !line.trim().is_empty());
        let last =
            (index + 1..self.all.len()).take_while(|at| is_indented(at) || !is_filled(at)).filter(is_filled).last();
        last.unwrap_or(index) + 1
    }

    /// Joins plain lines that are not a valid value because they contain a colon. Returns `None` if the value has
    /// another notation.
    fn joined(&self, index: usize, end: usize, key: &str) -> Option<String> {
        let whole = &self.text[self.all[index].start..self.all[end - 1].end];
        if yaml::parse(whole).is_ok_and(|node| node.get(key).is_some()) {
            return None;
        }
        let value = &whole[key.len() + 1..];
        let words: Vec<&str> = value.split_whitespace().collect();
        let is_plain = !words.first()?.starts_with(['|', '>', '{', '[', '"', '\'', '&', '*', '!', '-', '#']);
        let mut continued = value.lines().skip(1).map(str::trim).filter(|line| !line.is_empty());
        // Lines that look like entries are a mapping with wrong indentation, so they are not joined.
        let is_mapping = match value.lines().next().map(str::trim) {
            Some("") => continued.next().is_some_and(is_entry),
            _ => continued.any(is_entry),
        };
        let has_comment = words.iter().any(|word| word.starts_with('#'));
        (is_plain && !is_mapping && !has_comment).then(|| format!("{key}: {}", quote(&words.join(" "))))
    }

    /// Returns the index of the line after a JSON value that starts at a line without indentation.
    fn end_of_json(&self, index: usize) -> Option<usize> {
        let start = self.all.get(index)?.start;
        if !self.text[start..].starts_with(['{', '[']) {
            return None;
        }
        let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
        for (at, c) in self.text[start..].char_indices() {
            match (quote, c) {
                (Some(_), _) if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '{' | '[') => depth += 1,
                (None, '}' | ']') => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                let last = self.all.partition_point(|line| line.start <= start + at) - 1;
                return Some(last + 1);
            }
        }
        None
    }

    /// Indents the lines of a JSON value, except the first line. Lines that start with `//`, a JSON5 comment, are
    /// dropped because YAML has no such comments.
    fn indented(&self, index: usize, end: usize) -> String {
        let first = &self.text[self.all[index].start..self.all[index].next];
        let mut out = first.to_owned();
        for (at, line) in self.all.iter().enumerate().take(end).skip(index + 1) {
            let content = &self.text[line.text()];
            if content.trim_start().starts_with("//") {
                continue;
            }
            out.push_str("  ");
            // YAML does not allow tabs in an indentation.
            out.push_str(&content.replace('\t', "  "));
            if at + 1 < end {
                out.push_str(&self.text[line.end..line.next]);
            }
        }
        out
    }
}

/// Checks whether a line is an entry of a mapping: a single word and a colon.
fn is_entry(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && !key.contains(char::is_whitespace))
}

fn quote(value: &str) -> String {
    let readable = value.contains(['"', '\\']) && !value.chars().any(char::is_control);
    if readable { format!("'{}'", value.replace('\'', "''")) } else { quoted(value) }
}
