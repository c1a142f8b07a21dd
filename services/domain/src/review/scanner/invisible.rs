//! Decodes texts hidden in invisible characters, and removes and reports such characters.

use std::cell::LazyCell;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use super::evidence::EvidenceDigest;
use super::findings::Findings;
use super::report::{Finding, Span, View};
use super::rules::Rules;
use super::scanned_file::ScannedFile;
use super::text::{Text, ViewBuilder, beyond_ascii};
use crate::text::invisible::is_invisible;

/// Minimum number of characters in a hidden text.
const FEWEST: usize = 4;
/// Number of consecutive invisible characters that is reported. No script needs as many.
const RUN: usize = 12;

/// Returns texts hidden in tag characters or variation selectors, with their ranges.
pub(super) fn spelled(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    let mut run = 0..0;
    let hidden = beyond_ascii(text).filter_map(|(at, c)| Some((at, c.len_utf8(), hidden_byte(c)?)));
    for (at, length, byte) in hidden {
        if at != run.end {
            take(&mut found, &mut bytes, text, run);
            run = at..at;
        }
        bytes.push(byte);
        run.end = at + length;
    }
    take(&mut found, &mut bytes, text, run);
    found
}

/// Decodes the collected bytes and adds them to `found` if they are mostly printable. Skips emoji flags of regions,
/// such as Scotland's, which consist of tag characters after a black flag.
fn take(found: &mut Vec<(Range<usize>, String)>, bytes: &mut Vec<u8>, text: &str, at: Range<usize>) {
    let bytes = std::mem::take(bytes);
    if bytes.len() < FEWEST || (text[..at.start].ends_with('\u{1f3f4}') && bytes.len() <= 8) {
        return;
    }
    let text: String = String::from_utf8_lossy(&bytes).chars().filter(|c| !c.is_control() || *c == '\n').collect();
    if text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').count() * 10 >= bytes.len() * 7 {
        found.push((at, text));
    }
}

fn hidden_byte(c: char) -> Option<u8> {
    let byte = match c {
        '\u{e0000}'..='\u{e007f}' => c as u32 - 0xe0000,
        '\u{fe00}'..='\u{fe0f}' => c as u32 - 0xfe00,
        '\u{e0100}'..='\u{e01ef}' => c as u32 - 0xe0100 + 16,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// Treatment of the case of non-ASCII letters. The case of ASCII letters matters in secrets and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterCase {
    /// Letters are lower-cased, like the patterns.
    Lower,
    /// Letters keep their case, which is needed to find look-alikes of ASCII letters.
    Kept,
}

/// Returns the view in Unicode compatibility forms (NFKC) without invisible characters; `None` if the text stays the
/// same.
pub(super) fn seen(view: &Text<'_>, case: LetterCase) -> Option<Text<'static>> {
    if view.text.is_ascii() {
        return None;
    }
    let mut built = ViewBuilder::default();
    let mut piece = String::new();
    let mut after = 0;
    for (at, c) in beyond_ascii(&view.text) {
        built.push(&view.text[after..at], after);
        after = at + c.len_utf8();
        if !is_invisible(c) {
            piece.clear();
            let plain = std::iter::once(c).nfkc();
            plain.for_each(|c| match case {
                LetterCase::Lower if !c.is_ascii() => piece.extend(c.to_lowercase()),
                _ => piece.push(c),
            });
            built.push(&piece, at);
        }
    }
    built.push(&view.text[after..], after);
    (built.text() != view.text).then(|| built.into_view(View::Seen, view))
}

/// Checks whether a text is disguised: it has invisible characters, or non-ASCII characters with an ASCII form in NFKC.
pub(super) fn has_disguise(piece: &str) -> bool {
    piece.chars().any(|c| {
        !c.is_ascii() && (is_invisible(c) || std::iter::once(c).nfkc().all(|plain| plain.is_ascii_alphanumeric()))
    })
}

/// Reports control, tag, invisible and text-direction characters, which ordinary texts do not need.
pub(super) fn report(place: &ScannedFile<'_>, findings: &mut Findings) {
    let evidence = LazyCell::new(|| EvidenceDigest::of_text(place.raw));
    let mut report = |rule: &str, at: Range<usize>| {
        findings.push(Finding {
            view: View::Raw,
            span: Span { start: at.start, end: at.end },
            line: place.outline.line_of(at.start) + 1,
            ..Finding::of_file(Rules::get().built_in(rule), place.file, *evidence)
        });
    };
    let text = place.raw;
    if let Some(at) = text.bytes().position(is_control) {
        report("control-characters", at..at + 1);
    }
    if text.is_ascii() {
        return;
    }
    for (at, _) in spelled(text) {
        report("tag-characters", at);
    }
    if let Some(at) = within_words(text).or_else(|| long_run(text)) {
        report("invisible-characters", at);
    }
    if let Some(at) = text.find(['\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}']) {
        report("turned-text", at..at + '\u{202e}'.len_utf8());
    }
}

/// Checks whether a byte is a control character other than tabs, line and page breaks.
fn is_control(byte: u8) -> bool {
    matches!(byte, b'\0'..=0x8 | 0xe..=0x1f | 0x7f)
}

/// Returns the first invisible character between two ASCII letters. Invisible characters elsewhere are allowed, because
/// other scripts use them to join letters.
fn within_words(text: &str) -> Option<Range<usize>> {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    beyond_ascii(text).find_map(|(at, c)| {
        let after = at + c.len_utf8();
        // Soft hyphens are allowed, because they are common on web pages.
        let is_hidden = c != '\u{ad}' && is_invisible(c);
        (is_hidden && is_letter(text[..at].chars().next_back()) && is_letter(text[after..].chars().next()))
            .then_some(at..after)
    })
}

fn long_run(text: &str) -> Option<Range<usize>> {
    let (mut run, mut count) = (0..0, 0);
    for (at, c) in beyond_ascii(text).filter(|(_, c)| is_invisible(*c)) {
        if at != run.end {
            (run, count) = (at..at, 0);
        }
        run.end = at + c.len_utf8();
        count += 1;
        if count == RUN {
            return Some(run);
        }
    }
    None
}
