//! Forms that spell a text in escapes or other bytes.

use super::{WriteBytes, WriteText, pieces};

/// Forms that spell each letter by an escape.
pub const ESCAPES: [(&str, WriteText); 10] = [
    ("decimal entities", |s| each(s, |c| format!("&#{c};"))),
    ("hexadecimal entities", |s| each(s, |c| format!("&#X{c:X};"))),
    ("padded entities", |s| each(s, |c| format!("&#{c:07};"))),
    ("escaped entities", |s| each(s, |c| format!("&amp;#{c};"))),
    ("escapes", |s| s.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
    ("escapes in braces", |s| each(s, |c| format!("\\u{{{c:x}}}"))),
    ("long escapes", |s| each(s, |c| format!("\\U{c:08x}"))),
    ("hexadecimal bytes", |s| s.bytes().map(|byte| format!("\\x{byte:02x}")).collect()),
    ("octal bytes", |s| s.bytes().map(|byte| format!("\\{byte:03o}")).collect()),
    ("encoded bytes", |s| s.bytes().map(|byte| format!("%{byte:02X}")).collect()),
];

/// Forms with bytes that are not plain UTF-8.
pub const BYTES: [(&str, WriteBytes); 8] = [
    ("NUL", |s| [b"\0", s.as_bytes()].concat()),
    ("NUL within", |s| s.bytes().flat_map(|byte| [byte, 0]).collect()),
    ("Latin-1", |s| [b"caf\xe9\n", s.as_bytes()].concat()),
    ("bytes between", |s| s.split(' ').map(str::as_bytes).collect::<Vec<_>>().join(&b"\xff"[..])),
    ("bytes within", |s| s.bytes().flat_map(|byte| if byte == b'e' { vec![b'e', 0xff] } else { vec![byte] }).collect()),
    ("byte order mark", |s| [b"\xef\xbb\xbf", s.as_bytes()].concat()),
    ("UTF-16", |s| s.encode_utf16().fold(vec![0xff, 0xfe], |all, unit| [all, unit.to_le_bytes().to_vec()].concat())),
    ("big-endian UTF-16", |s| {
        s.encode_utf16().fold(vec![0xfe, 0xff], |all, unit| [all, unit.to_be_bytes().to_vec()].concat())
    }),
];

/// Ways to write a value in YAML.
pub const YAML: [(&str, WriteText); 8] = [
    ("folded", |s| format!(">-\n  {}", pieces(s, 5, "", "\n  "))),
    ("literal", |s| format!("|\n  {}", pieces(s, 5, "", "\n  "))),
    ("lines", |s| pieces(s, 5, "", "\n  ")),
    ("double", |s| format!("\"{s}\"")),
    ("single", |s| format!("'{s}'")),
    ("escaped", |s| format!("\"{}\"", each(s, |c| format!("\\u{c:04x}")))),
    ("hexadecimal", |s| format!("\"{}\"", each(s, |c| format!("\\x{c:02x}")))),
    ("continued", |s| format!("\"{}\"", pieces(s, 4, "", " \\\n   "))),
];

fn each(text: &str, spell: impl Fn(u32) -> String) -> String {
    text.chars().map(|c| spell(u32::from(c))).collect()
}
