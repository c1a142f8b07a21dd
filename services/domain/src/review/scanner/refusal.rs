//! Detects whether a text forbids a command. Only words that negate running it count: "Never run `...`", "`...` is
//! blocked", or a list below "Do not use these commands:". Words such as "example" or "danger" do not count. A negation
//! of another verb ("never mind, run ...") is ignored too.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::outline::{LineKind, OutlineLine};
use super::scanned_file::ScannedFile;

/// Maximum number of bytes before a command that are searched for a refusal.
const BEFORE: usize = 160;
/// Maximum number of bytes after a command that are searched for a refusal.
const AFTER: usize = 120;
/// Maximum number of lines above a text in code that are searched for the beginning of its list.
const ABOVE: usize = 16;

/// Words that negate a verb.
const NOT: &str = r"(?:never|do\s+not|don.?t|must\s+not|mustn.?t|should\s+not|shouldn.?t|may\s+not|cannot)";
/// Verbs for running a command.
const ACT: &str = r"(?:run|use|execute|exec|do|paste|pipe|type|enter|call|invoke|allow|permit|accept|approve|install|trust|write|commit|copy|suggest|recommend|issue|perform|running|using|executing|piping|pasting)";
/// Verbs for refusing a command.
const REFUSE: &str =
    r"(?:(?:avoid|refuse|reject|block|forbid|prohibit|flag|detect|disallow)(?:s|ing)?|den(?:y|ies|ying))";
/// Verbs for searching for a command.
const SEARCH: &str = r"(?:(?:look|search|scan|watch|hunt|grep|check)(?:s|ing)?\s+(?:out\s+)?for|alerts?\s+on)";
/// Words between the refusal and the command.
const FILLER: &str = r"(?:to|this|that|these|those|them|any|anything|something|such\s+as|like|e\.g\.|commands?|patterns?|scripts?|code|requests?|calls?|operations?|actions?|the|following|an?|of|or|shell|bash|curl|destructive|dangerous|malicious|untrusted|remote|raw|lines?|things?|forms?|constructs?|containing|matching|including|run|running|use|using|execute|executing)";
/// Characters between the last word and the command: a colon, quotation marks, brackets.
const MARKS: &str = r#"[\s:`"'“‘«(\[|>$*_-]*"#;
/// Participles that mark a command as refused.
const REFUSED: &str =
    r"(?:blocked|forbidden|denied|prohibited|rejected|refused|disallowed|not\s+allowed|never\s+allowed)";

struct Patterns {
    before: Regex,
    search: Regex,
    label: Regex,
    negated: Regex,
    after: Regex,
    heading: Regex,
    intro: Regex,
    bare: Regex,
    list: Regex,
    threats: Regex,
    acts: Regex,
    text: Regex,
    injection: Regex,
}

#[expect(clippy::expect_used, reason = "constants, which every test compiles")]
static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let made = |pattern: String| Regex::new(&format!("(?i){pattern}")).expect("words of refusals");
    Patterns {
        before: made(format!(r"\b(?:{NOT}(?:\s+ever)?(?:\s+{ACT}\b(?:\s+{FILLER}\b)*)?|{REFUSE}\b(?:\s+{FILLER}\b)*){MARKS}$")),
        search: made(format!(r"\b{SEARCH}\b(?:\s+{FILLER}\b)*{MARKS}$")),
        label: made(format!(r"^[\s>*+|#\d.)-]*(?:{REFUSED})(?:\s+(?:commands?|patterns?))?\s*:{MARKS}$")),
        negated: made(
            r"\b(?:never|not|\w+n.t|cannot|without|nothing|stop|instead\s+of|rather\s+than)(?:\s+\w+){0,3}\s*$".to_owned(),
        ),
        after: made(format!(
            r#"^\S{{0,40}}[`"'”)\]\s|]*(?:(?:is|are|was|must\s+be|will\s+be|gets?)\s+(?:always\s+)?{REFUSED}|(?:->|=>|//|[-—–:|(#→])\s*[`"'|\s*_]*(?:block(?:ed|s)?|den(?:y|ied|ies)|reject(?:ed|s)?|forbidden|prohibited|refused?|{NOT}\s+{ACT}))(?:\s+(?:this|it|that))?\s*[*_]*(?:[.,;!|)\]`"']|$)"#
        )),
        heading: made(format!(
            r"^#+\s*(?:[^\w\s]+\s*)?(?:\d+[.)]\s*)?(?:{NOT}|don.?ts|{REFUSED}|blocklist|denylist)(?:\s+(?:{ACT}|{FILLER}|list))*\s*:?\s*$"
        )),
        intro: made(format!(r"\b(?:commands?|patterns?|calls?|these|following)\s+(?:is|are)\s+(?:always\s+)?{REFUSED}\s*:?\s*$")),
        bare: made(r#"^[\s>*+\d.)|`"'($#_~❌🚫⛔✗-]*$"#.to_owned()),
        list: made(
            r"(?:(?:block|den[yi]|forbid|forbidden|danger|unsafe|malicious|suspicious|reject|disallow|destructive)\w*\s*(?::[^=\n]*)?=?\s*(?:\w*\s*)?[\[({:]|\b(?:keywords?|contains\S*|commandline\S*|selection\w*|signatures?|indicators?|iocs?)\s*:)\s*$"
                .to_owned(),
        ),
        threats: made(r"^\s*\|.*\b(?:threats?|attacks?|abuse|misuse|risks?)\b".to_owned()),
        acts: made(format!(r"\b{ACT}\b")),
        // A quoted text that first ends another command, such as `x; `, is a test input.
        injection: made(r#"^\s*(?:-\s+)?[rbf]?[\"'`][^\"'`\n]{0,12}(?:;|&&|\|\|)\s*$"#.to_owned()),
        text: made(r#"^\s*(?:-\s+)?(?:re\.compile\()?[rbf]?["'/].*["'/]\w*\)?\s*,?\s*(?:(?:#|//).*)?$"#.to_owned()),
    }
});

/// Checks whether the text around a match forbids the command.
pub(super) fn is_refused(place: &ScannedFile<'_>, span: &Range<usize>) -> bool {
    let Some(line) = place.outline.line(span.start) else { return false };
    let patterns = &*PATTERNS;
    let command = command_of(place, span, line);
    let from = command.start.saturating_sub(BEFORE).max(line.text.start);
    let lead = &place.raw[place.whole(&(from..command.start))];
    if refuses(lead) || patterns.label.is_match(lead) || patterns.search.is_match(lead) {
        return true;
    }
    let to = line.text.end.max(command.end).min(command.end + AFTER);
    if patterns.after.is_match(&place.raw[place.whole(&(command.end..to))]) {
        return true;
    }
    is_in_list(place, span)
        || is_threat(place, line, lead)
        || patterns.bare.is_match(lead) && place.governing_lines(span.start).iter().any(|line| governs(line))
}

/// Returns the whole command that contains a match: the inline code around it, or its line of code.
fn command_of(place: &ScannedFile<'_>, span: &Range<usize>, line: &OutlineLine) -> Range<usize> {
    if line.kind == LineKind::Code {
        return line.text.start..span.end.max(line.text.end);
    }
    let lead = &place.raw[place.whole(&(line.text.start..span.start))];
    let rest = &place.raw[place.whole(&(span.end..line.text.end.max(span.end)))];
    match (lead.matches('`').count() % 2, lead.rfind('`'), rest.find('`')) {
        (1, Some(open), Some(close)) => line.text.start + open..span.end + close,
        _ => span.clone(),
    }
}

/// Checks whether the words before a command forbid it, and are not negated themselves.
fn refuses(lead: &str) -> bool {
    let found = PATTERNS.before.find(lead);
    found.is_some_and(|found| !PATTERNS.negated.is_match(&lead[..found.start()]))
}

/// Checks whether a heading, introduction or comment forbids the commands below it.
fn governs(line: &str) -> bool {
    let line = line.trim_end();
    PATTERNS.heading.is_match(line) || PATTERNS.intro.is_match(line) || line.ends_with(':') && refuses(line)
}

/// Checks whether a command is in a table of threats, and its row has no verb for running a command.
fn is_threat(place: &ScannedFile<'_>, line: &OutlineLine, lead: &str) -> bool {
    let head = line.intro.map_or("", |head| &place.raw[place.outline.lines[head].text.clone()]);
    let row = &place.raw[line.text.clone()];
    lead.trim_start().starts_with('|') && PATTERNS.threats.is_match(head) && !PATTERNS.acts.is_match(row)
}

/// Checks whether a line of code is part of a list of forbidden texts that a program compares commands with.
fn is_in_list(place: &ScannedFile<'_>, span: &Range<usize>) -> bool {
    let number = place.outline.line_of(span.start);
    let lines = &place.outline.lines;
    let text = |number: usize| &place.raw[lines[number].text.clone()];
    if lines[number].kind != LineKind::Code {
        return false;
    }
    let lead = &place.raw[place.whole(&(lines[number].text.start..span.start))];
    if PATTERNS.injection.is_match(lead) {
        return true;
    }
    if lead.find(['"', '\'']).is_some_and(|quote| PATTERNS.list.is_match(&lead[..quote])) {
        return true;
    }
    if !PATTERNS.text.is_match(text(number)) {
        return false;
    }
    let above = (number.saturating_sub(ABOVE)..number).rev();
    let mut above = above.take_while(|above| lines[*above].kind == LineKind::Code);
    above.find(|above| !PATTERNS.text.is_match(text(*above))).is_some_and(|above| PATTERNS.list.is_match(text(above)))
}
