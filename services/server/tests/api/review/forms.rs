//! Forms of a sentence that read the same to a person and an agent but differ in their bytes.

/// Function that writes a sentence in one form.
type WriteBytes = fn(&str) -> Vec<u8>;
/// Function that writes a sentence as a YAML value.
type WriteText = fn(&str) -> String;

/// Ways to write a sentence so that its bytes differ.
pub(super) const FORMS: [(&str, WriteBytes); 64] = [
    ("numbered", |s| put("1) {}", s)),
    ("deep number", |s| put("1.2.3) {}", s)),
    ("letter", |s| put("a) {}", s)),
    ("letter in brackets", |s| put("(b) {}", s)),
    ("roman", |s| put("iv) {}", s)),
    ("plus", |s| put("+ {}", s)),
    ("bullet", |s| put("• {}", s)),
    ("circle", |s| put("○ {}", s)),
    ("dash", |s| put("— {}", s)),
    ("arrow", |s| put("→ {}", s)),
    ("hand", |s| put("👉 {}", s)),
    ("task", |s| put("- [x] {}", s)),
    ("open task", |s| put("* [ ] {}", s)),
    ("box", |s| put("☑ {}", s)),
    ("nested item", |s| put("  - * {}", s)),
    ("quoted item", |s| put("> - {}", s)),
    ("quotation", |s| put("> > {}", s)),
    ("heading", |s| put("#### {}", s)),
    ("curly quotes", |s| put("“{}”", s)),
    ("low quotes", |s| put("„{}“", s)),
    ("guillemets", |s| put("« {} »", s)),
    ("bold", |s| put("**{}**", s)),
    ("italic", |s| put("_{}_", s)),
    ("struck", |s| put("~~{}~~", s)),
    ("code", |s| put("``{}``", s)),
    ("link", |s| put("[{}](https://example.com/a)", s)),
    ("footnote", |s| put("{}[^1]", s)),
    ("list tag", |s| put("<ul><li>{}</li></ul>", s)),
    ("paragraph tag", |s| put("<p class=\"a\">{}</p>", s)),
    ("bold tag", |s| put("<b>{}</b>", s)),
    ("attribute", |s| put("<img alt=\"{}\" src=\"a.png\">", s)),
    ("comment", |s| put("<!-- {} -->", s)),
    ("table", |s| put("| 1 | {} |", s)),
    ("tight table", |s| put("|{}|b|", s)),
    ("tabs", |s| put("1\t{}\t2", s)),
    ("shell comment", |s| put("# {}", s)),
    ("code comment", |s| put("// {}", s)),
    ("block comment", |s| put("/* {} */", s)),
    ("toml", |s| put("text = \"{}\"", s)),
    ("json", |s| put("[\"{}\", 1]", s)),
    ("after a label", |s| put("Note: {}", s)),
    ("between sentences", |s| put("It begins here. {} It ends there.", s)),
    ("upper case", |s| s.to_uppercase().into_bytes()),
    ("no-break spaces", |s| s.replace(' ', "\u{a0}").into_bytes()),
    ("thin spaces", |s| s.replace(' ', "\u{2009}").into_bytes()),
    ("ideographic spaces", |s| s.replace(' ', "\u{3000}").into_bytes()),
    ("many spaces", |s| s.replace(' ', "   ").into_bytes()),
    ("named entities", |s| s.replace(' ', "&nbsp;").into_bytes()),
    ("zero-width", |s| spread(s, "\u{200b}")),
    ("word joiners", |s| spread(s, "\u{2060}")),
    ("soft hyphens", |s| s.replace('e', "e\u{ad}").into_bytes()),
    ("variation selectors", |s| s.replace('a', "a\u{fe0f}").into_bytes()),
    ("full width", |s| s.chars().map(full_width).collect::<String>().into_bytes()),
    ("wrapped", |s| wrapped(s, "").into_bytes()),
    ("wrapped comment", |s| wrapped(s, "# ").into_bytes()),
    ("wrapped quotation", |s| wrapped(s, "> ").into_bytes()),
    ("wrapped item", |s| format!("- {}\n- Another item\n", wrapped(s, "").replace('\n', "\n  ")).into_bytes()),
    ("document comment", |s| format!("/**\n{}\n */\n", wrapped(s, " * ")).into_bytes()),
    ("decimal entities", |s| s.chars().map(|c| format!("&#{};", u32::from(c))).collect::<String>().into_bytes()),
    ("hex entities", |s| s.chars().map(|c| format!("&#x{:x};", u32::from(c))).collect::<String>().into_bytes()),
    ("escapes", |s| format!("{{\"a\": \"{}\"}}", escaped(s)).into_bytes()),
    ("NUL", |s| [b"\0", s.as_bytes()].concat()),
    ("NUL within", |s| [&s.as_bytes()[..12], b"\0", &s.as_bytes()[12..]].concat()),
    ("not UTF-8", |s| [b"caf\xe9\n", s.as_bytes()].concat()),
];

/// Number of forms at the start of `FORMS` that can be nested in each other.
pub(super) const MARKS: usize = 42;

/// Ways to write a description in YAML.
pub(super) const YAML: [(&str, WriteText); 6] = [
    ("folded", |s| format!(">-\n  {}", wrapped(s, "").replace('\n', "\n  "))),
    ("literal", |s| format!("|\n  {}", wrapped(s, "").replace('\n', "\n  "))),
    ("double", |s| format!("\"{s}\"")),
    ("single", |s| format!("'{s}'")),
    ("escaped", |s| format!("\"{}\"", escaped(s))),
    ("continued", |s| format!("\"{}\\\n   {}\"", &s[..21], &s[21..])),
];

fn put(form: &str, sentence: &str) -> Vec<u8> {
    form.replace("{}", sentence).into_bytes()
}

fn spread(sentence: &str, mark: &str) -> Vec<u8> {
    sentence.chars().map(|c| format!("{c}{mark}")).collect::<String>().into_bytes()
}

fn full_width(c: char) -> char {
    match c {
        ' ' => '\u{3000}',
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap(),
        _ => c,
    }
}

fn escaped(sentence: &str) -> String {
    sentence.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect()
}

/// Breaks a sentence into lines of five words, each after a mark.
fn wrapped(sentence: &str, mark: &str) -> String {
    let words: Vec<&str> = sentence.split(' ').collect();
    words.chunks(5).map(|line| format!("{mark}{}", line.join(" "))).collect::<Vec<_>>().join("\n")
}
