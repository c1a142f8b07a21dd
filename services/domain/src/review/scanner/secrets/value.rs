//! Distinguishes secrets from placeholders.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

/// Texts that occur in made-up keys.
const MADE_UP: [&str; 20] = [
    "example",
    "sample",
    "placeholder",
    "xxx",
    "your",
    "dummy",
    "fake",
    "redacted",
    "replace",
    "changeme",
    "signature",
    "test",
    "abcdef",
    "abc123",
    "def456",
    "xyz789",
    "a1b2c3",
    "123456",
    "0000000",
    "...",
];
/// Words used in placeholder passwords. A word comes before its own prefixes (`password` before `pass`), because the
/// words are removed in this order.
const PLACEHOLDERS: [&str; 92] = [
    "placeholder",
    "passphrase",
    "credential",
    "replaceme",
    "username",
    "database",
    "changeit",
    "changeme",
    "password",
    "passwort",
    "postgres",
    "readonly",
    "replace",
    "another",
    "company",
    "current",
    "default",
    "example",
    "initial",
    "invalid",
    "letmein",
    "rabbitmq",
    "redacted",
    "testing",
    "welcome",
    "mypass",
    "passwd",
    "secret",
    "secure",
    "strong",
    "random",
    "sample",
    "change",
    "insert",
    "hidden",
    "masked",
    "string",
    "qwerty",
    "abc123",
    "stored",
    "123456",
    "apikey",
    "redis",
    "mysql",
    "mongo",
    "admin",
    "guest",
    "local",
    "super",
    "value",
    "token",
    "minio",
    "dummy",
    "hello",
    "world",
    "wrong",
    "their",
    "valid",
    "vault",
    "12345",
    "1234",
    "your",
    "user",
    "pass",
    "root",
    "test",
    "demo",
    "here",
    "hash",
    "some",
    "fake",
    "prod",
    "this",
    "with",
    "name",
    "word",
    "api",
    "app",
    "foo",
    "bar",
    "baz",
    "key",
    "dev",
    "pwd",
    "the",
    "new",
    "old",
    "123",
    "my",
    "db",
    "in",
    "me",
];
/// Texts that show that a value is code instead of a password: a variable, a template, a call.
const CODE: [&str; 10] = ["${", "}}", "%>", "(", "[", "...", "\u{2026}", "***", "::", "//"];
/// Minimum length of a password; shorter ones are ordinary words.
const SHORTEST: usize = 5;
/// Minimum length of a key without a distinctive form; shorter ones are words or numbers.
const SHORTEST_KEY: usize = 16;
/// Minimum length of a password at a local host; shorter ones are placeholders.
const SHORTEST_STRONG: usize = 8;

/// The user and the host next to a password; empty if unknown.
#[derive(Debug, Clone, Copy)]
pub(super) struct PasswordContext<'a> {
    pub(super) user: &'a str,
    pub(super) host: &'a str,
}

/// Checks whether a key is random enough to be real and not an example. `whole` is the match around the key,
/// `least_entropy` is in bits per character.
pub(super) fn is_key(key: &str, whole: &[u8], least_entropy: f64) -> bool {
    let is_encoded_placeholder = || decoded(key).is_some_and(|text| is_of_placeholders(&text));
    if is_made_up(key) || entropy(key) <= least_entropy || is_marked(whole) || is_encoded_placeholder() {
        return false;
    }
    let secret = key.rsplit(['/', ':', '\n', ' ']).next().unwrap_or(key);
    let tail = if secret.len() >= 16 { secret } else { key };
    let distinct: HashSet<char> = tail.chars().collect();
    distinct.len() >= 10.min(tail.len() / 2) && distinct.len() * 8 >= tail.len().min(80)
}

/// Checks whether a text without a distinctive form is a key, and not a word, a number or code.
pub(super) fn is_mixed_key(key: &str, whole: &[u8], least_entropy: f64) -> bool {
    let has = |is: fn(u8) -> bool| key.bytes().any(is);
    let is_mixed = has(|byte| byte.is_ascii_digit()) && has(|byte| byte.is_ascii_alphabetic());
    let is_assignment = key.trim_end_matches('=').contains('=');
    let is_number = key.starts_with("0x") || uuid::Uuid::try_parse(key).is_ok();
    is_mixed && key.len() >= SHORTEST_KEY && !is_assignment && !is_number && is_key(key, whole, least_entropy)
}

fn is_made_up(key: &str) -> bool {
    let folded = key.to_ascii_lowercase();
    MADE_UP.iter().any(|word| folded.contains(word))
}

/// Checks whether the match is marked as an example.
fn is_marked(whole: &[u8]) -> bool {
    let whole = String::from_utf8_lossy(whole).to_ascii_lowercase();
    ["example", "placeholder", "your_", "your-", "dummy", "fake"].iter().any(|word| whole.contains(word))
}

/// Computes the Shannon entropy in bits per character.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / all).map(|part| -part * part.log2()).sum()
}

/// Checks whether a password is not a placeholder.
pub(super) fn is_password(password: &str, context: PasswordContext<'_>) -> bool {
    let is_repeated = password.eq_ignore_ascii_case(context.user) || password.eq_ignore_ascii_case(context.host);
    if password.len() < SHORTEST || is_repeated || is_code(password) || is_of_placeholders(password) {
        return false;
    }
    !is_own_host(context.host) || is_mixed(password)
}

/// Checks whether a text is recognisable as a password without context: not a placeholder, path or word.
pub(super) fn is_strong_password(password: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "!@#%^&*-_+=~?.".contains(c);
    let password = password.trim_end_matches(['.', ')', '*']);
    let is_name =
        |part: &str| part.starts_with(|c: char| c.is_ascii_alphabetic()) && !part.contains(['-', '!', '@', '&']);
    let is_path = password.contains('.') && password.split('.').all(is_name);
    let is_placeholder = is_code(password) || is_path || is_of_placeholders(password) || is_of_words(password);
    let is_placeholder = is_placeholder || decoded(password).is_some_and(|text| is_of_placeholders(&text));
    is_mixed(password) && password.chars().all(is_plain) && !is_placeholder
}

/// Checks whether a password has digits, and two of these: lower-case letters, upper-case letters, punctuation.
fn is_mixed(password: &str) -> bool {
    let has = |is: fn(&char) -> bool| password.chars().any(|c| is(&c));
    let kinds = [
        has(char::is_ascii_lowercase),
        has(char::is_ascii_uppercase),
        has(char::is_ascii_digit),
        has(char::is_ascii_punctuation),
    ];
    password.len() >= SHORTEST_STRONG
        && has(char::is_ascii_digit)
        && kinds.iter().filter(|kind| **kind).count() >= 3
        && entropy(password) > 2.5
}

fn is_code(password: &str) -> bool {
    password.starts_with(['$', '{', '<', '[', '(', '#', '`', '@', '*', '&'])
        || password.starts_with("%(")
        || password.ends_with(['}', '>', ']'])
        || (password.starts_with('%') && password.ends_with('%'))
        || CODE.iter().any(|sign| password.contains(sign))
        || (password.contains('.') && password.bytes().all(|byte| byte.is_ascii_lowercase() || b"._".contains(&byte)))
}

/// Checks whether a value consists almost only of placeholder words.
fn is_of_placeholders(password: &str) -> bool {
    let mut left = password.to_ascii_lowercase();
    if is_made_up(&left.replace("test", "")) {
        return true;
    }
    for word in PLACEHOLDERS {
        left = left.replace(word, "");
    }
    let letters: HashSet<char> = left.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.len() <= 2
}

/// Checks whether a password is a word followed by a year or number, or a placeholder with some letters replaced by
/// digits.
fn is_of_words(password: &str) -> bool {
    let word = password.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    let is_word = word.len() + 6 >= password.len() && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    let signs = [("0", "o"), ("1", "i"), ("3", "e"), ("4", "a"), ("5", "s"), ("@", "a"), ("$", "s")];
    let spelled = signs.iter().fold(word.to_owned(), |word, (sign, letter)| word.replace(sign, letter));
    is_word || is_of_placeholders(&spelled)
}

/// Checks whether a host is this machine, an example or a name without a domain.
fn is_own_host(host: &str) -> bool {
    let host = host.split(':').next().unwrap_or(host).to_ascii_lowercase();
    !host.is_empty()
        && (!host.contains('.')
            || ["127.0.0.1", "0.0.0.0", "host.docker.internal"].contains(&host.as_str())
            || [".local", ".test", ".localhost", ".invalid"].iter().any(|end| host.ends_with(end)))
}

/// Checks whether base64 text encodes `user:password` with a real password.
pub(super) fn has_password(encoded: &str) -> bool {
    decoded(encoded)
        .and_then(|text| {
            text.split_once(':').map(|(user, password)| is_password(password, PasswordContext { user, host: "" }))
        })
        .unwrap_or(false)
}

/// Checks whether the value in one of the `key: value` lines is a password, plain or in base64.
pub(super) fn has_value(lines: &str) -> bool {
    lines.split(['\n', ',']).any(|line| {
        let Some((key, value)) = line.split_once(':') else { return false };
        let value = value.trim().trim_matches(['"', '\'', '}', ' ']);
        let is_open = ["user", "host", "port", "name", "url", "type", "kind", "version"];
        let key = key.to_ascii_lowercase();
        if value.contains(' ') || is_open.iter().any(|open| key.contains(open)) {
            return false;
        }
        let plain = decoded(value).unwrap_or_else(|| value.to_owned());
        is_password(plain.trim(), PasswordContext { user: "", host: "" })
            && plain.bytes().any(|byte| byte.is_ascii_digit())
    })
}

/// Decodes base64 text; `None` if the content is not text.
fn decoded(encoded: &str) -> Option<String> {
    let bytes = STANDARD.decode(encoded).or_else(|_| STANDARD_NO_PAD.decode(encoded)).ok()?;
    String::from_utf8(bytes).ok().filter(|text| text.chars().all(|c| !c.is_control() || c.is_whitespace()))
}
