//! Renders findings as a SARIF 2.1.0 log.

use knowhow_domain::review::scanner::{self, Finding, Verdict};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};

use super::ScannedSkill;

/// Characters that are percent-encoded in a URI reference.
const IN_URI: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b':');

/// Renders a log with one run, which has all findings, including those that have no consequences.
pub(super) fn log(skills: &[ScannedSkill]) -> Value {
    let rules: Vec<Value> = scanner::rules()
        .into_iter()
        .map(|(id, reason)| json!({"id": id, "shortDescription": {"text": reason}}))
        .collect();
    let findings = skills.iter().flat_map(|read| read.scan.findings.iter().map(move |finding| result(read, finding)));
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "knowhow scan",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "properties": {"rulesVersion": scanner::version()},
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": findings.collect::<Vec<_>>(),
        }],
    })
}

fn result(read: &ScannedSkill, finding: &Finding) -> Value {
    let level = match finding.verdict {
        Verdict::Ok => "note",
        Verdict::Review => "warning",
        Verdict::Quarantine | Verdict::Reject => "error",
    };
    json!({
        "ruleId": finding.rule,
        "level": level,
        "message": {"text": format!("{} ({})", finding.reason, finding.category)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": utf8_percent_encode(read.shown(finding), IN_URI).to_string()},
            "region": region(read.bytes(finding), finding),
        }}],
        "properties": {
            "category": finding.category,
            "tier": finding.tier,
            "verdict": finding.verdict,
            "view": finding.view,
            "demoted": finding.demoted,
        },
    })
}

/// Returns the position of a finding, with lines and columns counted from 1. A finding without a position is reported
/// in line 1.
fn region(bytes: &[u8], finding: &Finding) -> Value {
    let (start, end) = (finding.span.start, finding.span.end);
    if end <= start || end > bytes.len() {
        return json!({"startLine": 1});
    }
    let (start_line, start_column) = position(bytes, start);
    let (end_line, end_column) = position(bytes, end);
    json!({
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
        "byteOffset": start,
        "byteLength": end - start,
    })
}

/// Returns the line and the column of a byte, counted from 1. Columns are counted in characters.
fn position(bytes: &[u8], at: usize) -> (usize, usize) {
    let before = &bytes[..at];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (line, 1 + String::from_utf8_lossy(&before[start..]).chars().count())
}
