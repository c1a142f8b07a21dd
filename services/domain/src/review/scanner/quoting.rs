//! Detects whether a line warns of an attack or quotes it. The verdict of such a finding becomes one step milder, but
//! the finding is never dropped. Findings in decoded or hidden text are not demoted. Around a phrase, many words count
//! as a quotation. Around a command, only words that forbid running it count (`refusal`), because an attacker also
//! chooses the words around the command.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::category::Category;
use super::hosts::HostKind;
use super::outline::LineKind;
use super::refusal;
use super::report::{Tier, Verdict};
use super::rules::{Rule, Rules};
use super::scanned_file::ScannedFile;

/// Maximum distance from a match to a warning that counts, in bytes.
const AROUND: usize = 120;

/// Words before the match, in the same clause, that negate the act, or announce that it is searched for or refused. A
/// comma ends the clause unless it separates quotations.
const BEFORE: &str = r#"(?i)(?:(?-u:\b)(?:never|do not|don.?t|must not|mustn.?t|should not|shouldn.?t|cannot|avoid|refuse|reject\w*|block\w*|den(?:y|ies|ied)|flag\w*|detect\w*|forbid\w*|prohibit\w*|prevent\w*|beware|watch (?:out )?for|look (?:out )?for|scan\w* for|check\w* for|search\w* for|grep\w* for|test\w* for|instead of|rather than|attempts?(?: to)?|tr(?:y|ies|ying)(?: to)?|tricks?|attackers?|injection)(?-u:\b)|❌|🚫|⛔|✗)(?:[^.!?,;\n]|,\s*["'`“«‘]|["'`”»’]\s*[,;])*$"#;
/// A double negation such as "do not forget", which is a command.
const ORDERS: &str = r"(?i)(?-u:\b)(?:never|do not|don.?t|must not|should not|cannot|avoid|not)\s+(?:ever\s+)?(?:skip|forget|omit|fail|miss|hesitate|neglect|stop|refuse|ask|wait|tell|mention|inform|reveal|show|warn|proceed|continue|start|respond|answer|worry|leave out|use .{0,20}without|work .{0,20}without|run .{0,20}without|do anything)(?-u:\b)[^.!?\n]*$";
/// Words after the match that describe it as dangerous or forbidden.
const AFTER: &str = r"(?i)^[^\n]{0,60}(?:(?-u:\b)(?:is|are|was|be|considered|as) (?:dangerous|malicious|unsafe|insecure|forbidden|blocked|prohibited|suspicious|denied|an attack|a red flag|not allowed|never|rejected)(?-u:\b)|[-—–:|(#]\s*(?:(?:never|don.?t|do not) (?:run|use|do|execute|follow|obey|trust)|dangerous|malicious|unsafe|insecure|forbidden|blocked?|prohibited|suspicious|denied|not ok|reject|❌)|❌|🚫|⛔)";
/// Topics in a heading, introduction or table head. They show that the list below has examples.
const TOPIC: &str = r"(?i)(?-u:\b)(?:never|do not|don.?ts?|must not|avoid|anti-?patterns?|red flags?|warning signs?|dangerous|malicious|unsafe|forbidden|prohibited|blocked|blocklist|denylist|deny|denied|disallowed|attacks?|attackers?|attack vectors?|exploits?|exploitation|payloads?|injections?|jailbreaks?|adversarial|threats?|threat model\w*|vulnerab\w+|malware|phishing|exfiltration|suspicious|indicators?|iocs?|detection|detects?|patterns to (?:flag|look for|detect|block)|what to (?:look|check|scan) for|red team\w*|pentest\w*|penetration test\w*|reverse shells?|post-exploitation|privilege escalation|lateral movement|ctf)(?-u:\b)|❌|🚫|⛔";

#[expect(clippy::expect_used, reason = "constants, which every test compiles")]
static WORDS: LazyLock<[Regex; 4]> =
    LazyLock::new(|| [BEFORE, ORDERS, AFTER, TOPIC].map(|words| Regex::new(words).expect("words of warnings")));

/// Placeholders for a host, such as `$HOST` or `<ip>`.
const STAND_IN: &str = r"(?i)\$\{?\w*(?:ip|host|addr)\w*|<[^<>\n]{0,20}(?:ip|host|addr)[^<>\n]{0,20}>|\b(?:l|r)host\b|\b(?:attacker|your)[_-]?(?:ip|host)?\b";

/// A host name and a port.
const HOST_AND_PORT: &str = r"(?i)(?-u:\b)[a-z0-9-]+\.[a-z]{2,18}[ :]\d{2,5}(?-u:\b)";

#[expect(clippy::expect_used, reason = "a constant, which every test compiles")]
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(HOST_AND_PORT).expect("host and port"));

#[expect(clippy::expect_used, reason = "a constant, which every test compiles")]
static STAND_INS: LazyLock<Regex> = LazyLock::new(|| Regex::new(STAND_IN).expect("names of hosts"));

/// Checks whether the verdict of a match becomes milder, because the text warns of it, forbids it or quotes it.
pub(super) fn is_demoted(place: &ScannedFile<'_>, span: &Range<usize>, rule: &Rule) -> bool {
    match is_command(rule) && !is_for_show(place, span) {
        true => refusal::is_refused(place, span),
        false => is_quoted(place, span, rule.tier),
    }
}

/// Checks whether a rule is about a thing that is quarantined, such as a command, or about a part of such a thing.
fn is_command(rule: &Rule) -> bool {
    let is_act = rule.category != Category::Miner && rule.verdict >= Verdict::Quarantine;
    rule.tier == Tier::Signal || rule.tier == Tier::Artifact && is_act
}

/// Checks whether the only hosts in the match's lines are placeholders and private addresses, as in a cheat sheet.
fn is_for_show(place: &ScannedFile<'_>, span: &Range<usize>) -> bool {
    let start = place.outline.line(span.start).map_or(span.start, |line| line.text.start);
    let end = place.outline.line(span.end.saturating_sub(1)).map_or(span.end, |line| line.text.end);
    let around = place.whole(&(start.max(span.start.saturating_sub(AROUND))..end.clamp(span.end, span.end + AROUND)));
    // `1.2.3.4` is an example address, so it counts as private.
    let text = &place.raw[around].replace("1.2.3.4", "10.0.0.4");
    let mut kinds = Rules::get().hosts.kinds_in(text).peekable();
    match kinds.peek() {
        Some(_) => kinds.all(|kind| kind == HostKind::Local),
        None => STAND_INS.is_match(text) && !NAMED.is_match(text),
    }
}

/// Checks whether the text around the match warns of it or quotes it.
fn is_quoted(place: &ScannedFile<'_>, span: &Range<usize>, tier: Tier) -> bool {
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
    // A judgement counts as quoted only if it is in a list, in code or in quotation marks.
    let is_apart = matches!(line.kind, LineKind::Item | LineKind::Code) || has_quotes(lead, &raw[span.end..to]);
    if tier == Tier::Judgement && !is_apart {
        return false;
    }
    place.governing_lines(span.start).iter().any(|governing| topic.is_match(governing))
}

fn has_quotes(lead: &str, rest: &str) -> bool {
    const QUOTES: [char; 6] = ['"', '`', '“', '\'', '«', '‘'];
    let opened = lead.rfind(QUOTES).is_some_and(|at| lead.len() - at <= 24);
    opened && rest.contains(['"', '`', '”', '\'', '»', '’'])
}
