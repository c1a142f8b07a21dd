//! Detects content that does not belong in a skill: dates and numbers from one case, personal addresses, secrets, and
//! unverified claims.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;

use crate::SkillDocument;
use crate::kernel::pattern::pattern;
use crate::review::scanner::{self, Category, Finding};
use crate::text::invisible::is_invisible;

/// Standards and brands with names that look like ticket ids: `UTF-8`, `SHA-256`.
const STANDARDS: &str = "AES AGPL APACHE BASE BS CC COVID CRC CP DIN EIP EN ERC ES FIPS GPL GPT HTTP IEC IEEE IPV ISO ITU LGPL MD \
    MPL MP NIST OAUTH OWASP PEP PSR RFC RSA SHA SOC TLS UCS USB UTC GMT UTF WCAG WPA";

/// Hosts reserved for examples.
const EXAMPLE_HOSTS: [&str; 9] = [
    "example.com",
    "example.org",
    "example.net",
    ".example",
    ".test",
    ".invalid",
    ".localhost",
    "company.com",
    "acme.com",
];

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let year = r"(?:19|20)\d\d";
    let day = r"\d\d?(?:st|nd|rd|th)?";
    // Months need a capital letter, because "you may 5 times" is not a date.
    let month = "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?\
        |Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";
    let forms = [
        format!(r"{year}[-/.]\d\d?[-/.]\d\d?"),
        format!(r"\d\d?[/.-]\d\d?[/.-]{year}"),
        r"(?:0?[1-9]|1[0-2])/(?:0?[1-9]|[12]\d|3[01])/[12]\d".to_owned(),
        r"(?:0?[1-9]|[12]\d|3[01])/(?:0?[1-9]|1[0-2])/[12]\d".to_owned(),
        // Dates in other languages: "3. März 2024".
        format!(r"\d\d?\.\s+\w{{3,}}\s+{year}"),
        format!(r"{month}\.?\s+{day}(?:,?\s+{year})?"),
        format!(r"{day}\s+(?:of\s+)?{month}"),
        format!(r"{month}\.?,?\s+{year}"),
        format!(r"[Qq][1-4]\s*/?\s*{year}"),
    ];
    pattern(&format!(r"\b(?:{})\b", forms.join("|")))
});
static TICKET: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([A-Z][A-Z0-9]{1,9})-\d+\b"));
static NUMBERED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(?:pr|issue|ticket|case|bug|order|invoice|incident)s?\s*#\s*\d+"));
static MAIL: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b([A-Za-z0-9._%+-]+)@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})\b"));
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\+\d(?:[ ()/.-]{0,2}\d){7,}|\(\d{3}\)\s?\d{3}[ .-]?\d{4}\b|\b\d{3}[ .-]\d{3}[ .-]\d{4}\b|\b0\d{2,4}[ /-]\d{5,}\b",
    )
});
static IPV4: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"));
static IPV6: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b[0-9A-Fa-f]{1,4}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{1,4}\b"));
static LONG_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\d{8,}|\b\d{4}(?:[ -]\d{4}){3}\b|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    )
});
/// Captures the value of a password or key. `secrets_among` drops placeholders, which do not have both letters and
/// digits.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?i)\b(?:password|passwd|passphrase|pwd|secret|token|api[ _-]?key|pin)["'`]?\s*(?:[:=]|is)\s*["'`]?([^\s"'`,;<>${}()]{4,})"#,
    )
});
static CLAIM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)(?:\b(\w+)\s+)?\b(?:verified|tested|(?:confirmed|known|guaranteed)\s+(?:working|to\s+work))\b")
});

/// Returns the kinds of content in a SKILL.md that belong to one case, person or time, e.g. `a date`.
pub(super) fn list_temporary_content(document: &str) -> Vec<&'static str> {
    let text = seen(document);
    let findings = scanner::scan(document, &[]).findings;
    let is_personal = |finding: &Finding| finding.category == Category::PersonalData;
    let found = [
        ("a date", DATE.is_match(&text)),
        ("a ticket id", has_ticket(&text)),
        ("an e-mail address", has_mail(&text)),
        ("a phone number", PHONE.is_match(&text)),
        ("an IP address", has_ip(&text)),
        ("a long number", LONG_NUMBER.is_match(&text)),
        ("a person's number", findings.iter().any(is_personal)),
        ("a secret", !secrets_among(&findings, document).is_empty()),
    ];
    found.into_iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| kind).collect()
}

/// Checks whether a text claims that it was tested. "To be tested" and "not verified" are not claims.
pub(super) fn claims_success(text: &str) -> bool {
    const DENIED: [&str; 12] =
        ["be", "being", "get", "gets", "getting", "not", "never", "no", "un", "if", "until", "unless"];
    let text = seen(text);
    let is_claim = |before: &str| !DENIED.contains(&before.to_lowercase().as_str());
    CLAIM.captures_iter(&text).any(|claim| claim.get(1).is_none_or(|before| is_claim(before.as_str())))
}

/// Checks that a text contains only secrets that the previous texts contain too.
pub(super) fn check_no_new_secret(before: &[&SkillDocument], after: &SkillDocument) -> Result<(), String> {
    let found = secrets_in(after.raw());
    if found.is_empty() {
        return Ok(());
    }
    let known: BTreeSet<String> = before.iter().flat_map(|document| secrets_in(document.raw())).collect();
    if found.is_subset(&known) { Ok(()) } else { Err("its text contains a secret".to_owned()) }
}

/// Returns the text in Unicode form NFKC, without invisible characters.
fn seen(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).nfkc().collect()
}

fn has_ticket(text: &str) -> bool {
    let is_standard = |prefix: &str| STANDARDS.split(' ').any(|standard| standard == prefix);
    NUMBERED.is_match(text) || TICKET.captures_iter(text).any(|ticket| !is_standard(&ticket[1]))
}

fn has_mail(text: &str) -> bool {
    let is_persons = |user: &str, host: &str| {
        // `git@host` is the SSH form of a repository.
        user != "git" && !EXAMPLE_HOSTS.iter().any(|end| host.to_ascii_lowercase().ends_with(end))
    };
    MAIL.captures_iter(text).any(|mail| is_persons(&mail[1], &mail[2]))
}

/// Returns whether the text has the IP address of a machine. Ignores local, broadcast and example addresses.
fn has_ip(text: &str) -> bool {
    let is_real_4 = |address: Ipv4Addr| {
        !(address.is_loopback() || address.is_unspecified() || address.is_broadcast() || address.is_documentation())
            && address.octets()[0] != 255
    };
    let is_example = |address: &Ipv6Addr| address.segments().starts_with(&[0x2001, 0xdb8]);
    let is_real_6 = |address: Ipv6Addr| !(address.is_loopback() || address.is_unspecified() || is_example(&address));
    IPV4.find_iter(text).any(|found| found.as_str().parse().is_ok_and(is_real_4))
        || IPV6
            .find_iter(text)
            .filter(|found| !is_path(found.as_str()))
            .any(|found| found.as_str().parse().is_ok_and(is_real_6))
}

/// Returns whether a text that looks like an IPv6 address is a code path, e.g. `a::b`.
fn is_path(address: &str) -> bool {
    !address.contains(|c: char| c.is_ascii_digit()) || address.split(':').all(|group| group.len() < 3)
}

/// Returns the secrets in a SKILL.md.
fn secrets_in(document: &str) -> BTreeSet<String> {
    secrets_among(&scanner::scan(document, &[]).findings, document)
}

fn secrets_among(findings: &[Finding], document: &str) -> BTreeSet<String> {
    let is_password = |word: &str| word.contains(char::is_alphabetic) && word.contains(|c: char| c.is_ascii_digit());
    let words = PASSWORD.captures_iter(document).map(|found| found.extract::<1>().1[0]);
    let passwords = words.filter(|word| is_password(word));
    let keys = findings.iter().filter(|finding| finding.category == Category::Secret);
    let keys = keys.map(|key| document.get(key.span.start..key.span.end).unwrap_or_default());
    passwords.chain(keys).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
