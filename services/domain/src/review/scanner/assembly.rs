//! Undoes the disguise and the assembly of commands: `c\url`, `cu''rl`, `${IFS}`, `"cu" + "rl"`, character codes,
//! reversed texts, rot13, and variables that any file of the skill assigns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::outline::{LineKind, Outline};

/// Maximum number of variables of a skill.
const MOST_VALUES: usize = 512;
/// Maximum length of a line that is resolved, and of its result, in bytes.
const LONGEST_LINE: usize = 4096;
/// Maximum number of bytes that resolved lines add to a file.
const MOST_ADDED: usize = 64 * 1024;
/// Minimum length of a text that is turned or reversed, in bytes.
const SHORTEST_TURNED: usize = 8;
/// Number of times that variables are replaced, because a value may name another variable.
const ROUNDS: usize = 3;

struct AssemblyPatterns {
    assignment: Regex,
    variable: Regex,
    code: Regex,
    codes: Regex,
    list: Regex,
    plus: Regex,
    within: Regex,
    inner: Regex,
    blank: Regex,
    text: Regex,
    rot13: Regex,
    reversed: Regex,
}

#[expect(clippy::expect_used, reason = "constants, which every test compiles")]
static PATTERNS: LazyLock<AssemblyPatterns> = LazyLock::new(|| {
    let made = |pattern: &str| Regex::new(pattern).expect("patterns of assembled commands");
    AssemblyPatterns {
        assignment: made(
            r#"(?:^|[\s;&(,])\$?([A-Za-z_][0-9A-Za-z_]{0,31})\s*:?=\s*(?:[fbr]?"([^"\n]{1,200})"|[fbr]?'([^'\n]{1,200})'|([^\s"'`;&|(){}\[\],=<>]{1,200}))"#,
        ),
        variable: made(
            r"\$\{?([A-Za-z_][0-9A-Za-z_]*)\}?|%([A-Za-z_][0-9A-Za-z_]*)%|\{([A-Za-z_][0-9A-Za-z_]*)\}|([(,+.]\s*)(?:[A-Za-z_][0-9A-Za-z_]*\.)?([A-Za-z_][0-9A-Za-z_]*)(\s*[),+.;]|\s*$)",
        ),
        code: made(r"(?i)\bchr\(\s*(?:0x)?([0-9]{2,3})\s*\)"),
        codes: made(r"(?i)\b(?:string\.)?fromcharcode\(\s*([0-9]{2,3}(?:\s*,\s*[0-9]{2,3})*)\s*\)"),
        list: made(
            r#"\[((?:\s*["'][^"'\n]{0,60}["']\s*,?)+)\]\s*\.join\(\s*(?:""|'')\s*\)|(?:""|'')\.join\(\s*[\[(]((?:\s*["'][^"'\n]{0,60}["']\s*,?)+)[\])]\s*\)"#,
        ),
        plus: made(r#"["']\s*(?:\+|\.\.|\.|&)\s*["']"#),
        within: made(r#"([0-9A-Za-z/.-])(?:''|""|\\|\^|\$@|\$\*)([0-9A-Za-z/.-])"#),
        inner: made(r#"(^|[\s|;&`(])([a-z]{0,6})["']([a-z]{1,8})["']([a-z]{0,8})"#),
        blank: made(r"\$\{IFS[^}\n]{0,8}\}|\$IFS(?:\$[0-9@*])?"),
        text: made(r#""([^"\n]{1,400})"|'([^'\n]{1,400})'"#),
        rot13: made(r"(?i)rot_?13|n-za-m"),
        reversed: made(r"(?i)\brev\b|\[::-1\]|\breverse\(\)|\breversed\("),
    }
});

/// The variables with fixed values that the files of a skill assign.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: HashMap<String, String>,
}

impl Variables {
    /// Adds the variables that a text assigns. The last value of a variable counts.
    pub(super) fn add(&mut self, text: &str) {
        for line in text.lines().filter(|line| line.contains('=') && line.len() <= LONGEST_LINE) {
            for found in PATTERNS.assignment.captures_iter(line) {
                let value = found.iter().skip(2).flatten().next();
                if let (Some(name), Some(value)) = (found.get(1), value)
                    && self.values.len() < MOST_VALUES
                {
                    self.values.insert(name.as_str().to_owned(), value.as_str().to_owned());
                }
            }
        }
    }

    /// Replaces the variables in a line by their values.
    fn replaced<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if self.values.is_empty() {
            return Cow::Borrowed(line);
        }
        PATTERNS.variable.replace_all(line, |found: &Captures<'_>| {
            let whole = &found[0];
            let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
            if let Some(value) = found.get(5).and_then(|name| self.values.get(name.as_str())) {
                return format!("{}\"{value}\"{}", group(4), group(6));
            }
            let name = found.get(1).or_else(|| found.get(2)).or_else(|| found.get(3));
            name.and_then(|name| self.values.get(name.as_str())).map_or_else(|| whole.to_owned(), Clone::clone)
        })
    }
}

/// Returns the lines of code that differ after their disguise is undone, with their ranges.
pub(super) fn resolved(text: &str, outline: &Outline, variables: &Variables) -> Vec<(Range<usize>, String)> {
    let mut added = 0;
    let mut found = Vec::new();
    for line in
        outline.lines.iter().filter(|line| matches!(line.kind, LineKind::Code | LineKind::Prose | LineKind::Item))
    {
        let shown = &text[line.text.clone()];
        let may_differ = shown.len() <= LONGEST_LINE && added <= MOST_ADDED && is_assembled(shown, line.kind);
        if let Some(plain) = may_differ.then(|| undone(shown, variables)).flatten() {
            added += plain.len();
            found.push((line.text.clone(), plain));
        }
    }
    found
}

/// Checks whether a line has a character that disguise needs. Prose is resolved only if it may contain a command.
fn is_assembled(line: &str, kind: LineKind) -> bool {
    let has_sign =
        line.bytes().any(|byte| matches!(byte, b'$' | b'\\' | b'^' | b'+' | b'%' | b'{' | b'(' | b'"' | b'\''));
    has_sign && (kind == LineKind::Code || line.contains(['`', '|']) || line.starts_with("    "))
}

/// Returns the line without disguise; `None` if it stays the same.
fn undone(line: &str, variables: &Variables) -> Option<String> {
    let patterns = &*PATTERNS;
    let mut plain = Cow::Borrowed(line);
    for _ in 0..ROUNDS {
        let next = match variables.replaced(&plain) {
            Cow::Borrowed(_) => break,
            Cow::Owned(next) if next == plain || next.len() > LONGEST_LINE => break,
            Cow::Owned(next) => next,
        };
        plain = Cow::Owned(next);
    }
    let hidden: Vec<String> = hidden_texts(&plain);
    let joined = joined(&plain);
    let once = unquoted(&unquoted(&joined));
    let mut whole = patterns.blank.replace_all(&once, " ").into_owned();
    for text in hidden {
        whole.push(' ');
        whole.push_str(&text);
    }
    (whole != line).then_some(whole)
}

/// Removes quoting within words. Two neighbouring quotes share a letter, so a line needs two passes.
fn unquoted(line: &str) -> String {
    let patterns = &*PATTERNS;
    let line = patterns.within.replace_all(line, "$1$2");
    let line = patterns.inner.replace_all(&line, |found: &Captures<'_>| match (&found[2], &found[4]) {
        // A whole word in quotes is a text.
        ("", "") => found[0].to_owned(),
        (start, end) => format!("{}{start}{}{end}", &found[1], &found[3]),
    });
    line.into_owned()
}

/// Joins the parts of texts: sums, lists and character codes.
fn joined(line: &str) -> String {
    let patterns = &*PATTERNS;
    let letter = |code: &str| code.trim().parse::<u8>().ok().filter(u8::is_ascii).map(char::from);
    let line = patterns.code.replace_all(line, |found: &Captures<'_>| {
        letter(&found[1]).map_or_else(|| found[0].to_owned(), |letter| format!("\"{letter}\""))
    });
    let line = patterns.codes.replace_all(&line, |found: &Captures<'_>| {
        format!("\"{}\"", found[1].split(',').filter_map(letter).collect::<String>())
    });
    let line = patterns.list.replace_all(&line, |found: &Captures<'_>| {
        let items = found.get(1).or_else(|| found.get(2)).map_or("", |items| items.as_str());
        let joined: String = items.split(['"', '\'']).skip(1).step_by(2).collect();
        format!("\"{joined}\"")
    });
    patterns.plus.replace_all(&line, "").into_owned()
}

/// Decodes the quoted texts of a line that names rot13 or reversal.
fn hidden_texts(line: &str) -> Vec<String> {
    let patterns = &*PATTERNS;
    let (is_rot13, is_reversed) = (patterns.rot13.is_match(line), patterns.reversed.is_match(line));
    if !is_rot13 && !is_reversed {
        return Vec::new();
    }
    let texts = patterns.text.captures_iter(line);
    let texts = texts.filter_map(|found| found.iter().skip(1).flatten().next().map(|text| text.as_str()));
    texts
        .filter(|text| text.len() >= SHORTEST_TURNED)
        .map(|text| if is_rot13 { text.chars().map(turned).collect() } else { text.chars().rev().collect() })
        .collect()
}

/// Returns the letter 13 places further in the alphabet.
fn turned(c: char) -> char {
    let start = match c {
        'a'..='z' => b'a',
        'A'..='Z' => b'A',
        _ => return c,
    };
    u8::try_from(c).map_or(c, |byte| char::from(start + (byte - start + 13) % 26))
}

#[cfg(test)]
mod tests;
