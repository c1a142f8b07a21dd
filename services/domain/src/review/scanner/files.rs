//! Classifies the files of a skill other than SKILL.md: text, media, or files that cannot be scanned in full.

use std::borrow::Cow;

use super::ScannedResource;

/// Minimum number of bytes in a printable part of a binary file. Compressed data rarely contains longer parts by
/// chance.
const SHORTEST_PART: usize = 8;

/// Type of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileType<'a> {
    /// Text to scan.
    Text(Cow<'a, str>),
    /// A binary file: the rule that it violates, if any, and its printable parts. The parts are scanned, because a
    /// shell would run them.
    Binary(Option<&'static str>, String),
}

/// First bytes of programs and bytecode: ELF, PE, Mach-O, Java or fat Mach-O, WebAssembly, Android, Lua, LLVM.
const PROGRAMS: [&[u8]; 10] = [
    b"\x7fELF",
    b"MZ",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\xca\xfe\xba\xbe",
    b"\0asm",
    b"dex\n",
    b"\x1bLua",
];
/// File name endings of programs. A binary file with such a name is a program, regardless of its first bytes.
const PROGRAM_NAMES: [&str; 13] =
    [".pyc", ".pyo", ".class", ".exe", ".dll", ".so", ".dylib", ".jar", ".wasm", ".node", ".scr", ".apk", ".msi"];
/// First bytes of containers and formats that are not scanned: zip and Office, gzip, bzip2, xz, zstd, 7z, rar, cabinet,
/// old Office formats, PDF, RTF, SQLite.
const NOT_READ: [&[u8]; 12] = [
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"BZh",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"MSCF",
    b"\xd0\xcf\x11\xe0",
    b"%PDF",
    b"{\\rtf",
    b"SQLite format 3\0",
];
/// First bytes of pictures, sounds and fonts.
const MEDIA: [&[u8]; 14] = [
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\xff\xfb",
    b"fLaC",
    b"wOFF",
    b"wOF2",
    b"OTTO",
    b"\0\x01\0\0",
    b"\0\0\x01\0",
    b"BM",
];
/// File name endings of text, pictures and sounds. A program with such a name is reported as disguised.
const INNOCENT: [&str; 22] = [
    ".md", ".txt", ".json", ".yaml", ".yml", ".csv", ".html", ".css", ".svg", ".xml", ".toml", ".png", ".jpg", ".jpeg",
    ".gif", ".webp", ".ico", ".mp3", ".wav", ".ttf", ".woff", ".pdf",
];
/// File name endings of scripts and data files. The whole file is scanned as code, without frontmatter or Markdown
/// blocks.
const SCRIPTS: [&str; 24] = [
    ".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".pl", ".php", ".ps1", ".bat",
    ".cmd", ".go", ".rs", ".java", ".lua", ".sql", ".json", ".yaml", ".yml",
];

/// Classifies a file by its first bytes and name.
pub(super) fn kind_of<'a>(resource: &ScannedResource<'a>) -> FileType<'a> {
    let (name, bytes) = (resource.path.to_ascii_lowercase(), resource.bytes);
    let begins = |marks: &[&[u8]]| marks.iter().any(|mark| bytes.starts_with(mark));
    let binary = |rule| FileType::Binary(rule, printable(bytes));
    // `MZ` and `BM` also begin ordinary words, so text is checked first.
    let text = as_text(bytes);
    let is_valid = matches!(text, Some(Cow::Borrowed(_)));
    if !is_valid && begins(&PROGRAMS) {
        let is_disguised = ends(&name, &INNOCENT);
        return binary(Some(if is_disguised { "disguised-executable" } else { "executable" }));
    }
    if text.is_none() && ends(&name, &PROGRAM_NAMES) {
        return binary(Some("executable"));
    }
    if begins(&NOT_READ) || bytes.get(257..262) == Some(b"ustar") {
        return binary(Some("not-read"));
    }
    match text {
        Some(text) => FileType::Text(text),
        None if begins(&MEDIA) || bytes.get(4..8) == Some(b"ftyp") => binary(None),
        None => binary(Some("not-read")),
    }
}

/// Checks whether the whole file is scanned as code.
pub(super) fn is_code(path: &str) -> bool {
    ends(&path.to_ascii_lowercase(), &SCRIPTS)
}

fn ends(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

/// Converts a file to text if it is UTF-8, UTF-16 with a byte order mark, or mostly text.
fn as_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        Some(Cow::Owned(String::from_utf16_lossy(&units)))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Some(Cow::Borrowed(text)),
            _ => lossy(bytes).map(Cow::Owned),
        },
    }
}

/// Decodes bytes as interpreters do: NUL bytes are skipped, and bytes that are not UTF-8 are replaced. Returns `None`
/// if more than a tenth of the characters are not text.
fn lossy(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_odd = |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_ascii_whitespace();
    let odd = text.chars().filter(is_odd).count();
    (odd * 10 <= text.chars().count()).then(|| text.replace('\0', ""))
}

/// Returns the printable parts of a binary file, one per line. A shell that runs the file executes these parts and
/// skips or reports the rest.
fn printable(bytes: &[u8]) -> String {
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let parts = bytes.split(|byte| !is_text(byte)).filter(|part| part.len() >= SHORTEST_PART);
    let lines: Vec<Cow<'_, str>> = parts.map(String::from_utf8_lossy).collect();
    lines.join("\n")
}
