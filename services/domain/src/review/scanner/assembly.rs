//! Undoes the disguise and the assembly of commands: `c\url`, `cu''rl`, `${IFS}`, `"cu" + "rl"`, character codes,
//! reversed texts, rot13, and variables that any file of the skill assigns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex, Replacer};

use super::outline::{LineKind, Outline};
use super::work::ScanBudget;

/// Maximum length of a line that is resolved, and of its result, in bytes.
const LONGEST_LINE: usize = 4096;
/// Maximum number of values that are tried for one variable.
const MOST_VALUES: usize = 4;
/// Number of assignments of one variable that are searched for different values.
const MOST_ASSIGNMENTS: usize = 64;
/// Cost of storing an assignment, in bytes of the work budget.
const ASSIGNMENT: usize = 64;
/// Cost of resolving a line, in passes over it.
const RESOLVING: usize = 8;
/// Minimum length of a text that is turned or reversed, in bytes.
const SHORTEST_TURNED: usize = 8;
/// Minimum number of commas in a list of character codes.
const FEWEST_CODES: usize = 11;
/// Number of times that variables are replaced, because a value may name another variable.
const ROUNDS: usize = 3;

struct AssemblyPatterns {
    assignment: Regex,
    variable: Regex,
    code: Regex,
    codes: Regex,
    list: Regex,
    numbers: Regex,
    plus: Regex,
    within: Regex,
    inner: Regex,
    blank: Regex,
    text: Regex,
    rot13: Regex,
    reversed: Regex,
    /// A line without these has no character codes, no lists to join and no turned texts.
    special: Regex,
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
        code: made(r"(?i)\bchr\(\s*(0x[0-9a-f]{2}|[0-9]{2,3})\s*\)"),
        codes: made(
            r"(?i)\b(?:string\.)?from(?:charcode|codepoint)\(\s*((?:0x[0-9a-f]{2}|[0-9]{2,3})(?:\s*,\s*(?:0x[0-9a-f]{2}|[0-9]{2,3}))*)\s*\)",
        ),
        list: made(
            r#"\[((?:\s*["'][^"'\n]{0,60}["']\s*,?)+)\]\s*\.join\(\s*(?:""|'')\s*\)|(?:""|'')\.join\(\s*[\[(]((?:\s*["'][^"'\n]{0,60}["']\s*,?)+)[\])]\s*\)"#,
        ),
        numbers: made(
            r"[\[({]\s*((?:0x[0-9a-fA-F]{2}|[0-9]{2,3})(?:\s*,\s*(?:0x[0-9a-fA-F]{2}|[0-9]{2,3})){11,})\s*,?\s*[\])}]",
        ),
        plus: made(r#"["']\s*(?:\+|\.\.|\.|&)\s*["']"#),
        within: made(r#"([0-9A-Za-z/.-])(?:''|""|\\|\^|\$@|\$\*)([0-9A-Za-z/.-])"#),
        inner: made(r#"(^|[\s|;&`(])([a-z]{0,6})["']([a-z]{1,8})["']([a-z]{0,8})"#),
        blank: made(r"\$\{IFS[^}\n]{0,8}\}|\$IFS(?:\$[0-9@*])?"),
        text: made(r#""([^"\n]{1,400})"|'([^'\n]{1,400})'"#),
        rot13: made(r"(?i)rot_?13|n-za-m"),
        reversed: made(r"(?i)\brev\b|\[::-1\]|\breverse\(\)|\breversed\("),
        special: made(r"(?i)chr\(|fromc|join\(|rot_?13|n-za-m|rev|\[::-1"),
    }
});

/// A position in the texts of a skill: the number of the text, and the byte in it.
pub(super) type Place = (usize, usize);

/// The variables with fixed values that the files of a skill assign.
#[derive(Debug, Default)]
pub(super) struct Variables<'a> {
    /// The assignments of each variable with their values, in the order of the texts.
    values: HashMap<&'a str, Vec<(Place, &'a str)>>,
}

impl<'a> Variables<'a> {
    /// Adds the variables that a text assigns, until the work budget is exceeded. The texts must be added in the order
    /// of their numbers.
    pub(super) fn add(&mut self, number: usize, text: &'a str, work: &mut ScanBudget) {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if line.contains('=') && line.len() <= LONGEST_LINE {
                for found in PATTERNS.assignment.captures_iter(line).take_while(|_| work.charge(ASSIGNMENT)) {
                    if let (Some(name), Some(value)) = (found.get(1), found.iter().skip(2).flatten().next()) {
                        self.values.entry(name.as_str()).or_default().push(((number, start), value.as_str()));
                    }
                }
            }
            start += line.len();
        }
    }

    /// Returns the different values of a variable for use at a place, at most [`MOST_VALUES`]: the values that were
    /// assigned before the place, last first, then those after it.
    fn values(&self, name: &str, place: Place) -> Vec<&'a str> {
        let Some(all) = self.values.get(name) else { return Vec::new() };
        let (before, after) = all.split_at(all.partition_point(|(assigned, _)| *assigned <= place));
        let mut different = Vec::new();
        for (_, value) in before.iter().rev().chain(after).take(MOST_ASSIGNMENTS) {
            if !different.contains(value) {
                different.push(*value);
            }
            if different.len() == MOST_VALUES {
                break;
            }
        }
        different
    }
}

/// The values of the variables at one line, read once each.
struct LineValues<'v, 'a> {
    variables: &'v Variables<'a>,
    place: Place,
    known: HashMap<String, Vec<&'a str>>,
}

impl<'v, 'a> LineValues<'v, 'a> {
    fn new(variables: &'v Variables<'a>, place: Place) -> Self {
        Self { variables, place, known: HashMap::new() }
    }

    /// Returns a value of a variable. If there are fewer values than `choice`, returns the last one.
    fn value(&mut self, name: &str, choice: usize) -> Option<&'a str> {
        if let Some(values) = self.known.get(name) {
            return values.get(choice).or(values.last()).copied();
        }
        let values = self.variables.values(name, self.place);
        let value = values.get(choice).or(values.last()).copied();
        self.known.insert(name.to_owned(), values);
        value
    }

    /// Replaces the variables in a line by their values.
    fn replaced<'l>(&mut self, line: &'l str, choice: usize) -> Cow<'l, str> {
        if self.variables.values.is_empty() {
            return Cow::Borrowed(line);
        }
        PATTERNS.variable.replace_all(line, |found: &Captures<'_>| {
            let group = |number: usize| found.get(number).map_or("", |group| group.as_str());
            if let Some(value) = found.get(5).and_then(|name| self.value(name.as_str(), choice)) {
                return format!("{}\"{value}\"{}", group(4), group(6));
            }
            let name = found.get(1).or_else(|| found.get(2)).or_else(|| found.get(3));
            name.and_then(|name| self.value(name.as_str(), choice)).unwrap_or(&found[0]).to_owned()
        })
    }
}

/// Returns the lines of code that differ after their disguise is undone, with their ranges. A line is returned several
/// times if its variables have several values. Stops if the work budget is exceeded.
pub(super) fn resolved(
    (number, text): (usize, &str),
    outline: &Outline,
    variables: &Variables<'_>,
    work: &mut ScanBudget,
) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let lines = outline.lines.iter();
    for line in lines.filter(|line| matches!(line.kind, LineKind::Code | LineKind::Prose | LineKind::Item)) {
        let shown = &text[line.text.clone()];
        if shown.len() > LONGEST_LINE || !is_assembled(shown, line.kind) {
            continue;
        }
        let first = found.len();
        let mut values = LineValues::new(variables, (number, line.text.start));
        for choice in 0..MOST_VALUES {
            let plain = undone(&variables_replaced(shown, &mut values, choice));
            // The result counts too, because a short line may name long values.
            if !work.charge(RESOLVING * (shown.len() + plain.len())) {
                return found;
            }
            if plain == shown || found[first..].iter().any(|(_, known)| *known == plain) {
                break;
            }
            found.push((line.text.clone(), plain));
        }
    }
    found
}

/// Checks whether a line has a character that disguise needs. Prose is resolved only if it may contain a command.
fn is_assembled(line: &str, kind: LineKind) -> bool {
    let has_sign =
        line.bytes().any(|byte| matches!(byte, b'$' | b'\\' | b'^' | b'+' | b'%' | b'{' | b'(' | b'[' | b'"' | b'\''));
    has_sign && (kind == LineKind::Code || line.contains(['`', '|']) || line.starts_with("    "))
}

/// Replaces the variables of a line, and the variables in their values.
fn variables_replaced<'l>(line: &'l str, values: &mut LineValues<'_, '_>, choice: usize) -> Cow<'l, str> {
    let mut plain = Cow::Borrowed(line);
    for _ in 0..ROUNDS {
        let next = match values.replaced(&plain, choice) {
            Cow::Borrowed(_) => break,
            Cow::Owned(next) if next == plain || next.len() > LONGEST_LINE => break,
            Cow::Owned(next) => next,
        };
        plain = Cow::Owned(next);
    }
    plain
}

/// Returns the line without disguise.
fn undone(line: &str) -> String {
    let is_special = PATTERNS.special.is_match(line);
    let special = if is_special { codes_joined(line) } else { Cow::Borrowed(line) };
    let whole = if has_quote(&special) { replaced(special, &PATTERNS.plus, "") } else { special };
    let whole = unquoted(unquoted(whole));
    let whole = if whole.contains("IFS") { replaced(whole, &PATTERNS.blank, " ") } else { whole };
    let mut whole = whole.into_owned();
    for text in number_texts(line) {
        whole.push(' ');
        whole.push_str(&text);
    }
    for text in if is_special { hidden_texts(line) } else { Vec::new() } {
        whole.push(' ');
        whole.push_str(&text);
    }
    whole
}

/// Removes quoting within words. Two neighbouring quotes share a letter, so a line needs two passes.
fn unquoted(line: Cow<'_, str>) -> Cow<'_, str> {
    let patterns = &*PATTERNS;
    let has_sign = line.contains(['\\', '^', '$']) || line.contains("''") || line.contains("\"\"");
    let line = if has_sign { replaced(line, &patterns.within, "$1$2") } else { line };
    if !has_quote(&line) {
        return line;
    }
    replaced(line, &patterns.inner, |found: &Captures<'_>| match (&found[2], &found[4]) {
        // A whole word in quotes is a text.
        ("", "") => found[0].to_owned(),
        (start, end) => format!("{}{start}{}{end}", &found[1], &found[3]),
    })
}

fn has_quote(line: &str) -> bool {
    line.contains(['"', '\''])
}

/// Replaces all matches of a pattern.
fn replaced<'a>(line: Cow<'a, str>, pattern: &Regex, by: impl Replacer) -> Cow<'a, str> {
    match pattern.replace_all(&line, by) {
        Cow::Borrowed(_) => line,
        Cow::Owned(replaced) => Cow::Owned(replaced),
    }
}

/// Returns the ASCII character of a code such as `99` or `0x63`.
fn letter(code: &str) -> Option<char> {
    let code = code.trim();
    let hex = code.strip_prefix("0x").or_else(|| code.strip_prefix("0X"));
    let code = hex.map_or_else(|| code.parse(), |digits| u8::from_str_radix(digits, 16));
    code.ok().filter(u8::is_ascii).map(char::from)
}

/// Joins the parts of texts: character codes and lists.
fn codes_joined(line: &str) -> Cow<'_, str> {
    let patterns = &*PATTERNS;
    let line = replaced(Cow::Borrowed(line), &patterns.code, |found: &Captures<'_>| {
        letter(&found[1]).map_or_else(|| found[0].to_owned(), |letter| format!("\"{letter}\""))
    });
    let line = replaced(line, &patterns.codes, |found: &Captures<'_>| {
        format!("\"{}\"", found[1].split(',').filter_map(letter).collect::<String>())
    });
    replaced(line, &patterns.list, |found: &Captures<'_>| {
        let items = found.get(1).or_else(|| found.get(2)).map_or("", |items| items.as_str());
        let joined: String = items.split(['"', '\'']).skip(1).step_by(2).collect();
        format!("\"{joined}\"")
    })
}

/// Decodes the lists of numbers that are all codes of ASCII characters.
fn number_texts(line: &str) -> Vec<String> {
    if line.bytes().filter(|byte| *byte == b',').count() < FEWEST_CODES {
        return Vec::new();
    }
    let lists = PATTERNS.numbers.captures_iter(line);
    let texts = lists.filter_map(|found| found[1].split(',').map(letter).collect::<Option<String>>());
    texts.filter(|text| text.chars().all(|c| c.is_ascii_graphic() || c.is_ascii_whitespace())).collect()
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
