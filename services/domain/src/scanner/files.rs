//! What the other files of a skill are: text to be read, pictures and the like, or what nobody can read.

use std::borrow::Cow;

use super::Resource;

/// What to do about a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// Read it.
    Text(Cow<'a, str>),
    /// It shows or sounds, and does nothing.
    Harmless,
    /// It is something that a rule names.
    Suspect(&'static str),
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
/// Ends of names that mean a program, whatever the bytes are.
const PROGRAM_NAMES: [&str; 13] =
    [".pyc", ".pyo", ".class", ".exe", ".dll", ".so", ".dylib", ".jar", ".wasm", ".node", ".scr", ".apk", ".msi"];
/// First bytes of what holds other files or is not read: zip and office, gzip, bzip2, xz, zstd, 7z, rar, cabinet, old office,
/// PDF, RTF, SQLite.
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
/// Names of files that are text, pictures or sounds: no place for a program.
const INNOCENT: [&str; 22] = [
    ".md", ".txt", ".json", ".yaml", ".yml", ".csv", ".html", ".css", ".svg", ".xml", ".toml", ".png", ".jpg", ".jpeg",
    ".gif", ".webp", ".ico", ".mp3", ".wav", ".ttf", ".woff", ".pdf",
];
/// Scripts: all of them is code.
const SCRIPTS: [&str; 24] = [
    ".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".pl", ".php", ".ps1", ".bat",
    ".cmd", ".go", ".rs", ".java", ".lua", ".sql", ".json", ".yaml", ".yml",
];

/// Looks at the first bytes and the name.
pub(super) fn kind_of<'a>(resource: &Resource<'a>) -> Kind<'a> {
    let (name, bytes) = (resource.path.to_ascii_lowercase(), resource.bytes);
    let begins = |marks: &[&[u8]]| marks.iter().any(|mark| bytes.starts_with(mark));
    // `MZ` and `BM` begin words too.
    let text = as_text(bytes);
    if text.is_none() && begins(&PROGRAMS) {
        let is_disguised = ends(&name, &INNOCENT);
        return Kind::Suspect(if is_disguised { "disguised-executable" } else { "executable" });
    }
    if text.is_none() && ends(&name, &PROGRAM_NAMES) {
        return Kind::Suspect("executable");
    }
    if begins(&NOT_READ) || bytes.get(257..262) == Some(b"ustar") {
        return Kind::Suspect("not-read");
    }
    match text {
        Some(text) => Kind::Text(text),
        None if begins(&MEDIA) || bytes.get(4..8) == Some(b"ftyp") => Kind::Harmless,
        None => Kind::Suspect("not-read"),
    }
}

/// Whether all of a file is code.
pub(super) fn is_code(path: &str) -> bool {
    ends(&path.to_ascii_lowercase(), &SCRIPTS)
}

fn ends(name: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| name.ends_with(end))
}

/// UTF-8, or UTF-16 that says so.
fn as_text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |bytes: &[u8], read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok().map(Cow::Owned)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).map(Cow::Borrowed),
    }
}
