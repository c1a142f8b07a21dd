//! Scans mutated attacks and skills. `make fuzz-scan` does this for ten minutes, `make bench-scan` for ten seconds.
//!
//! `FUZZ_SECONDS` sets the duration. `FUZZ_SEED`, a number that each run prints, repeats a run.

use std::time::{Duration, Instant};

use knowhow_domain::review::scanner::{DOCUMENT, Finding, Scan, ScannedResource, scan};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::corpus;
use crate::sets::{as_document, own};
use crate::speed::cpu_ms;

/// Number of public skills that are mutated.
const SKILLS: usize = 300;
/// Texts that decoders, views and rules treat specially.
const PIECES: [&str; 20] = [
    "\n",
    "---\n",
    "```\n",
    "<!-- ",
    "-->",
    "](",
    "\u{200b}",
    "\u{e0041}",
    "\u{202e}",
    "е",
    "\\x41",
    "%41",
    "&#65;",
    "$(",
    "${a}",
    "a=b\n",
    "\\\n",
    "QUFBQUFBQUFBQUFBQUFB",
    "4142434445464748",
    "# never\n",
];
const PATHS: [&str; 6] = ["a.sh", "b.py", "references/c.md", "package.json", "assets/d.bin", "hooks/hooks.json"];
/// Size from which the speed of a scan is measured.
const MEASURED: usize = 10_000;
/// Duration of the scans that are not measured.
const WARM_UP: Duration = Duration::from_secs(2);
/// Size of a repeated piece.
const LONG: usize = 1_000_000;

/// A source of random numbers that a seed repeats.
struct Dice(TestRng);

impl Dice {
    fn of(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit.max(1) as u64) as usize
    }

    /// Returns a random range of a text.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below((length - start).min(400) + 1)
    }

    /// Changes a text at several places: deletes, repeats or moves a part, or inserts bytes, a piece or a part of
    /// another text.
    fn mutate(&mut self, text: &[u8], other: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for _ in 0..=self.below(12) {
            let range = self.range(text.len());
            let at = self.below(text.len() + 1);
            let part = match self.below(7) {
                0 => {
                    text.drain(range);
                    continue;
                }
                1 => text[range].repeat(1 + self.below(40)),
                2 => text.drain(range).collect(),
                3 => (0..self.below(20)).map(|_| self.below(256) as u8).collect(),
                4 => PIECES[self.below(PIECES.len())].repeat(1 + self.below(30)).into_bytes(),
                5 => other[self.range(other.len())].to_vec(),
                _ => {
                    text.truncate(at);
                    continue;
                }
            };
            let at = at.min(text.len());
            text.splice(at..at, part);
        }
        if self.below(40) == 0 { text.repeat(1 + self.below(60)) } else { text }
    }
}

/// Returns the texts to mutate: all attacks and their twins, and public skills.
fn texts() -> Vec<Vec<u8>> {
    let sets = own().into_values().flat_map(|examples| examples.positives.into_iter().chain(examples.twins));
    let sets = sets.map(|example| as_document(&example.text()).into_bytes());
    let skills = corpus::all("fuzz").unwrap_or_default().into_iter().take(SKILLS);
    sets.chain(skills.map(|sample| sample.document.into_bytes())).collect()
}

fn keys(scan: &Scan) -> Vec<String> {
    let key = |found: &Finding| format!("{found:?}");
    let mut keys: Vec<String> = scan.findings.iter().map(key).collect();
    keys.sort_unstable();
    keys
}

fn check_spans(scan: &Scan, document: &str) {
    for found in scan.findings.iter().filter(|found| found.file == DOCUMENT) {
        assert!(document.get(found.span.start..found.span.end).is_some(), "{found:?}");
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[test]
#[ignore = "takes ten seconds: make bench-scan; or ten minutes: make fuzz-scan"]
fn mutated_texts_are_scanned_without_a_panic_and_in_linear_time() {
    let texts = texts();
    let mut speeds = Vec::new();
    let mut count = 0_u64;
    let start = Instant::now();
    let first = number("FUZZ_SEED").unwrap_or_else(|| std::process::id().into());
    let lasts = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(10));
    println!("fuzz: first seed {first}");
    for seed in first.. {
        if count > 0 && start.elapsed() > lasts {
            break;
        }
        let mut dice = Dice::of(seed);
        let mut mutated = || {
            let (text, other) = (dice.below(texts.len()), dice.below(texts.len()));
            dice.mutate(&texts[text], &texts[other])
        };
        let document = String::from_utf8_lossy(&mutated()).into_owned();
        let files: Vec<Vec<u8>> = (0..seed % 4).map(|_| mutated()).collect();
        let named =
            files.iter().enumerate().map(|(n, bytes)| ScannedResource { path: PATHS[(n + seed as usize) % 6], bytes });
        let mut resources: Vec<ScannedResource<'_>> = named.collect();
        let began = cpu_ms();
        let found = scan(&document, &resources);
        let ms = cpu_ms() - began;
        let bytes = document.len() + files.iter().map(Vec::len).sum::<usize>();
        assert!(ms < 300.0 + bytes as f64 * 2e-3, "seed {seed}: {bytes} bytes in {ms} ms");
        // The first scans compile the patterns.
        if bytes >= MEASURED && start.elapsed() > WARM_UP {
            speeds.push((ms * 1e6 / bytes as f64, bytes, seed));
        }
        check_spans(&found, &document);
        resources.reverse();
        let again = scan(&document, &resources);
        if found.findings.iter().all(|found| found.rule != "too-much-work") {
            assert_eq!(keys(&found), keys(&again), "seed {seed}: another order of files");
        }
        assert_eq!(found.verdict, again.verdict, "seed {seed}: another order of files");
        count += 1;
    }
    speeds.sort_by(|a, b| a.0.total_cmp(&b.0));
    println!("fuzz: {count} skills");
    if let (Some(median), Some((worst, bytes, seed))) = (speeds.get(speeds.len() / 2), speeds.last()) {
        println!("fuzz: {} of {MEASURED} bytes and more: median {:.0} ns a byte", speeds.len(), median.0);
        println!("fuzz: worst {worst:.0} ns a byte of {bytes} (seed {seed})");
    }
}

#[test]
#[ignore = "measures time: make bench-scan"]
fn repeated_pieces_are_scanned_in_linear_time() {
    let hostile = [
        "!`",
        "!`a` ",
        "```!",
        "```! ",
        "\u{e0041}\u{e0042}\u{e0043} ",
        "аb ",
        "a=$a;",
        "[a](b",
        "<a ",
        "\"\\",
        "'a' + ",
    ];
    let time = |text: &str| {
        let start = cpu_ms();
        drop(scan(text, &[]));
        cpu_ms() - start
    };
    for piece in PIECES.into_iter().chain(hostile) {
        let text = piece.repeat(LONG / piece.len());
        time(&text[..text.floor_char_boundary(LONG / 10)]);
        let (half, whole) = (time(&text[..text.floor_char_boundary(LONG / 2)]), time(&text));
        println!("{piece:?}: {:.0} ns a byte", whole * 1e6 / text.len() as f64);
        assert!(whole < 3.0 * half + 100.0, "{piece:?}: {half} ms, then {whole} ms");
    }
}
