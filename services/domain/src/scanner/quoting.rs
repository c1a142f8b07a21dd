//! Whether a line does what it says, or warns of it or quotes it. Such a finding leads to one step less; it is never dropped,
//! and nothing of this is asked of decoded or hidden text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::outline::Kind;
use super::report::Tier;
use super::search::Place;

/// How far around a match a warning is looked for, in bytes.
const AROUND: usize = 120;
/// How much of a heading or introduction is read, in bytes.
const GOVERNING: usize = 240;

/// Before it, in its sentence: what says not to, or announces an example.
const BEFORE: &str = r"(?i)(?:(?-u:\b)(?:never|do not|don.?t|must not|mustn.?t|should not|shouldn.?t|cannot|avoid|refuse|reject\w*|block\w*|den(?:y|ies|ied)|flag\w*|detect\w*|forbid\w*|prohibit\w*|prevent\w*|beware|watch (?:out )?for|look (?:out )?for|scan\w* for|check\w* for|search\w* for|grep\w* for|test\w* for|instead of|rather than|such as|for example|e\.g\.|example of|examples?|like|attempts? to|tries to|try to|tricks?|attackers?|malicious|phishing|injection|red flags?|anti-?patterns?|bad|wrong|unsafe|insecure|dangerous|warning|payloads?|no|not)(?-u:\b)|❌|🚫|⛔|⚠|✗)[^.!?\n]*$";
/// A double negation orders.
const ORDERS: &str = r"(?i)(?-u:\b)(?:never|do not|don.?t|must not|should not|cannot|avoid|not)\s+(?:ever\s+)?(?:skip|forget|omit|fail|miss|hesitate|neglect|stop|refuse|ask|wait|tell|mention|inform|reveal|show|warn|proceed|continue|start|respond|answer|worry|leave out|use .{0,20}without|work .{0,20}without|run .{0,20}without|do anything)(?-u:\b)[^.!?\n]*$";
/// After it: what judges it.
const AFTER: &str = r"(?i)^[^\n]{0,60}(?:(?-u:\b)(?:is|are|was|be|considered|as) (?:dangerous|malicious|unsafe|insecure|forbidden|blocked|prohibited|suspicious|denied|an attack|a red flag|not allowed|never|rejected|bad)(?-u:\b)|[-—–:|(#]\s*(?:never|dangerous|malicious|unsafe|insecure|forbidden|blocked?|prohibited|suspicious|denied|critical|bad|don.?t|do not|not ok|reject|❌)|❌|🚫|⛔)";
/// In a heading, an introduction or the head of a table: what the list below it is about.
const TOPIC: &str = r"(?i)(?-u:\b)(?:never|do not|don.?ts?|must not|avoid|anti-?patterns?|red flags?|warning signs?|dangerous|malicious|unsafe|insecure|forbidden|prohibited|blocked|blocklist|denylist|deny|denied|disallowed|attacks?|attackers?|attack vectors?|exploits?|exploitation|payloads?|injections?|jailbreaks?|adversarial|threats?|threat model\w*|vulnerab\w+|malware|phishing|exfiltration|suspicious|indicators?|iocs?|detect\w*|signatures?|patterns to (?:flag|look for|detect|block)|what to (?:look|check|scan) for|bad|wrong|pitfalls?|mistakes?|red team\w*|pentest\w*|penetration test\w*|reverse shells?|post-exploitation|privilege escalation|persistence|lateral movement|ctf|cheat ?sheets?|test (?:cases?|prompts?|inputs?)|guardrails?|hooks?|security (?:rules|checks?|tests?|review|audit|scan\w*)|examples? of)(?-u:\b)|❌|🚫|⛔";

#[expect(clippy::expect_used, reason = "constants, which every test compiles")]
static WORDS: LazyLock<[Regex; 4]> =
    LazyLock::new(|| [BEFORE, ORDERS, AFTER, TOPIC].map(|words| Regex::new(words).expect("words of warnings")));

/// Whether what stands there is warned of or quoted.
pub(super) fn is_quoted(place: &Place<'_>, span: &Range<usize>, tier: Tier) -> bool {
    let Some(line) = place.outline.line(span.start) else { return false };
    let [before, orders, after, topic] = &*WORDS;
    let raw = place.raw;
    let from = raw.floor_char_boundary(span.start.saturating_sub(AROUND).max(line.text.start));
    let lead = &raw[from..span.start];
    if before.is_match(lead) && !orders.is_match(lead) {
        return true;
    }
    let end = line.text.end.max(span.end);
    let to = raw.ceil_char_boundary((span.end + AROUND).min(end));
    if after.is_match(&raw[span.end..to]) {
        return true;
    }
    // A manner of speaking is only quoted where it is set apart from the prose around it.
    let is_apart = matches!(line.kind, Kind::Item | Kind::Code) || has_quotes(lead, &raw[span.end..to]);
    if tier == Tier::Judgement && !is_apart {
        return false;
    }
    governing_lines(place, span.start).iter().any(|line| topic.is_match(line))
}

fn has_quotes(lead: &str, rest: &str) -> bool {
    const QUOTES: [char; 6] = ['"', '`', '“', '\'', '«', '‘'];
    let opened = lead.rfind(QUOTES).is_some_and(|at| lead.len() - at <= 24);
    opened && rest.contains(['"', '`', '”', '\'', '»', '’'])
}

/// The headings above, the introduction, and the code comment above.
fn governing_lines<'a>(place: &Place<'a>, at: usize) -> Vec<&'a str> {
    let lines = &place.outline.lines;
    let number = place.outline.line_of(at);
    let text = |number: usize| {
        let line = lines.get(number).map_or("", |line| &place.raw[line.text.clone()]);
        &line[..line.floor_char_boundary(GOVERNING)]
    };
    let mut governing = Vec::new();
    let mut heading = lines[number].heading;
    while let Some(above) = heading {
        governing.push(text(above));
        heading = lines[above].heading;
    }
    governing.extend(lines[number].intro.map(text));
    if lines[number].kind == Kind::Code && number > 0 {
        let above = text(number - 1).trim_start();
        governing.extend(["#", "//", "--", "/*"].iter().any(|mark| above.starts_with(mark)).then_some(above));
    }
    governing
}
