//! Repairs the invalid YAML that is common in the wild: plain values that want quotes.

use super::print::quoted;
use super::split::split;
use super::yaml::{self, Fault};
use crate::lines::{self, Line};

/// A line of the frontmatter that was quoted.
pub(super) struct Repair {
    /// Byte position of the line in the raw text.
    pub(super) start: usize,
    /// The line as it should be.
    pub(super) line: String,
}

/// Quotes the top-level values that keep the frontmatter from being YAML; `None` where that is not what is wrong.
pub(super) fn fix(raw: &str) -> Option<(String, Repair)> {
    let parts = split(raw).ok()?;
    let text = &raw[parts.frontmatter.clone()];
    if !matches!(yaml::parse(text), Err(Fault::Syntax(..))) {
        return None;
    }
    let all = lines::split(text);
    let mut fixed = String::with_capacity(raw.len() + 16);
    let mut first = None;
    fixed.push_str(&raw[..parts.frontmatter.start]);
    for (index, line) in all.iter().enumerate() {
        match repaired(text, line, all.get(index + 1)) {
            Some(new) => {
                fixed.push_str(&new);
                let start = parts.frontmatter.start + line.start;
                first.get_or_insert(Repair { start, line: new });
            }
            None => fixed.push_str(&text[line.text()]),
        }
        fixed.push_str(&text[line.end..line.next]);
    }
    let header = fixed[parts.frontmatter.start..].to_owned();
    fixed.push_str(&raw[parts.frontmatter.end..]);
    yaml::parse(&header).ok()?;
    first.map(|repair| (fixed, repair))
}

fn repaired(text: &str, line: &Line, next: Option<&Line>) -> Option<String> {
    let content = &text[line.text()];
    let colon = content.find(':')?;
    let (key, rest) = content.split_at(colon);
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let value = rest[1..].trim();
    if !is_key || value.is_empty() || !rest[1..].starts_with([' ', '\t']) || continues(text, next) {
        return None;
    }
    if yaml::parse(content).is_ok_and(|node| node.get(key).is_some()) {
        return None;
    }
    let blanks = &rest[1..rest.len() - rest[1..].trim_start().len()];
    Some(format!("{key}:{blanks}{}", quote(value)))
}

/// Whether the next line belongs to the value.
fn continues(text: &str, next: Option<&Line>) -> bool {
    next.is_some_and(|line| text[line.text()].starts_with([' ', '\t']) && !text[line.text()].trim().is_empty())
}

fn quote(value: &str) -> String {
    let readable = value.contains(['"', '\\']) && !value.chars().any(char::is_control);
    if readable { format!("'{}'", value.replace('\'', "''")) } else { quoted(value) }
}
